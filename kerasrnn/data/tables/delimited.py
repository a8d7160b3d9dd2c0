r"""Rows of cells separated by commas, semicolons, vertical bars or tabs.

Python's `csv` parses the cells. The code around it does what neither `csv`
nor pandas can: it skips a bad row and reports its line number, and it decides
from the file what its quotes mean. In a table of sentences, `"I know.` begins
a quotation, and must not swallow the rows down to the next `"`.

* Between commas, semicolons or vertical bars, `"` quotes a cell, also after a
  blank if a cell of the file is so quoted. `\"` inside of it is a quote if the
  file has no `""` there.
* Between tabs, it does so only if the file quotes its cells consistently, as a
  program writes them: doubled quotes inside, or every row or every comma
  quoted. Otherwise it is a character.
* Lines that are rows by themselves are rows, and no cell of several lines, if
  the file has more quotes inside of cells than such proofs of quoting.
"""

import collections
import contextlib
import csv
import re

from kerasrnn.data.tables.encodings import decode

_LARGEST = 2**24  # characters in a cell
_FEW = 100  # lines from which the delimiter is chosen


def row_reader(first, delimiter):
    """Returns a function that reads rows as the first lines are written.

    It takes an iterable of `(number, line)`, lines as bytes, and the `Report`
    that bad lines are added to. It returns an iterator of `(number, cells)`,
    the rows that are not blank; the number is that of the row's first line.
    Bytes that are not UTF-8 become lone surrogates in a quoted table, and
    spoil their line elsewhere.

    Args:
        first: List of `(number, line)`; the first has text.
        delimiter: String, what is between cells.
    """
    head = [_text(line) for _, line in first]
    is_escaped = delimiter != "\t" and _are_escaped(head, delimiter)
    if is_escaped:
        head = [_text(line) for _, line in _doubled(first, delimiter)]
    quotes = _Quotes(head, delimiter)
    rows = _quoted_rows if quotes.quoted else _plain_rows

    def read(lines, report):
        if is_escaped:
            lines = _doubled(lines, delimiter)
        return rows(lines, delimiter, quotes, report)

    return read


def _text(line):
    return line.decode("utf-8", "surrogateescape")


def _are_escaped(lines, delimiter):
    """Whether a backslash, not a second quote, is before quotes in cells."""
    sign = re.escape(delimiter)
    cells = re.compile(
        rf'(?:^|{sign}) *"((?:[^"\\]|\\.)*+)"(?= *(?:{sign}|\r?$))',
        re.DOTALL | re.MULTILINE,
    )
    escaped = re.compile(rf'\\"[^{sign}"\r\n]')  # not that of a path, `C:\`
    doubled = re.compile(rf'[^{sign}"\\]""|""[^{sign}"\r\n]')
    found = cells.finditer("".join(lines))
    return any(escaped.search(cell[1]) for cell in found) and not any(
        map(doubled.search, lines)
    )


def _doubled(lines, delimiter):
    r"""Yields lines with `""` for each `\"` inside of a quoted cell."""
    sign = re.escape(delimiter).encode()
    end = rb'"(?= *(?:%s|\r?\n|\Z))|\Z' % sign
    cell = re.compile(
        rb'((?:^|%s) *")((?:[^"\\]|\\.)*+)(%s)' % (sign, end), re.DOTALL
    )
    is_open = False  # whether the cell goes on in the next line

    def doubled(found):
        nonlocal is_open
        is_open = not found[3]
        inner = re.sub(
            rb"\\(.)", lambda x: b'""' if x[1] == b'"' else x[0], found[2]
        )
        return found[1] + inner + found[3]

    for number, line in lines:
        start = b'"' * is_open
        if not cell.match(start + line):
            start = b""  # the cell had ended, as a path, `C:\`
        is_open = False
        yield number, cell.sub(doubled, start + line).removeprefix(start)


def delimiter_of(first):
    """Returns what is between the cells of a table.

    It is a tab if the first line or most lines have one. Otherwise, of the
    signs in the first line, outside of quotes, it is the one of which most
    lines have the same number; then the one that is rarer in texts.

    Args:
        first: List of `(number, line)`, the first lines, as bytes.
    """
    few = [_text(line) for _, line in first[:_FEW] if line.strip()]
    if "\t" in few[0] or sum("\t" in x for x in few) > len(few) / 2:
        return "\t"
    bare = [re.sub('"[^"]*"', "", line) for line in few]
    signs = [sign for sign in "|;," if sign in bare[0]] or [","]

    def constancy(sign):
        counts = collections.Counter(line.count(sign) for line in bare)
        return max((n for found, n in counts.items() if found), default=0)

    return max(signs, key=constancy)


class _Quotes:
    """What the quotes of a table mean, from its first lines.

    Attributes:
        options: Dict, how `csv` reads its cells.
        quoted: Whether they may quote cells.
        width: Integer, the number of cells of the first row.
        proofs: Integer, how many lines only a program that quotes cells writes.
        inside: Integer, how many lines have a quote inside of a cell.
    """

    def __init__(self, lines, delimiter):
        inner = '[^"\t]' if delimiter == "\t" else '[^"]'
        sign = re.escape(delimiter)
        cells = re.compile(f'(?:^|{sign})"((?:{inner}++|"")*+)"(?=$|{sign})')
        inside = re.compile(f'[^{sign}"]"[^{sign}"]')
        bare_comma = re.compile(r'(?:^|\t)[^\t",]*,[^\t"]*(?:$|\t)')
        spaced = re.compile(f'{sign} +"[^"]*"\\s*(?:$|{sign})')
        is_spaced = delimiter != "\t" and any(map(spaced.search, lines))
        self.options = {
            "delimiter": delimiter,
            "skipinitialspace": is_spaced,
            "strict": True,
        }
        self.width = len(self.line_cells(lines[0]))
        self.proofs = self.inside = rows = wrapped = commas = bare = 0
        for line in lines[1:] or lines:
            line = line.rstrip("\r\n")
            if is_spaced:
                line = re.sub(f'{sign} +"', f'{delimiter}"', line)
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
        if tabs >= self.width and len(self.line_cells(line)) == self.width:
            return True  # a cell has a tab
        return bool(re.search('(?:^|\t)"[^\t"]+""(?!")', line))

    def line_cells(self, line):
        """The cells of a line, in which unbalanced quotes are characters."""
        try:
            with _large_cells():
                return next(csv.reader([line], **self.options))
        except (csv.Error, StopIteration):
            return line.rstrip("\r\n").split(self.options["delimiter"])


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

    rows = csv.reader(recorded(), **quotes.options)
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
        found = [(n, quotes.line_cells(line)) for n, line in found]
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


@contextlib.contextmanager
def _large_cells():
    """Raises the limit of 131,072 characters that `csv` has for a cell."""
    limit = csv.field_size_limit(_LARGEST)
    try:
        yield
    finally:
        csv.field_size_limit(limit)
