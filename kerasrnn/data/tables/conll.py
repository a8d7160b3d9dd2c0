"""Columns of words and tags, a word in each line, as a table of sentences."""

import re

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.tables.conll_columns import are_counted
from kerasrnn.data.tables.conll_columns import begins_apart
from kerasrnn.data.tables.conll_columns import ends_sentence
from kerasrnn.data.tables.conll_columns import features_in
from kerasrnn.data.tables.conll_columns import find_columns
from kerasrnn.data.tables.lines import all_lines
from kerasrnn.data.tables.tables import Table

# A tag of CoNLL-2012: `(PER*` begins a phrase, `*)` ends it; elsewhere, as of
# CorefUD, `(PER` and `PER)` do.
_BRACKETS = re.compile(r"(?:\(([^()*]+))?(?:[*_O]?|[^()*]*(?=\)))(\)?)")


def conll_table(path, columns, report, arguments):
    """Opens a file of columns of words as a table of sentences.

    Args:
        path: String or path.
        columns: Dict from names to columns: their numbers, as in
            `read_tagged_words`, or `None` for the default of `tokens` and
            `tags`.
        report: The `Report` on what was read.
        arguments: Dict from names to those of arguments in messages.

    Returns:
        A tuple of a `Table`, whose rows have a list of strings for each name,
        and a dict from the names to the columns that were taken.

    Raises:
        CorpusError: If there is no word, or a line is malformed.
    """
    lines = all_lines(path)
    if not any(map(str.strip, lines)):
        raise CorpusError(
            f"The corpus {path} is empty. Expected: lines of `word TAB tag`. "
            "Received: only blank lines"
        )
    found = find_columns(lines, path)
    places = {
        name: found.place(name, column, path, arguments.get(name, name), report)
        for name, column in columns.items()
    }
    numbers = {name: number for name, (number, _) in places.items()}
    keys = {name: key for name, (_, key) in places.items() if key}
    lines = list(enumerate(lines, start=1))
    if "tags" in numbers:
        lines = _without_comments(lines, found, numbers["tags"], report)
    rows = _sentences(lines, found, numbers, path, report)
    if keys:
        rows = _of_features(rows, keys)
    if found.marks.get(places.get("tags")) == "brackets":
        rows = _in_bio(rows, path)
    taken = {name: str(number + 1) for name, number in numbers.items()} | keys
    return Table(list(columns), rows, numbered=True), taken


def _without_comments(lines, columns, tag, report):
    """Leaves out comments that have as many columns as words have.

    Such a line stands before a sentence, begins with a `#` and a blank, and no
    word has its "tag". Parts of speech of the Penn Treebank tag `#` as `#`.
    """
    if not any(line.startswith(("# ", "#\t")) for _, line in lines):
        return lines  # most files, of which no line need be split twice
    found, known, within = {}, {"#"}, False
    for number, line in lines:
        cells = columns.cells(line)
        if len(cells) == columns.width and cells[0] == "#" and not within:
            found[number] = cells[tag]
            continue
        within = bool(line.strip()) and (within or not begins_apart(line))
        if len(cells) == columns.width:
            known.add(cells[tag])
    found = {n: tag for n, tag in found.items() if tag not in known}
    if found:
        number, tag = next(iter(found.items()))
        report.notes.append(
            "lines before sentences that begin with '# ' were read as "
            f"comments, since no word has their tag: {len(found)}, the first "
            f"is line {number} with {tag!r}"
        )
    return [(n, line) for n, line in lines if n not in found]


def _sentences(lines, columns, numbers, path, report):
    """Yields the number of the first line and the columns of each sentence."""
    start, words, odd = 0, [], []
    for number, line in (*lines, (0, "")):
        report.seen = number or report.seen
        cells = columns.cells(line)
        wide = len(cells) == columns.width
        if ends_sentence(line):
            if words:
                found = list(map(list, zip(*words, strict=True)))
                if columns.counts and not are_counted(found[0]):
                    odd.append(start)
                yield start, {name: found[n] for name, n in numbers.items()}
            words = []
        elif not columns.has_word(cells):
            continue
        elif wide and all(cells[n] for n in numbers.values()):
            start = start if words else number
            words.append(cells)
        elif words or not line.startswith("#"):
            between = "tabs" if columns.pattern.pattern == "\t" else "blanks"
            raise CorpusError(
                f"Line {number} of the corpus {path} is malformed. Expected: "
                f"{columns.width} columns separated by {between}, as in its "
                "first line, with a word and a tag, or a blank line between "
                f"sentences. Received: {line!r}"
            )
    if odd:
        report.notes.append(
            f"the words of {len(odd)} sentences are not numbered 1, 2, 3, so "
            f"that some may be missing; the first is at line {odd[0]}"
        )


def _of_features(rows, keys):
    """Yields rows with the value of a feature of each cell, `O` without."""
    for number, row in rows:
        for name, key in keys.items():
            found = map(features_in, row[name])
            row[name] = [features.get(key, "O") for features in found]
        yield number, row


def _in_bio(rows, path):
    """Yields rows whose tags are brackets, as `(PER*` and `*)`, in BIO."""
    for number, row in rows:
        tags = list(_without_brackets(row["tags"], number, path))
        yield number, row | {"tags": tags}


def _without_brackets(tags, number, path):
    within = ""
    for tag in tags:
        found = _BRACKETS.fullmatch(tag)
        if not found or (found[1] and within):
            raise CorpusError(
                f"The tags of the sentence at line {number} of {path} are "
                "no brackets, or nested ones. Expected: phrases side by side, "
                "such as `(PER*`, `*)` and `*`; or another column. "
                f"Received: {tag!r}"
            )
        begins, ends = found[1], found[2]
        within = begins or within
        yield f"{'B' if begins else 'I'}-{within}" if within else "O"
        within = "" if ends else within
