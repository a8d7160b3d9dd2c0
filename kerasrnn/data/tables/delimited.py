r"""Rows of cells separated by commas, semicolons or tabs.

Python's `csv` parses the cells. The code around it does what neither `csv`
nor pandas can: it skips a bad row and reports its line number, and it decides
from the file what its quotes mean. In a table of sentences, `"I know.` begins
a quotation, and must not swallow the rows down to the next `"`.

* Between commas or semicolons, `"` quotes a cell.
* Between tabs, it does so only if the file quotes its cells consistently, as a
  program writes them: doubled quotes inside, or every row or every comma
  quoted. Otherwise it is a character.
* Lines that are rows by themselves are rows, and no cell of several lines, if
  the file has more quotes inside of cells than such proofs of quoting.
"""

import contextlib
import csv
import itertools
import re

from kerasrnn.data.tables.encodings import decode

_LARGEST = 2**24  # characters in a cell


def delimited_rows(first, more, report, delimiter=None):
    """Yields `(number, cells)`, the rows that are not blank.

    The number is that of the row's first line. Bytes that are not UTF-8 become
    lone surrogates in a quoted table, and spoil their line elsewhere.

    Args:
        first: List of `(number, line)`, lines as bytes; the first has text.
        more: Iterator of the lines after them.
        report: The `Report` that bad lines are added to.
        delimiter: String. Defaults to `None`: a tab if the first line or most
            lines have one, otherwise the comma or semicolon that is more
            frequent in the first line, outside of quotes.
    """
    head = [_text(line) for _, line in first]
    delimiter = delimiter or _delimiter(head)
    quotes = _Quotes(head, delimiter)
    lines = itertools.chain(first, more)
    rows = _quoted_rows if quotes.quoted else _plain_rows
    yield from rows(lines, delimiter, quotes, report)


def _text(line):
    return line.decode("utf-8", "surrogateescape")


def _delimiter(lines):
    few = lines[:100]
    if "\t" in lines[0] or sum("\t" in x for x in few) > len(few) / 2:
        return "\t"
    return max(",;", key=re.sub('"[^"]*"', "", lines[0]).count)


class _Quotes:
    """What the quotes of a table mean, from its first lines.

    Attributes:
        quoted: Whether they may quote cells.
        width: Integer, the number of cells of the first row.
        proofs: Integer, how many lines only a program that quotes cells writes.
        inside: Integer, how many lines have a quote inside of a cell.
    """

    def __init__(self, lines, delimiter):
        inner = '[^"\t]' if delimiter == "\t" else '[^"]'
        cells = re.compile(
            f'(?:^|{delimiter})"((?:{inner}++|"")*+)"(?=$|{delimiter})'
        )
        inside = re.compile(f'[^{delimiter}"]"[^{delimiter}"]')
        bare_comma = re.compile(r'(?:^|\t)[^\t",]*,[^\t"]*(?:$|\t)')
        self.width = len(_line_cells(lines[0], delimiter))
        self.proofs = self.inside = rows = wrapped = commas = bare = 0
        for line in lines[1:] or lines:
            line = line.rstrip("\r\n")
            rows += bool(line)
            bare += bool(bare_comma.search(line))
            if '"' not in line:
                continue
            quoted = cells.findall(line)
            self.proofs += (
                any('""' in cell or delimiter in cell for cell in quoted)
                or delimiter == "\t"
                and self._is_part(line)
            )
            self.inside += bool(inside.search(line))
            wrapped += bool(quoted)
            commas += any("," in cell for cell in quoted)
        consistent = wrapped == rows or (commas and not bare)
        self.quoted = (
            delimiter != "\t"
            or self.proofs > self.inside
            or bool(wrapped and not self.inside and consistent)
        )

    def _is_part(self, line):
        """Whether a line between tabs is a part of a row with quoted cells."""
        tabs = line.count("\t")
        if tabs < self.width - 1 and line.count('"') % 2:
            return True  # a cell of several lines begins or ends
        if tabs >= self.width and len(_line_cells(line, "\t")) == self.width:
            return True  # a cell has a tab
        return bool(re.search('(?:^|\t)"[^\t"]+""(?!")', line))


def _plain_rows(lines, delimiter, quotes, report):
    """The rows of a table in which quotes are characters."""
    for report.seen, line in lines:
        try:
            text = decode(line).rstrip("\r\n")
        except ValueError as error:
            report.add(report.seen, error)
            continue
        if "\r" in text:
            report.add(report.seen, "carriage return inside the line")
        elif text.strip() or delimiter in text:
            yield report.seen, text.split(delimiter)


def _quoted_rows(lines, delimiter, quotes, report):
    """The rows of a table in which quotes may quote cells.

    If the quotes of a row are unbalanced, each of its lines becomes a row. In
    lines with unbalanced quotes, quotes are ordinary characters. A row of
    empty cells, as spreadsheets write it, is blank.
    """
    read = []

    def recorded():
        for number, line in lines:
            read.append((number, _text(line)))
            yield read[-1][1]

    rows = csv.reader(recorded(), delimiter=delimiter, strict=True)
    while True:
        try:
            with _large_cells():
                row = next(rows)
        except StopIteration:
            return
        except csv.Error:
            row = None
        report.seen, first = read[-1][0], read[0][0]
        found = [] if row and len(read) == 1 else read
        found = [(n, _line_cells(line, delimiter)) for n, line in found]
        if row is not None and not _are_rows(found, delimiter, quotes, report):
            found = [(first, row)]
        yield from (x for x in found if any(map(str.strip, x[1])))
        read.clear()


def _are_rows(found, delimiter, quotes, report):
    """Whether the lines of a cell of several lines are rather rows."""
    if sum(len(cells) >= quotes.width for _, cells in found) < 2:
        return False
    if delimiter == "\t":  # which is rare in a text
        return quotes.inside > 0 or not quotes.proofs
    if quotes.inside == quotes.proofs == 0:
        report.notes.append(
            f"line {found[0][0]} begins a quoted cell of several lines that "
            "look like rows themselves. If its quotes are quotation marks, "
            "double or remove them"
        )
    return quotes.inside > quotes.proofs


def _line_cells(line, delimiter):
    try:
        with _large_cells():
            return next(csv.reader([line], delimiter=delimiter, strict=True))
    except (csv.Error, StopIteration):
        return line.rstrip("\r\n").split(delimiter)


@contextlib.contextmanager
def _large_cells():
    """Raises the limit of 131,072 characters that `csv` has for a cell."""
    limit = csv.field_size_limit(_LARGEST)
    try:
        yield
    finally:
        csv.field_size_limit(limit)
