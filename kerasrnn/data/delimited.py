"""Rows of cells separated by commas, semicolons or tabs.

Python's `csv` parses the cells. The code around it does what neither `csv`
nor pandas can: it skips a bad row and reports its line number, and it reads
files with unbalanced quotes.
"""

import contextlib
import csv
import itertools

from kerasrnn.data.lines import byte_lines

_DELIMITERS = ("\t", ",", ";")
_LARGEST = 2**24  # characters in a cell


def read_delimited(path, report):
    """Yields `(number, cells)`, the header first.

    The number is that of the row's first line. The delimiter is the one that
    occurs most often in the header. A blank row is skipped. A row whose number
    of cells differs from the header is skipped and reported. Bytes that are
    not UTF-8 become lone surrogates.

    Args:
        path: String or path.
        report: The `Report` that bad rows are added to.
    """
    lines = (
        line.decode("utf-8", "surrogateescape")
        for _, line in byte_lines(path, report)
    )
    # There may be blank lines before the header.
    skipped, first = 0, next(lines, "")
    while first and not first.strip():
        skipped, first = skipped + 1, next(lines, "")
    delimiter = max(_DELIMITERS, key=first.count)
    width = None
    for number, cells in _numbered_rows(
        itertools.chain([first], lines), delimiter, skipped + 1
    ):
        if width is None:
            width = len(cells)
        if len(cells) == width:
            if any(cell.strip() for cell in cells):
                yield number, cells
        elif any(cell.strip() for cell in cells):
            report.add(number, f"{len(cells)} columns instead of {width}")


def _numbered_rows(lines, delimiter, number):
    """The rows of a table, each with the number of its first line.

    If the quotes of a row are unbalanced, each of its lines becomes a row. In
    lines with unbalanced quotes, quotes are ordinary characters.
    """
    read = []

    def recorded():
        for line in lines:
            read.append(line)
            yield line

    rows = csv.reader(recorded(), delimiter=delimiter, strict=True)
    while True:
        try:
            with _large_cells():
                row = next(rows)
            yield number, row
        except StopIteration:
            return
        except csv.Error:
            for place, line in enumerate(read, number):
                yield place, _line_cells(line, delimiter)
        number += len(read)
        read.clear()


def _line_cells(line, delimiter):
    try:
        with _large_cells():
            return next(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error:
        return line.rstrip("\r\n").split(delimiter)


@contextlib.contextmanager
def _large_cells():
    """Raises the limit of 131,072 characters that `csv` has for a cell."""
    limit = csv.field_size_limit(_LARGEST)
    try:
        yield
    finally:
        csv.field_size_limit(limit)
