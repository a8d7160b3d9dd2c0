"""Tables of named or numbered columns, in a format that the source decides."""

import collections
import itertools
import os
import pathlib
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.report import Report
from kerasrnn.data.tables.delimited import delimiter_of
from kerasrnn.data.tables.delimited import row_reader
from kerasrnn.data.tables.encodings import UndecodableError
from kerasrnn.data.tables.encodings import decode
from kerasrnn.data.tables.encodings import remedy
from kerasrnn.data.tables.lines import byte_lines
from kerasrnn.data.tables.lines import existing_path
from kerasrnn.data.tables.records import check_names
from kerasrnn.data.tables.records import dataset_records
from kerasrnn.data.tables.records import is_dataset
from kerasrnn.data.tables.records import json_records
from kerasrnn.data.tables.records import object_records
from kerasrnn.data.tables.records import parquet_records
from kerasrnn.data.tables.records import record_of
from kerasrnn.data.tables.records import tmx_records

JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
RECORD_SUFFIXES = (*JSON_SUFFIXES, ".parquet", ".tmx")
ROW_SUFFIXES = (*RECORD_SUFFIXES, ".csv", ".tsv")
_LOOKED_AT = 2**16  # lines from which the form of a file is decided
HEADER_AGAIN = "the header again"  # in files that were joined
_FIRST = 100  # records, for the names of the columns
_LABEL = "__label__"  # of fastText
_SIGNS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "vertical bar"}
_DECLARED = re.compile(rb"sep=([,;|\t])\s*")  # a first line for spreadsheets


class Table(NamedTuple):
    """A table, read row by row.

    Args:
        columns: List of strings, the names of the columns, or numbers from 1.
        rows: Iterator of `(number, row)`: the line number of the row, counted
            from 1, and a dict from the names of columns to values.
        numbered: Whether the columns have numbers, since there is no header.
    """

    columns: list[str]
    rows: Iterator[tuple[int, dict]]
    numbered: bool = False


def format_suffix(path):
    """The extension that determines a format, such as `.csv`, without `.gz`."""
    name = pathlib.Path(path).name.lower().removesuffix(".gz")
    return name[name.rfind(".") :] if "." in name else ""


def is_table(source, suffixes=RECORD_SUFFIXES):
    """Whether a source is a table by its kind, not lines of text."""
    if not isinstance(source, str | os.PathLike):
        return True
    return (
        is_dataset(existing_path(source)) or format_suffix(source) in suffixes
    )


def open_table(source, report, wanted=(), delimiter=None):
    """Opens a table.

    A folder is a data set of `datasets`; `.parquet`, `.tmx` and JSON (lines,
    or one array) are what they say; their columns are those of the first 100
    records together. A file that begins with `__label__` is one of fastText,
    with the columns `label` and `text`. Any other is text between delimiters,
    with a header unless the wanted columns are numbers; a line `sep=;` before
    it, as spreadsheets read it, says the delimiter. Without a header, rows of
    another width than most of the first are bad; between tabs, which are rare
    in a text, only wider ones and those that lack a wanted column.

    A record `{"translation": {"en": ..., "de": ...}}`, as in data sets for
    translation, becomes a row with the languages as columns.

    Args:
        source: String or path; or a data set, a DataFrame, a list of dicts.
        report: The `Report` that bad rows are added to.
        wanted: List of strings, the columns that were named or numbered.
        delimiter: String, that of text; `None` for the one that it has.

    Returns:
        A `Table`.

    Raises:
        CorpusError: If the file is damaged or not UTF-8.
        FileNotFoundError: If there is nothing at the path.
        ImportError: If the library of a format is not installed.
        IsADirectoryError: If a folder is not a data set.
    """
    if not isinstance(source, str | os.PathLike):
        return _records_table(object_records(source), report)
    path = existing_path(source)
    suffix = format_suffix(path)
    if path.is_dir():
        return _records_table(dataset_records(path), report)
    if suffix == ".parquet":
        return _records_table(parquet_records(path), report)
    if suffix == ".tmx":
        return _records_table(tmx_records(path), report)
    if suffix in JSON_SUFFIXES:
        return _table(json_records(path, report))
    counted = Report(path)
    lines = byte_lines(path, counted, may_be="lines of fastText")
    text = itertools.dropwhile(lambda line: not line[1].strip(), lines)
    first = list(itertools.islice(text, _LOOKED_AT))
    if first and (declared := _DECLARED.fullmatch(first[0][1])):
        delimiter = delimiter or declared[1].decode()
        first = first[1:]
    numbered = bool(wanted) and all(map(is_number, wanted))
    if not first:
        report.seen = counted.seen
        return Table(list(wanted) if numbered else [], iter(()))
    if first[0][1].startswith(_LABEL.encode()):
        rows = _fasttext_rows(itertools.chain(first, text), report)
        return Table(["label", "text"], rows)
    delimiter = delimiter or delimiter_of(first)
    read = row_reader(first, delimiter)
    rows = read(itertools.chain(first, text), report)
    if numbered:
        widths = collections.Counter(
            len(cells) for _, cells in read(first, Report(path))
        )
        return _numbered_table(rows, wanted, widths, delimiter, report)
    return _headed_table(rows, report)


def is_number(name):
    """Whether a column is given by its number, from 1."""
    return str(name).isdecimal() and int(name) > 0


def column_finder(table, report):
    """Returns a function that finds a column of a table.

    It takes possible names of the column, and returns the first that is one,
    ignoring case; the argument with which a user can give another, or `None`;
    and whether a name such as `en` is also that of the only one of its
    varieties, such as `en-GB`. It raises `CorpusError` if no column has any of
    the names.

    Args:
        table: A `Table`.
        report: The `Report` on the rows read so far.
    """
    exact = set(table.columns)
    by_name = {_folded(column): column for column in reversed(table.columns)}

    def find(names, argument, are_languages=False):
        if not (table.columns or report.malformed):
            raise CorpusError(
                f"The corpus {report.corpus} is empty. Expected: rows with "
                f"columns. Received: {report.received(1)}"
            )
        for name in names:
            if name in exact:
                return name
            if column := by_name.get(_folded(name)):
                return column
            if are_languages:
                start = f"{_folded(name)}-"
                varieties = [x for x in by_name if x.startswith(start)]
                if len(varieties) == 1:
                    return by_name[varieties[0]]
        raise CorpusError(
            f"The corpus {report.corpus} lacks a column. Expected: "
            + " or ".join(map(repr, names))
            + " among the columns"
            + f", or another as `{argument}`" * bool(argument)
            + "; without a header, all by their numbers, from 1"
            * bool(argument and report.unit == "line")
            + f". Received: {table.columns!r:.200}"
            + f", {report.first()}" * bool(report.malformed)
        )

    return find


def _folded(name):
    """A name without case, composed as Unicode can be."""
    return unicodedata.normalize("NFC", name.lower())


def _headed_table(rows, report):
    columns = [cell.strip() for cell in next(rows, (1, []))[1]]
    _check_names_are_text(columns, report)
    check_names(
        columns,
        report.corpus,
        "; if its first row is no header, give them by their numbers, from 1",
    )

    def named():
        for number, cells in rows:
            if [cell.strip() for cell in cells] == columns:
                report.add(number, HEADER_AGAIN)
            elif len(cells) == len(columns):
                yield number, dict(zip(columns, cells, strict=True))
            else:
                problem = f"{len(cells)} columns instead of {len(columns)}"
                report.add(number, problem)

    return Table(columns, named())


def _check_names_are_text(columns, report):
    """Raises an error if the header has bytes that are not UTF-8."""
    header = "\t".join(columns).encode("utf-8", "surrogateescape")
    try:
        decode(header)
    except ValueError as error:
        is_coded = isinstance(error, UndecodableError)
        raise CorpusError(
            f"The names of the columns of {report.corpus} cannot be decoded. "
            f"Expected: {remedy(header) if is_coded else 'UTF-8'}. "
            f"Received: {error}"
        ) from error


def _numbered_table(rows, wanted, widths, delimiter, report):
    """A table without a header, of which the columns up to one are needed.

    As in a table with one, a row of another width than most, of those with
    enough columns, is left out: the delimiter may be a part of its text.
    Between tabs, a row may lack what is not needed, as in files of several
    origins that were joined.

    Args:
        widths: Counter of the numbers of columns of the first rows.
    """
    numbers = set(map(int, wanted))
    most = max(numbers)
    enough = [width for width in widths if width >= most]
    width = max(enough, key=lambda x: (widths[x], -x), default=most)
    least = most if delimiter == "\t" else width
    none = f"no {_SIGNS.get(delimiter, delimiter)} between columns"

    def named():
        for number, cells in rows:
            if least <= len(cells) <= width:
                yield number, {str(n): x for n, x in enumerate(cells, 1)}
            elif len(cells) > 1:
                problem = f"{len(cells)} columns instead of {width}"
                report.add(number, problem)
            else:
                report.add(number, none)

    # A wanted number may be far beyond the last column.
    numbers.update(range(1, min(most, max(widths, default=0)) + 1))
    return Table(list(map(str, sorted(numbers))), named(), numbered=True)


def _records_table(records, report):
    """A table of records that are not lines."""
    report.unit = "row"

    def counted():
        for report.seen, record in enumerate(records, start=1):
            yield report.seen, record_of(record)

    return _table(counted())


def _table(records):
    """A table with the columns of its first records together."""
    first = list(itertools.islice(records, _FIRST))
    columns = dict.fromkeys(str(name) for _, record in first for name in record)
    return Table(list(columns), itertools.chain(first, records))


def _fasttext_rows(lines, report):
    """The rows of `__label__NAME text` lines."""
    for report.seen, line in lines:
        try:
            labels, text = [], decode(line).strip()
        except ValueError as error:
            report.add(report.seen, error)
            continue
        while text.startswith(_LABEL):
            label, *rest = text.split(maxsplit=1)
            labels.append(label.removeprefix(_LABEL))
            text = "".join(rest).removeprefix(", ")
        if labels or text:
            yield report.seen, {"label": labels, "text": text}
