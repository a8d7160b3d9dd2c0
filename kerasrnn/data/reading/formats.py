"""Detects the format of a source, and opens it."""

import itertools
import os

from kerasrnn.data.reading.conll import conll_table
from kerasrnn.data.reading.delimited import delimited_table
from kerasrnn.data.reading.files import class_table
from kerasrnn.data.reading.files import file_format
from kerasrnn.data.reading.files import line_table
from kerasrnn.data.reading.files import shard_table
from kerasrnn.data.reading.files import shards_in
from kerasrnn.data.reading.records import are_records
from kerasrnn.data.reading.records import dataset_records
from kerasrnn.data.reading.records import is_dataset
from kerasrnn.data.reading.records import json_records
from kerasrnn.data.reading.records import object_records
from kerasrnn.data.reading.records import parquet_records
from kerasrnn.data.reading.records import record_of
from kerasrnn.data.reading.records import tmx_records
from kerasrnn.data.reading.table import Table
from kerasrnn.data.reading.text_files import byte_lines
from kerasrnn.data.reading.text_files import existing_path
from kerasrnn.data.reading.text_files import numbered_lines

JSON = (".jsonl", ".ndjson", ".json")
RECORDS = (*JSON, ".parquet", ".tmx")


def is_table(source, formats=(*RECORDS, ".csv", ".tsv")):
    """Whether a source is a table, not lines of text or words."""
    if not isinstance(source, str | os.PathLike):
        return True
    return is_dataset(existing_path(source)) or file_format(source) in formats


def is_class_folder(source):
    """Whether a source is a folder, but not a data set of `datasets`."""
    if not isinstance(source, str | os.PathLike):
        return False
    path = existing_path(source)
    return path.is_dir() and not is_dataset(path)


def open_table(source, asked, report, arguments=None, delimiter=None):
    """Opens a source with the function of its format.

    A list of paths is of two files, line by line. A folder is a data set of
    `datasets`, or has a folder for each class, or files of one format with
    pairs or lines, which are read one after another. `.parquet`, `.tmx` and
    JSON (lines, or one array) are what they say. Any other file is lines of
    text if `lines` are asked for, or of words if `tokens` or `tags` are;
    otherwise it is text between delimiters.

    Args:
        source: String or path; or a data set, a DataFrame or a list of dicts.
        asked: Dictionary from requested names to columns: a string, an integer,
            a list of these, or `None`.
        report: The `Report` that bad rows are added to.
        arguments: Dictionary from requested names to names of arguments, for
            messages; `None` if they are the same.
        delimiter: String, the delimiter of text; `None` to detect it.

    Returns:
        A `Table`.

    Raises:
        CorpusError: If the file is damaged or not UTF-8.
        FileNotFoundError: If the path does not exist.
        ImportError: If the library of a format is not installed.
        IsADirectoryError: If a folder has another content.
    """
    if isinstance(source, list | tuple) and not are_records(source):
        return line_table(source, report)
    if not isinstance(source, str | os.PathLike):
        return _records_table(object_records(source), report)
    path = existing_path(source)
    suffix = file_format(path)
    if is_class_folder(path):
        if any(x.is_dir() for x in path.iterdir()):
            return class_table(path, report)
        files = shards_in(path)
        if files and {"lines", "source"} & set(asked):
            return shard_table(
                files,
                report,
                lambda file, own: open_table(
                    file, asked, own, arguments, delimiter
                ),
            )
    readers = {".parquet": parquet_records, ".tmx": tmx_records}
    if path.is_dir() or suffix in readers:
        read = dataset_records if path.is_dir() else readers[suffix]
        return _records_table(read(path), report)
    if suffix in JSON:
        return _table(json_records(path, report))
    wanted = [x for column in asked.values() for x in names_of(column)]
    if set(asked) == {"lines"} and not (wanted or is_table(path)):
        lines = numbered_lines(byte_lines(path, report), report)
        return Table(["text"], ((n, {"text": line}) for n, line in lines))
    if {"tokens", "tags"} & set(asked):
        return conll_table(path, asked, report, arguments or {})
    return delimited_table(path, report, wanted, delimiter)


def names_of(column):
    """Returns a list of column names from `None`, a name or a list."""
    if column is None:
        return []
    several = isinstance(column, list | tuple)
    return [str(name) for name in (column if several else [column])]


def _records_table(records, report):
    """Returns a table of records that are not lines."""
    report.unit = "row"

    def counted():
        for report.seen, record in enumerate(records, start=1):
            yield report.seen, record_of(record)

    return _table(counted())


def _table(records):
    """Returns a table with all columns of its first hundred records."""
    first = list(itertools.islice(records, 100))
    columns = dict.fromkeys(str(name) for _, record in first for name in record)
    return Table(list(columns), itertools.chain(first, records))
