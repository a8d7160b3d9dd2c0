"""Tables of named columns: CSV, TSV, JSON lines, parquet, `datasets`.

The libraries `pyarrow` and `datasets` are needed only for their own formats.
"""

import contextlib
import itertools
import json
import os
from collections.abc import Iterator
from typing import NamedTuple

from kerasrnn.data.delimited import read_delimited
from kerasrnn.data.errors import CorpusError
from kerasrnn.data.lines import decode
from kerasrnn.data.lines import existing_path
from kerasrnn.data.lines import numbered_lines

JSON_ENDS = (".jsonl", ".ndjson", ".json")
_LOOKED_AT = 100  # records, for the names of the columns
_DATASET_FILES = ("state.json", "dataset_dict.json")


class Table(NamedTuple):
    """A table, read row by row.

    Args:
        columns: List of strings, the names of the columns.
        rows: Iterator of `(number, row)`: the line number of the row, counted
            from 1, and a dict from the names of columns to values.
    """

    columns: list[str]
    rows: Iterator[tuple[int, dict]]


def format_end(path):
    """The end of a file's name that determines its format, without `.gz`."""
    name = path.name.lower().removesuffix(".gz")
    return name[name.rfind(".") :] if "." in name else ""


def is_dataset(path):
    """Whether a folder was written by `save_to_disk` of `datasets`."""
    return any((path / name).is_file() for name in _DATASET_FILES)


def is_table(source):
    """Whether a source is a table by its kind, not lines of text."""
    if not isinstance(source, str | os.PathLike):
        return True
    path = existing_path(source)
    return is_dataset(path) or format_end(path) in (*JSON_ENDS, ".parquet")


def open_table(path, report):
    """Opens a table of named columns.

    A folder is a data set of `datasets`; `.parquet` is a parquet file;
    `.jsonl`, `.ndjson` and `.json` are JSON lines, one object each; the
    columns are those of the first 100 together. Any other file is text with a
    header. Its delimiter is a tab, comma or semicolon, whichever occurs most
    often in the header; cells may be quoted with `"`.

    A record `{"translation": {"en": ..., "de": ...}}`, as in data sets for
    translation, becomes a row with the languages as columns.

    Args:
        path: String or path.
        report: The `Report` that bad rows are added to.

    Returns:
        A `Table`.

    Raises:
        CorpusError: If the file is damaged or not UTF-8.
        FileNotFoundError: If there is nothing at `path`.
        ImportError: If the library of a format is not installed.
        IsADirectoryError: If a folder is not a data set.
    """
    if not isinstance(path, str | os.PathLike):
        report.corpus, records = _object_records(path)
        report.unit = "row"
        return _records_table(_counted(records, report))
    path = existing_path(path)
    end = format_end(path)
    if path.is_dir():
        records = _dataset_records(path)
    elif end == ".parquet":
        records = _parquet_records(path)
    elif end in JSON_ENDS:
        return _records_table(_json_records(path, report))
    else:
        rows = read_delimited(path, report)
        columns = [cell.strip() for cell in next(rows, (1, []))[1]]
        twice = {column for column in columns if columns.count(column) > 1}
        if twice - {""}:
            raise CorpusError(
                f"The columns of {path} must have different names. "
                f"Received: {', '.join(map(repr, columns))}"
            )
        return Table(
            columns,
            (
                (number, dict(zip(columns, cells, strict=True)))
                for number, cells in rows
            ),
        )
    report.unit = "row"
    return _records_table(_counted(records, report))


def find_column(table, names, argument, report):
    """Returns the first of some names that is a column, ignoring case.

    Args:
        table: A `Table`.
        names: Strings, the possible names of the column.
        argument: String, the argument with which a user can give another.
        report: The `Report` on the rows read so far.

    Raises:
        CorpusError: If no column has any of the names.
    """
    places = {column.lower(): column for column in reversed(table.columns)}
    for name in names:
        column = name if name in table.columns else places.get(name.lower())
        if column is not None:
            return column
    raise CorpusError(
        f"The corpus {report.corpus} lacks a column. Expected: "
        + " or ".join(map(repr, names))
        + f" among the columns, or another as `{argument}`. "
        f"Received: {table.columns!r:.200}"
        + f", {report.first()}"
        * bool(report.malformed)
    )


def cell_text(row, column):
    """Returns the text of a cell, without white space around it.

    Raises:
        ValueError: If the cell is not a text, or empty. The message says
            why.
    """
    value = row.get(column)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"no text in {column!r}: {value!r:.40}")
    text = (value or "").strip()
    if not text:
        raise ValueError(f"empty {column}")
    try:  # bytes that are not UTF-8 were read as lone surrogates
        return decode(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        raise ValueError(f"a lone surrogate in {column!r}") from None


def _records_table(records):
    """A table with the columns of its first records together."""
    first = list(itertools.islice(records, _LOOKED_AT))
    columns = dict.fromkeys(name for _, record in first for name in record)
    return Table(list(columns), itertools.chain(first, records))


def _counted(records, report):
    for number, record in enumerate(records, start=1):
        report.seen = number
        yield number, _record(record)


def _record(record):
    nested = record.get("translation")
    return nested if isinstance(nested, dict) else record


def _json_records(path, report):
    for number, line in numbered_lines(path, report):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            report.add(number, "invalid JSON")
            continue
        if isinstance(record, dict):
            yield number, _record(record)
        else:
            report.add(number, "not a JSON object")


def _parquet_records(path):
    with _needs("pyarrow"):
        import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches():
                yield from batch.to_pylist()
    except (OSError, pyarrow.ArrowException) as error:
        raise CorpusError(
            f"The corpus {path} cannot be read. Expected: a parquet file. "
            f"Received: {error}"
        ) from error


def _dataset_records(path):
    """The rows of a folder written by `save_to_disk`."""
    if not is_dataset(path):
        raise IsADirectoryError(
            "Expected a corpus file, or a folder written by `save_to_disk` of "
            f"`datasets`. Received: the folder {path.absolute()}"
        )
    with _needs("datasets"):
        import datasets

    try:
        data = datasets.load_from_disk(str(path))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise CorpusError(
            f"The corpus {path} is damaged. Expected: a folder written by "
            f"`save_to_disk` of `datasets`. Received: {error}"
        ) from error
    if isinstance(data, datasets.DatasetDict):
        raise CorpusError(
            f"The corpus {path} has several parts. Expected: the folder of "
            f"one of them, such as {path / next(iter(data), 'train')}. "
            f"Received: a folder with {', '.join(map(repr, data))}"
        )
    return _named_classes(data)


def _named_classes(data):
    """The rows of a data set, with classes by name instead of number."""
    names = {
        column: names
        for column, feature in (data.features or {}).items()
        if (names := _class_names(feature))
    }
    for row in data:
        named = {
            column: _by_name(row[column], dict(enumerate(classes)))
            for column, classes in names.items()
        }
        yield row | named


def _class_names(feature):
    """The names of classes, of one or a list of them, of a feature."""
    return getattr(getattr(feature, "feature", feature), "names", None)


def _by_name(value, names):
    if isinstance(value, list):
        return [names.get(number) for number in value]
    return names.get(value)


def _object_records(source):
    """The name of a table in memory in messages, and its rows."""
    if hasattr(source, "to_dict") and hasattr(source, "columns"):
        rows = source.astype(object).where(source.notna(), None)
        rows = rows.rename(columns=str).to_dict("records")
        return "given as a DataFrame", iter(rows)
    if hasattr(source, "features"):
        return "given as a data set", _named_classes(source)
    if isinstance(source, dict):
        raise CorpusError(
            "The corpus has several parts. Expected: one of them, such as "
            f"`corpus[{next(iter(source), 'train')!r}]`. "
            f"Received: {', '.join(map(repr, source))}"
        )
    raise CorpusError(
        "A corpus must be a path, a data set of `datasets` or a DataFrame of "
        f"pandas. Received: {type(source).__name__}"
    )


@contextlib.contextmanager
def _needs(library):
    """Says what to install if an import fails."""
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"Reading this format needs the library {library!r}. "
            "Install it: pip install 'kerasrnn[datasets]'"
        ) from error
