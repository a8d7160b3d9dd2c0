r"""Text delimited by commas, semicolons, vertical bars or tabs.

Python's `csv` parses the cells. This module adds what neither `csv` nor pandas
can do: it skips bad rows and reports their line numbers, and it detects what
quotes mean in a file. In a table of sentences, `"I know.` begins a quotation,
which must not swallow the rows up to the next `"`.
"""

import collections
import csv
import itertools
import re
import statistics

from kerasrnn.data.reading.table import Table
from kerasrnn.data.reading.table import check_names
from kerasrnn.data.reading.table import is_number
from kerasrnn.data.reading.text_files import byte_lines
from kerasrnn.data.reading.text_files import numbered_lines
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import Report
from kerasrnn.data.report import decode
from kerasrnn.data.report import remedy

HEADER_AGAIN = "the header again"  # in files that were joined
# Number of lines that determine the quotes and the delimiter.
_LOOKED_AT, _FEW = 2**16, 100
_SIGNS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "vertical bar"}
_DECLARED = re.compile(rb"sep=([,;|\t])\s*")  # a first line for spreadsheets
_LABEL = "__label__"  # of fastText


def delimited_table(path, report, wanted, delimiter=None):
    """Opens delimited text or lines of fastText as a `Table`.

    There is a header unless columns are requested by number. Lines that begin
    with `__label__` have the format of fastText, with the columns `label` and
    `text`.

    Args:
        path: String or path.
        report: The `Report` that bad rows are added to.
        wanted: List of strings, the requested names or numbers of columns.
        delimiter: String; `None` to detect it from the lines, or from a first
            line such as `sep=;`, which spreadsheets write.
    """
    lines = byte_lines(path, report)
    text = itertools.dropwhile(lambda line: not line[1].strip(), lines)
    first = list(itertools.islice(text, _LOOKED_AT))
    if first and (declared := _DECLARED.fullmatch(first[0][1])):
        delimiter = delimiter or declared[1].decode()
        first = first[1:]
    if first and first[0][1].startswith(_LABEL.encode()):
        rows = _fasttext_rows(itertools.chain(first, text), report)
        return Table(["label", "text"], rows)
    numbered = bool(wanted) and all(map(is_number, wanted))
    if not first:
        return Table(list(wanted) if numbered else [], ())
    head = [_text(line) for _, line in first]
    delimiter = delimiter or _delimiter_of(head[:_FEW])
    are_quotes, are_signs = _meaning_of_quotes(head, delimiter)

    def rows(lines, report):
        if not are_quotes:
            return _plain_rows(lines, delimiter, report)
        return _quoted_rows(lines, delimiter, are_signs, report)

    whole = rows(itertools.chain(first, text), report)
    if not numbered:
        return _headed_table(whole, report)
    widths = [len(cells) for _, cells in rows(iter(first), Report(path))]
    return _numbered_table(whole, wanted, widths, delimiter, report)


def _text(line):
    """Decodes a line; bytes that are not UTF-8 become lone surrogates."""
    return line.decode("utf-8", "surrogateescape")


def _delimiter_of(lines):
    """Detects the delimiter of a table.

    It is a tab if the first line or most lines have one. Otherwise it is the
    candidate in the first line, outside of quotes, that occurs equally often in
    most lines; ties go to the one that is rarer in texts.
    """
    lines = [line for line in lines if line.strip()]
    if "\t" in lines[0] or sum("\t" in x for x in lines) > len(lines) / 2:
        return "\t"
    bare = [re.sub('"[^"]*"', "", line) for line in lines]
    signs = [sign for sign in "|;," if sign in bare[0]] or [","]

    def constancy(sign):
        counts = collections.Counter(line.count(sign) for line in bare)
        return max((n for found, n in counts.items() if found), default=0)

    return max(signs, key=constancy)


def _meaning_of_quotes(lines, delimiter):
    """Whether quotes may quote cells, and whether they may be text.

    With tabs, quotes quote cells only if the file shows this in one of two
    ways. First, quoted cells that need quotes, because they contain a doubled
    quote, a delimiter or a line end, outnumber other quotes and rows of another
    width. Second, every row, or every cell with a comma, is quoted. With other
    delimiters, quotes quote cells, but may also be text if most of them look
    like it.
    """
    sign = re.escape(delimiter)
    cell = rf'(?m)(?:^|(?<={sign})) *"((?:[^"]|"")*+)"(?=$|{sign})'
    text = "".join(lines).replace("\r\n", "\n")
    quoted, text = re.findall(cell, text), re.sub(cell, "\0", text)
    header, *rows = list(filter(None, text.split("\n"))) or [""]
    width = header.count(delimiter)
    signs = text.count('"') + sum(x.count(delimiter) != width for x in rows)
    # A quotation in a text may continue in the next row.
    proofs = sum(
        cell.count('""') + ((delimiter in cell) != ("\n" in cell))
        for cell in quoted
    )
    are_all = all("\0" in row for row in rows or [header])
    have_commas = "," in "".join(quoted) and "," not in "".join(rows)
    usual = quoted and not signs and (are_all or have_commas)
    return delimiter != "\t" or proofs > signs or bool(usual), signs > proofs


def _line_cells(line, delimiter):
    """Returns the cells of a line, where unbalanced quotes are text."""
    try:
        return _next_row(_reader([line], delimiter))
    except (csv.Error, StopIteration):
        return line.rstrip("\r\n").split(delimiter)


def _reader(lines, delimiter):
    spaced = delimiter != "\t"  # a space may precede a quote
    return csv.reader(
        lines, delimiter=delimiter, skipinitialspace=spaced, strict=True
    )


def _next_row(reader):
    """Returns the next row, whose cells may exceed `csv`'s default limit."""
    limit = csv.field_size_limit(2**24)
    try:
        return next(reader)
    finally:
        csv.field_size_limit(limit)


def _plain_rows(lines, delimiter, report):
    """Yields the rows of a table in which quotes are text."""
    for number, text in numbered_lines(lines, report):
        if "\r" in text:
            report.add(number, "carriage return inside the line")
        elif text.strip() or delimiter in text:
            yield number, text.split(delimiter)


def _quoted_rows(lines, delimiter, are_signs, report):
    """Yields the rows of a table in which quotes may quote cells.

    Each line of a row becomes a separate row if the quotes are unbalanced, or
    if quotes may be text and the lines look like rows. A row of empty cells,
    which spreadsheets write, is blank.
    """
    read, width, escaped = [], None, 0

    def recorded():
        for number, line in lines:
            read.append((number, _text(line)))
            yield read[-1][1]

    rows = _reader(recorded(), delimiter)
    while True:
        try:
            found = [(None, _next_row(rows))]
        except StopIteration:
            break
        except csv.Error:
            found = []
            numbers = (n for n, line in read if r"\"" in line)
            escaped = escaped or next(numbers, 0)
        report.seen, first = read[-1][0], read[0][0]
        if not found or len(read) > 1:
            apart = [(n, _line_cells(line, delimiter)) for n, line in read]
            are_rows = sum(len(x) >= (width or 2) for _, x in apart) > 1
            if are_rows and found and not are_signs:
                report.notes.append(
                    f"line {first} begins a quoted cell whose lines look like "
                    "rows. If its quotes are quotation marks, double or remove "
                    "them"
                )
            elif are_rows or not found:
                found = apart
        for number, cells in found:
            width = width or len(cells)
            if any(map(str.strip, cells)):
                yield number or first, cells
        read.clear()
    if escaped:
        report.notes.append(
            rf"line {escaped} has a quote in the form \", and its quotes are "
            "kept as text. In a quoted cell, write a quote twice"
        )


def _headed_table(rows, report):
    columns = [cell.strip() for cell in next(rows, (1, []))[1]]
    header = "\t".join(columns).encode("utf-8", "surrogateescape")
    try:
        decode(header)
    except ValueError as error:
        is_coded = isinstance(error.__cause__, UnicodeDecodeError)
        raise CorpusError(
            f"The names of the columns of {report.corpus} cannot be decoded. "
            f"Expected: {remedy(header) if is_coded else 'UTF-8'}. "
            f"Received: {error}"
        ) from error
    check_names(
        columns,
        report.corpus,
        "; for a file without a header, give column numbers, from 1",
    )

    def named():
        for number, cells in rows:
            if len(cells) != len(columns):
                problem = f"{len(cells)} columns instead of {len(columns)}"
                report.add(number, problem)
            elif [cell.strip() for cell in cells] == columns:
                report.add(number, HEADER_AGAIN)
            else:
                yield number, dict(zip(columns, cells, strict=True))

    return Table(columns, named())


def _numbered_table(rows, wanted, widths, delimiter, report):
    """Returns a table without a header, with numbered columns.

    As in a table with a header, a row is left out if its width differs from
    that of most rows with enough columns, because the delimiter may be part of
    its text. With tabs, a row may lack columns that are not needed, as in
    concatenated files.

    Args:
        widths: List of the numbers of columns of the first rows.
    """
    most = max(map(int, wanted))
    # Among equally frequent widths, the smallest one.
    enough = sorted(width for width in widths if width >= most)
    width = statistics.mode(enough or [most])
    least = most if delimiter == "\t" else width

    def named():
        for number, cells in rows:
            if least <= len(cells) <= width:
                yield number, {str(n): x for n, x in enumerate(cells, 1)}
                continue
            problem = f"{len(cells)} columns instead of {width}"
            if len(cells) == 1:
                problem = (
                    f"no {_SIGNS.get(delimiter, delimiter)} between columns"
                )
            report.add(number, problem)

    # A requested number may be far beyond the last column.
    columns = {*map(int, wanted), *range(1, max(widths, default=0) + 1)}
    return Table(list(map(str, sorted(columns))), named(), numbered=True)


def _fasttext_rows(lines, report):
    """Yields the rows of `__label__NAME text` lines."""
    for number, line in numbered_lines(lines, report):
        labels = re.findall(rf"(?<!\S){_LABEL}(\S*)", line)
        text = re.sub(rf"(?<!\S){_LABEL}\S*(\s+(, )?|$)", "", line).strip()
        if labels or text:
            yield number, {"label": labels, "text": text}
