"""Tables of records, and search of columns by name."""

import difflib
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from kerasrnn.data.report import CorpusError


class Table(NamedTuple):
    """A table that is read record by record.

    Args:
        columns: List of strings, the names of the columns, or numbers from 1.
        rows: Iterable of `(number, record)`: the number of its line or row,
            counted from 1, and a dict from columns to values.
        numbered: Whether the columns have numbers, since there is no header.
        is_checked_at_end: Whether an error may come after the last row, which
            also concerns the first ones.
    """

    columns: list[str]
    rows: Iterable[tuple[int, dict]]
    numbered: bool = False
    is_checked_at_end: bool = False


def is_number(name):
    """Whether a column is given by its number, counted from 1."""
    return str(name).isdecimal() and int(name) > 0


def check_names(columns, place, more=""):
    """Raises an error if columns have the same non-empty name.

    Args:
        columns: List of strings.
        place: String or path, the name of their table in the message.
        more: String, advice to add to the message.
    """
    named = list(filter(None, columns))
    if len(set(named)) < len(named):
        raise CorpusError(
            f"The columns of {place} must have distinct names{more}. Received: "
            f"{', '.join(map(repr, columns)):.200}"
        )


def column_finder(columns, report):
    """Returns a function that finds a column of a table.

    Its arguments are possible names of the column, of which it returns the
    first that exists, ignoring case; the argument with which a user can choose
    another column, or `None`; and whether `en` also matches a single variety,
    such as `en-GB`. It raises `CorpusError` if no column matches.

    Args:
        columns: List of strings, the columns of the table.
        report: The `Report` on the rows read so far.
    """
    exact = set(columns)
    by_name = {_folded(column): column for column in reversed(columns)}

    def find(names, argument, are_languages=False):
        if not (columns or report.malformed):
            raise CorpusError(
                f"The corpus {report.corpus} is empty. Expected: rows with "
                f"columns. Received: {report.received(1)}"
            )
        for name in names:
            folded = _folded(name)
            if name in exact or folded in by_name:
                return name if name in exact else by_name[folded]
            varieties = [x for x in by_name if x.startswith(f"{folded}-")]
            if are_languages and len(varieties) == 1:
                return by_name[varieties[0]]
        expected = f"{' or '.join(map(repr, names))} among the columns"
        if argument:
            expected += f", or another column as `{argument}`"
        if argument and report.unit == "line":
            expected += " (without a header, numbers from 1 for all columns)"
        received = f"{list(columns)!r:.200}"
        if report.malformed:
            received += f", {report.first()}"
        for name in difflib.get_close_matches(_folded(names[0]), by_name, 1):
            received += f". Did you mean {by_name[name]!r}?"
        raise CorpusError(
            f"The corpus {report.corpus} lacks a column. Expected: {expected}. "
            f"Received: {received}"
        )

    return find


def _folded(name):
    """Returns a name in lower case and Unicode NFC."""
    return unicodedata.normalize("NFC", name.lower())
