"""Reads the columns that a task needs from any source."""

import collections
import dataclasses
import os
import re
from collections.abc import Sequence
from typing import Any
from typing import Self

from kerasrnn.arguments import optional_positive_integer
from kerasrnn.data.reading.cells import KINDS
from kerasrnn.data.reading.cells import cell_value
from kerasrnn.data.reading.cells import named_tags
from kerasrnn.data.reading.cells import separated
from kerasrnn.data.reading.formats import names_of
from kerasrnn.data.reading.formats import open_table
from kerasrnn.data.reading.sentences_of_words import SENTENCE_FORMS
from kerasrnn.data.reading.sentences_of_words import sentence_table
from kerasrnn.data.reading.sentences_of_words import span_table
from kerasrnn.data.reading.table import column_finder
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import Report

_PAIR, _WORDS = {"source", "target"}, {"tokens", "tags"}
_LISTS = "tokens", "tags", "lines"
_USUAL = {  # the names of columns that need not be given
    "text": ("review", "text", "sentence"),
    "label": ("sentiment", "label"),
    "lines": ("review", "text", "sentence"),
    "labels": ("labels", "label"),
    "tokens": ("tokens", "words"),
    "tags": ("ner_tags", "tags", "pos_tags"),
    "word": ("word", "words", "token", "tokens"),
    "tag": ("tag", "tags", "label", "labels", "ner_tags"),
    "weight": ("weight", "sample_weight"),
    "source": ("source", "src"),
    "target": ("target", "tgt"),
}
# Columns of only numbers, or many tags, are suspicious from this many rows.
_MANY = 5
_NUMBER = re.compile(r"[-+]?\d[\d.,:/-]*%?")
# Usual cells of a header, to detect one in files that are read without it.
_HEADINGS = {
    *"review comment message text sentence sentiment label labels stars rating "
    "source target src tgt tokens words tags weight id index class category "
    "team teams topic word token tag title pos ner form upos".split(),
    *"ar bn cs da de el en es et fa fi fr he hi hu id it ja ko nl no pl pt ro "
    "ru sk sv ta te th tr uk ur vi zh".split(),
    *"english german french hindi spanish vietnamese chinese".split(),
}


@dataclasses.dataclass(frozen=True)
class Rows:
    """Columns of equal length, with a report on reading them.

    Args:
        columns: Dictionary from names to lists.
        report: A report, or `None`. Its `seen` is the number of lines or rows
            that were read, and `malformed` is a list of `(place, reason)` of
            those that were left out.
    """

    columns: dict[str, list]
    report: Report | None = None

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> list:
        return self.columns[name]

    def select(self, indices: Sequence[int]) -> Self:
        """Returns the rows at the given indices."""
        columns = {
            name: [column[index] for index in indices]
            for name, column in self.columns.items()
        }
        return dataclasses.replace(self, columns=columns)


def read_rows(
    source: Any,
    /,
    *,
    limit: int | None = None,
    **columns: str | int | Sequence[str | int] | None,
) -> Rows:
    r"""Reads columns of equal length from any supported source.

    | source                                | its columns                      |
    |---------------------------------------|----------------------------------|
    | CSV, TSV                              | names, or numbers if no header   |
    | `.jsonl`, `.ndjson`, `.json`          | keys of lines, or of one array   |
    | `.parquet`                            | names                            |
    | `.tmx`                                | languages                        |
    | lines of `__label__NAME text`         | `label`, `text`                  |
    | lines of a word each, as CoNLL        | numbers, see `read_tagged_words` |
    | a pair of files, `("a.en", "a.de")`   | file extensions, or 1 and 2      |
    | a folder with a folder for each class | `text`, `label`                  |
    | a folder of `datasets`                | names                            |
    | a data set, DataFrame, list of dicts  | names                            |

    Text is UTF-8 and may be gzipped, as in `.csv.gz`. Lines of words are read
    only if `tokens` or `tags` are requested. Without a header, give all columns
    by number, from 1. `"` quotes cells between commas, semicolons and vertical
    bars, and between tabs if the whole file is quoted; otherwise it is text. A
    row is left out and reported if its number of cells differs from the header
    or, without a header, from most rows. With tabs and without a header, cells
    that are not requested may be missing.

    The names that you give to columns determine their types: `label` and
    `group` are names (`nan` is a missing value); `labels` are lists of names,
    which may be empty; `weight` is a float; `tokens` and `tags` are lists of
    strings of equal length; any other column is text, stripped of white space.
    Rows without a value in one of the columns are left out and reported in one
    `CorpusWarning`. The chosen columns and the first row are printed to
    standard error.

    Args:
        source: String or path; or another source of the table above.
        limit: Positive integer, maximum number of rows. Defaults to `None`, no
            limit.
        **columns: For each name, its column in the source: a name or a number.
            `None` stands for usual names: `review`, `text` or `sentence` for
            `text`, `sentiment` or `label` for `label`, `words` for `tokens`,
            and so on; for `source` and `target`, the first and second of two
            columns. For `labels`, it can also be a list of columns of 0 and 1,
            one for each label.

    Returns:
        `Rows`, with one list for each name.

    Raises:
        CorpusError: If no row is usable, or at least ten rows and more than
            half would be left out; if a column is missing; or if the source is
            damaged or not UTF-8. It is a `ValueError`.
        FileNotFoundError: If the path does not exist.
        ImportError: If parquet or `datasets` need a library that is missing.
        IsADirectoryError: If a folder is not a data set.
        ValueError: If `limit` is not a positive integer, or no columns are
            given.

    Example:

    >>> lines = ["stars\tbody\tby", "5\tA fine book.\tAnn", "2\tSo dull.\tBob"]
    >>> pathlib.Path("reviews.tsv").write_text("\n".join(lines))
    >>> rows = read_rows("reviews.tsv", text="body", label="stars", group="by")
    >>> rows["text"], rows["label"]
    (['A fine book.', 'So dull.'], ['5', '2'])
    >>> len(rows), rows.report.malformed
    (2, [])
    """
    optional_positive_integer("limit", limit)
    if not columns:
        raise ValueError(
            "Name the columns to read, such as `text=None, label='stars'`. "
            "Received: none"
        )
    rows = read_columns(source, columns, limit)
    finish(rows.report, "row", f"rows with {', '.join(columns)}")
    return rows


def name_of(source):
    """Returns the name of a source for messages: its path or class."""
    named = isinstance(source, str | os.PathLike)
    return source if named else type(source).__name__


def read_columns(source, columns, *args, **options):
    """Reads `Rows` that may be empty, and whose report was not given yet.

    The arguments are those of `read_values`.
    """
    rows, report = read_values(source, columns, *args, **options)
    found: dict[str, list] = {name: [] for name in columns}
    for values in rows:
        for name, value in values.items():
            found[name].append(value)
    return Rows(found, report)


def read_values(
    source,
    columns,
    limit=None,
    arguments=None,
    tag_names=None,
    delimiter=None,
    separator=None,
    sentence=None,
):
    """Reads a source row by row.

    Args:
        source: As in `read_rows`.
        columns: Dictionary, the columns of `read_rows`.
        limit: Positive integer or `None`.
        arguments: Dictionary from the names to the arguments of the caller.
        tag_names: List of strings, the names of numeric tags.
        delimiter: String, that of text; `None` for the one that it has.
        separator: String between the `labels` of a cell; `None` for lists.
        sentence: String or integer, the column that says which sentence a word
            is of; `None` if a row has the `tokens` and `tags` of a sentence.

    Returns:
        A tuple: an iterator of dicts from the names to the values of a row,
        and the `Report`, which is complete at the end of the iterator.
    """
    report = Report(name_of(source))
    asked, arguments = columns, arguments or {}
    if sentence is not None:
        words, tags = columns["tokens"], columns["tags"]
        asked = {"word": words, "tag": tags, "sentence": sentence}
    table = open_table(source, asked, report, arguments, delimiter)
    if not report.columns and set(asked) == _WORDS and not any(asked.values()):
        if not {*_USUAL["tags"]} & {*table.columns}:
            table = span_table(table, report)
    taken = {name: name for name in columns}
    if not report.columns:
        taken = _chosen(table, asked, report, arguments)
        report.columns = taken
    if sentence is not None:
        report.columns = {"tokens": taken["word"], "tags": taken["tag"]}
        table = sentence_table(table, *taken.values(), report)
        taken = {name: name for name in columns}

    def values_of(row):
        cells = {name: _cell(row, column) for name, column in taken.items()}
        if separator:
            cells["labels"] = separated(cells["labels"], separator)
        if tag_names is not None:
            cells["tags"] = named_tags(cells["tags"], tag_names)
        values = {name: cell_value(x, name) for name, x in cells.items()}
        words, tags = (len(values.get(x, ())) for x in ("tokens", "tags"))
        if set(values) >= _WORDS and words != tags:
            raise ValueError(f"{words} tokens but {tags} tags")
        return values

    def read():
        mistakes = _Mistakes(columns)
        for number, row in table.rows:
            try:
                values = values_of(row)
            except CorpusError:
                raise
            except ValueError as error:
                report.add(number, error)
                continue
            mistakes.look_at(values)
            report.first_row = report.first_row or values
            report.kept.append(number)
            yield values
            if len(report.kept) == limit:
                break
        if table.is_checked_at_end:
            before = list(report.malformed)
            collections.deque(table.rows, maxlen=0)
            report.malformed = before
        mistakes.note(table.numbered, report)

    return read(), report


def finish(report, items, expected):
    """Says what was read, and warns of what was left out.

    Raises:
        CorpusError: If no row was read; see `Report.refuse_all`.
    """
    if not report.kept:
        report.refuse_all(items, expected)
    report.warn()
    report.say(report.first_row, len(report.kept))


def _chosen(table, asked, report, arguments):
    """Returns a dictionary from requested names to columns of a table."""
    columns, unnamed = table.columns, not any(asked.values())
    if set(asked) == _PAIR and unnamed and len(columns) == 2:
        return dict(zip(asked, columns, strict=True))
    usual = {*_USUAL["tokens"], *_USUAL["tags"]}
    if set(asked) == _WORDS and unnamed and columns:
        if not usual & {column.lower() for column in columns}:
            raise CorpusError(
                f"The corpus {report.corpus} has no lists of words. Expected: "
                f"{SENTENCE_FORMS}. Received: {columns!r:.200}"
            )
    find = column_finder(columns, report)
    taken = {}
    for name, column in asked.items():
        several = column and isinstance(column, list | tuple)
        if several and name != "labels":
            raise ValueError(
                "Only `labels` may have several columns. Expected: one for "
                f"`{name}`. Received: {name}={column!r}"
            )
        names = names_of(column) or _USUAL.get(name, (name,))
        more = arguments.get(name, name), name in _PAIR
        found = [find([x], *more) for x in names] if several else None
        taken[name] = found or find(names, *more)
    return taken


def _cell(row, column):
    """Returns a cell of a row, or a dictionary of cells."""
    if isinstance(column, list):
        return {name: row.get(name) for name in column}
    return row.get(column)


class _Mistakes:
    """Finds columns that are probably not those that were meant.

    Args:
        names: The names that columns are asked for by.
    """

    def __init__(self, names):
        texts = [x for x in names if x in _LISTS or x not in KINDS]
        self._first = {name: [] for name in texts}
        self._numeric = set(texts)
        self._different = {x: set() for x in texts if x in _WORDS}

    def look_at(self, values):
        """Looks at the values of the next row, by name."""
        for name, first in self._first.items():
            if len(first) >= _MANY and name not in self._numeric:
                continue
            found = values[name] if name in _LISTS else [values[name]]
            # The first may be a header that is read as a row.
            numbers = found if first else found[1:]
            if not all(map(_NUMBER.fullmatch, numbers)):
                self._numeric.discard(name)
            first += found[: _MANY - len(first)]
        for name, different in self._different.items():
            different.update(values[name])

    def note(self, numbered, report):
        """Adds notes on all rows to a report.

        Args:
            numbered: Whether columns were given by number, without a header.
            report: The `Report`.
        """
        for name, first in self._first.items():
            if len(first) >= _MANY and name in self._numeric:
                report.notes.append(
                    f"its {name}, column {report.columns[name]!r}, is all "
                    f"numbers: {', '.join(first[1:4])}, ... Is it another "
                    "column?"
                )
        row = [first[0] for first in self._first.values() if first]
        if numbered and row and all(x.lower() in _HEADINGS for x in row):
            report.notes.append(
                f"its first row, {', '.join(map(repr, row))}, looks like a "
                "header, but is read as a row: give columns by name"
            )
        words, tags = (self._different.get(x, ()) for x in ("tokens", "tags"))
        if words and len(tags) > max(_MANY, len(words)):
            report.notes.append(
                f"{len(words)} different words have {len(tags)} different "
                f"tags, such as {min(tags)!r:.40}. Are the tags in another "
                "column?"
            )
