"""Columns of words and tags, a word in each line, as a table of sentences."""

import re

from kerasrnn.arguments import is_integer
from kerasrnn.data.errors import CorpusError
from kerasrnn.data.tables.lines import all_lines
from kerasrnn.data.tables.tables import Table

_DOCUMENT = "-DOCSTART-"  # a line of CoNLL-2003 between documents
_CONLL_U = "id form lemma upos xpos feats head deprel deps misc".split()
_ID = re.compile(r"\d+([-.]\d+)?\t", re.ASCII)
_NO_WORD = re.compile(r"\d+[-.]\d+", re.ASCII)  # the id of a range, of a gap


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
    lines = list(enumerate(all_lines(path), start=1))
    text = [line for _, line in lines if line.strip()]
    if not text:
        raise CorpusError(
            f"The corpus {path} is empty. Expected: lines of `word TAB tag`. "
            "Received: only blank lines"
        )
    first = next((line for line in text if not _begins_apart(line)), text[0])
    pattern = re.compile("\t" if "\t" in first.strip() else "[ \t]+")
    width = len(pattern.split(first.strip()))
    if width < 2:
        raise CorpusError(
            f"The corpus {path} has no column of tags. Expected: a word and "
            "its tag in each line, separated by a tab or blanks. "
            f"Received: {first!r}, the first line"
        )
    conll_u = width == len(_CONLL_U) and bool(_ID.match(first))
    numbers = {
        name: _number(
            name, column, width, conll_u, path, arguments.get(name, name)
        )
        for name, column in columns.items()
    }
    lines = _without_comments(lines, pattern, width, numbers["tags"], report)
    rows = _sentences(lines, pattern, width, conll_u, numbers, path, report)
    taken = {name: str(number + 1) for name, number in numbers.items()}
    return Table(list(columns), rows, numbered=True), taken


def _begins_apart(line):
    """Whether a line may stand before the first sentence."""
    return line.startswith(("#", _DOCUMENT))


def _without_comments(lines, pattern, width, column, report):
    """Leaves out comments that have as many columns as words have.

    Such a line stands before a sentence, begins with a `#` and a blank, and no
    word has its "tag". Parts of speech of the Penn Treebank tag `#` as `#`.
    """
    found, known, within = {}, {"#"}, False
    for number, line in lines:
        cells = [cell.strip() for cell in pattern.split(line.rstrip())]
        if len(cells) == width and cells[0] == "#" and not within:
            found[number] = cells[column]
            continue
        within = bool(line.strip()) and (within or not _begins_apart(line))
        if len(cells) == width:
            known.add(cells[column])
    found = {n: tag for n, tag in found.items() if tag not in known}
    if found:
        number, tag = next(iter(found.items()))
        report.notes.append(
            "lines before sentences that begin with '# ' were read as "
            f"comments, since no word has their tag: {len(found)}, the first "
            f"is line {number} with {tag!r}"
        )
    return [(n, line) for n, line in lines if n not in found]


def _sentences(lines, pattern, width, conll_u, numbers, path, report):
    start, words = 0, []
    for number, line in (*lines, (0, "")):
        report.seen = number or report.seen
        cells = [cell.strip() for cell in pattern.split(line.rstrip())]
        if not line.strip() or cells[0] == _DOCUMENT:
            if words:
                row = zip(*words, strict=True)
                yield start, dict(zip(numbers, map(list, row), strict=True))
            words = []
        elif conll_u and _NO_WORD.fullmatch(cells[0]):
            continue
        elif len(cells) == width and all(cells[n] for n in numbers.values()):
            start = start if words else number
            words.append([cells[n] for n in numbers.values()])
        elif words or not line.startswith("#"):
            between = "tabs" if pattern.pattern == "\t" else "blanks"
            raise CorpusError(
                f"Line {number} of the corpus {path} is malformed. Expected: "
                f"{width} columns separated by {between}, as in its first "
                "line, with a word and a tag, or a blank line between "
                f"sentences. Received: {line!r}"
            )


def _number(name, column, width, conll_u, path, argument):
    """The index of a column, counted from 0."""
    if column is None:
        default = {"tokens": 2 if conll_u else 1, "tags": 4 if conll_u else -1}
        column = default.get(name, name)
    if conll_u and str(column).lower() in _CONLL_U:
        return _CONLL_U.index(str(column).lower())
    is_text = isinstance(column, str) and re.fullmatch("-?[0-9]+", column)
    number = int(column) if is_text or is_integer(column) else 0
    if not 0 < abs(number) <= width:
        raise CorpusError(
            f"`{argument}` must be the number of a column of {path}: from 1 "
            f"to {width}, or from -1, the last, to -{width}"
            + f", or one of {', '.join(_CONLL_U)}" * conll_u
            + f". Received: {argument}={column!r}"
        )
    return number - 1 if number > 0 else width + number
