"""Rows of text between commas, semicolons or tabs.

Python's `csv` reads the cells. Our own code around it is for what neither it
nor pandas does: to leave out a bad row and name its line, and to read on where
quotes do not pair up.
"""

import contextlib
import csv
import itertools

from kerasrnn.data.lines import byte_lines

_DELIMITERS = ("\t", ",", ";")
_LARGEST = 2**24  # characters of a cell


def read_delimited(path, report):
    """Yields `(number, cells)`, the header first.

    The number is that of the row's first line. Between the cells stands what
    the header has most of. A row without any text, or with another number of
    cells than the header, is left out; the latter is reported. What is not
    UTF-8 becomes lone surrogates.

    Args:
        path: String or path.
        report: The `Report` that bad rows are added to.
    """
    lines = (
        line.decode("utf-8", "surrogateescape")
        for _, line in byte_lines(path, report)
    )
    # Empty lines may stand before the header.
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

    Where quotes do not pair up, each line is a row, and the quotes of those
    in which they do not are characters like any other.
    """
    read = []

    def noted():
        for line in lines:
            read.append(line)
            yield line

    rows = csv.reader(noted(), delimiter=delimiter, strict=True)
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
    """Lets a cell be longer than the 131,072 characters of the module."""
    limit = csv.field_size_limit(_LARGEST)
    try:
        yield
    finally:
        csv.field_size_limit(limit)
