"""Two files that are parallel line by line, as one table."""

import itertools

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.report import Report
from kerasrnn.data.tables.lines import existing_path
from kerasrnn.data.tables.lines import numbered_lines
from kerasrnn.data.tables.markup import sentences_in
from kerasrnn.data.tables.tables import Table
from kerasrnn.data.tables.tables import format_suffix


def line_table(paths, report):
    """Opens two files as a table of the columns 1 and 2.

    The file extensions are the names of the columns if both files have one,
    such as `a.en` and `a.de`, and these differ.

    Args:
        paths: Sequence of two strings or paths.
        report: The `Report` that bad lines are added to.

    Raises:
        CorpusError: If these are not two files, equally long, of which not
            both have a tab in every line.
    """
    paths = [existing_path(path) for path in paths]
    if len(paths) != 2 or paths[0] == paths[1]:
        raise CorpusError(
            "Source and target must be two files. "
            f"Received: {', '.join(map(str, paths))}"
        )
    report.corpus = f"{paths[0]} and {paths[1]}"
    columns = column_names(paths)
    return Table(columns, _joined_rows(paths, columns, report))


def column_names(paths):
    """Returns the file extensions of two files; "1" and "2" without."""
    names = [format_suffix(path).removeprefix(".") for path in paths]
    return names if all(names) and names[0] != names[1] else ["1", "2"]


def _joined_rows(paths, columns, report):
    sides = [Report(path) for path in paths]
    texts = [_texts(*both) for both in zip(paths, sides, strict=True)]
    for side, lines in zip(sides, texts, strict=True):
        side.check_encoding()
        if not (side.malformed or any(map(str.strip, lines))):
            side.refuse_all("sentence", "one in each line")
    if all(map(_is_of_pairs, texts)):
        raise CorpusError(
            f"The files {report.corpus} have a tab in every line. Expected: a "
            "file of sources and a file of targets; or one file of pairs, "
            "such as `cat A.tsv B.tsv > ALL.tsv` joins. Received: two files "
            "of pairs"
        )
    report.seen = sides[0].seen
    if sides[0].seen != sides[1].seen:
        raise CorpusError(
            f"The files {report.corpus} are not parallel line by line. "
            "Expected: as many lines in both. "
            f"Received: {sides[0].seen:,} and {sides[1].seen:,} lines"
        )
    broken = dict(itertools.chain(*(side.malformed for side in sides)))
    report.notes += (
        f"{side.corpus}: {note}" for side in sides for note in side.notes
    )
    for number, pair in enumerate(zip(*texts, strict=True), start=1):
        if number in broken:
            report.add(number, broken[number])
        elif "\r" in "".join(pair):
            report.add(number, "carriage return inside the line")
        elif any(line.strip() for line in pair):
            yield number, dict(zip(columns, pair, strict=True))


def _texts(path, side):
    """The lines of a file, of which bad ones are blank; or its segments."""
    lines = dict(numbered_lines(path, side))
    lines = [lines.get(n, "") for n in range(1, side.seen + 1)]
    found = sentences_in(lines, side)
    side.seen = len(found)
    return found


def _is_of_pairs(lines):
    texts = [line for line in lines if line.strip()]
    return bool(texts) and all("\t" in text for text in texts)
