"""One reader of rows: the columns that a task needs, from any source."""

import dataclasses
import os
from collections.abc import Sequence
from typing import Any
from typing import Self

from kerasrnn.arguments import optional_positive_integer
from kerasrnn.data.errors import CorpusError
from kerasrnn.data.report import Report
from kerasrnn.data.tables.cell_values import cell_value
from kerasrnn.data.tables.cell_values import check_lengths
from kerasrnn.data.tables.cell_values import named_tags
from kerasrnn.data.tables.cell_values import separated
from kerasrnn.data.tables.columns import cell_of
from kerasrnn.data.tables.columns import open_columns
from kerasrnn.data.tables.suspicions import note_suspicions
from kerasrnn.data.tables.word_rows import sentence_table


@dataclasses.dataclass(frozen=True)
class Rows:
    """Columns of equal length, and what was read to make them.

    Args:
        columns: Dict from names to lists.
        report: What was read, or `None`. Its `seen` is the number of lines or
            rows that were read, and its `malformed` a list of
            `(place, reason)`, those that were left out.
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
    r"""Reads columns of equal length, in a format that the source determines.

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

    Text may be gzipped, as `.csv.gz`; it is UTF-8. Lines of words are read
    only if `tokens` or `tags` are asked for. Where a header is missing, give
    all columns by their numbers: the first is 1. `"` quotes cells between
    commas, semicolons and vertical bars, and between tabs if all of the file
    is so quoted; elsewhere it is a character. A row with more or fewer cells
    than the header, or than most rows without one, is left out and reported;
    between tabs without a header, one may lack cells that are not asked for.

    What the columns hold depends on the names that you give them: `label` and
    `group` are names, `nan` is none; `labels` are lists of names, which may be
    empty; `weight` is a float; `tokens` and `tags`
    are lists of strings, equally many; any other is text. White space around
    texts is removed. A row that lacks one of the columns is left out and
    reported in one `CorpusWarning`. Which columns were taken, and the first
    row, is printed to the standard error.

    Args:
        source: String or path; or another source of the table above.
        limit: Positive integer, how many rows to keep: the first. Defaults to
            `None`, which keeps all.
        **columns: For each name, its column in the source: a name or a number.
            `None` for what is usual: `review`, `text` or `sentence` for
            `text`, `sentiment` or `label` for `label`, `words` for `tokens`,
            and so on; the first and second of two columns for `source` and
            `target`. For `labels`, also a list of columns, one for each
            label, of 0 and 1.

    Returns:
        `Rows`, with one list for each name.

    Raises:
        CorpusError: If no row is usable, or ten or more, and more than half,
            would be left out; if a column is missing, or the source is damaged
            or not UTF-8. It is a `ValueError`.
        FileNotFoundError: If there is nothing at the path.
        ImportError: If parquet or `datasets` need a library that is missing.
        IsADirectoryError: If a folder is not a data set.
        ValueError: If `limit` is not a positive integer, or no column given.

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
    if not len(rows):
        rows.report.refuse_all("row", f"rows with {', '.join(columns)}")
    return finish(rows)


def name_of(source):
    """What a source is called in messages: its path, or its class."""
    named = isinstance(source, str | os.PathLike)
    return source if named else type(source).__name__


def read_columns(
    source,
    columns,
    limit=None,
    arguments=None,
    tag_names=None,
    delimiter=None,
    separator=None,
    sentence=None,
):
    """Reads `Rows` that may be empty, and whose report was not given yet.

    Args:
        source: As in `read_rows`.
        columns: Dict, the columns of `read_rows`.
        limit: Positive integer or `None`.
        arguments: Dict from the names to the arguments of the caller.
        tag_names: List of strings, the names of tags that are numbers.
        delimiter: String, that of text; `None` for the one that it has.
        separator: String between the `labels` of a cell; `None` for lists.
        sentence: String or integer, the column that says which sentence a word
            is of; `None` if a row has the `tokens` and `tags` of a sentence.
    """
    report = Report(name_of(source))
    asked = columns
    if sentence is not None:
        asked = {"word": columns["tokens"], "tag": columns["tags"]}
        asked["sentence"] = sentence
    table, taken = open_columns(
        source, asked, report, arguments or {}, delimiter
    )
    if sentence is not None:
        report.columns = {"tokens": taken["word"], "tags": taken["tag"]}
        table = sentence_table(table, *taken.values(), report)
        taken = {name: name for name in columns}
    found: dict[str, list] = {name: [] for name in columns}
    for number, row in table.rows:
        cells = {name: cell_of(row, column) for name, column in taken.items()}
        if separator:
            cells["labels"] = separated(cells["labels"], separator)
        try:
            if tag_names is not None:
                cells["tags"] = named_tags(cells["tags"], tag_names)
            values = [cell_value(cell, name) for name, cell in cells.items()]
            check_lengths(cells)
        except CorpusError:
            raise
        except ValueError as error:
            report.add(number, error)
            continue
        for column, value in zip(found.values(), values, strict=True):
            column.append(value)
        report.kept.append(number)
        if len(report.kept) == limit:
            break
    report.columns = report.columns or taken
    note_suspicions(found, table.numbered, report)
    return Rows(found, report)


def finish(rows):
    """Says what was read, and warns of what was left out."""
    rows.report.warn()
    first = {name: column[0] for name, column in rows.columns.items()}
    rows.report.say(first, len(rows))
    return rows
