"""What the cells of a table of series hold: times and numbers."""

import warnings

import numpy as np

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.errors import CorpusWarning
from kerasrnn.data.tables.cell_values import MISSING
from kerasrnn.optional import import_pandas
from kerasrnn.warning import warn

# In a column of names, such as classes, the last three may be real names.
_MISSING = {*MISSING, "na", "n/a", "none"}
_DAY_OR_MONTH = r"\s*\d{1,2}[./-]\d{1,2}[./-]"
_MOST_LOST = 0.01  # of the changes
_SHORT_YEAR = _DAY_OR_MONTH + r"\d{2}(?!\d)"


def times_of(column, time_format, report):
    """Returns a column as times: of UTC, or as they are without an offset.

    Args:
        column: A Series of pandas.
        time_format: String, how they are written, or `None`.
        report: The `Report` on the table, for messages.

    Raises:
        CorpusError: when a cell is not a time, or days may be months.
    """
    pandas = import_pandas()
    if pandas.api.types.is_numeric_dtype(column):
        _refuse(column, column.notna(), "a time, such as 2024-05-31", report)
    text = column.astype(str)
    if time_format is None:
        short = text.str.match(_SHORT_YEAR)
        expected = "years of four digits, or `time_format`, such as %d.%m.%y"
        _refuse(column, short, expected, report)
    times = _read(column, time_format)
    expected = "a time, such as 2024-05-31 13:00" + (
        ", written as the first; or `time_format`, such as %d.%m.%Y, or "
        "ISO8601 for several forms"
    ) * (time_format is None)
    _refuse(column, times.isna(), expected, report)
    short = text.str.match(_DAY_OR_MONTH)
    if time_format is None and short.any():
        others = _read(column, None, dayfirst=True)
        # One day after the 12th tells them apart.
        ambiguous = others.notna().all() & short & (others != times)
        expected = "`time_format`, such as %d/%m/%Y: days may be months"
        _refuse(column, ambiguous, expected, report)
    return times.dt.tz_localize(None)


def _read(column, time_format, **options):
    """A column as times of UTC, NaT where pandas understands none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_pandas().to_datetime(
            column, errors="coerce", utc=True, format=time_format, **options
        )


def numbers_of(column, report):
    """Returns a column as floats, NaN where a value is missing.

    Args:
        column: A Series of pandas.
        report: The `Report` on the table, for messages.

    Raises:
        CorpusError: when a cell has something else than a finite number of
            float32.
    """
    pandas = import_pandas()
    if column.dtype.kind in "mM":  # pandas would count nanoseconds
        _refuse(column, column.notna(), "a number, or nothing", report)
    empty = column.isna() | column.astype(str).str.strip().str.lower().isin(
        _MISSING
    )
    numbers = pandas.to_numeric(column.where(~empty), errors="coerce")
    numbers = numbers.astype("float64")
    wrong = ~empty & ~(numbers.abs() <= np.finfo("float32").max)
    _refuse(column, wrong, "a number, or nothing", report)
    _warn_of_rounding(numbers, report)
    return numbers


def _warn_of_rounding(numbers, report):
    """Warns if float32, in which series are, loses many of the changes."""
    values = numbers.dropna().to_numpy()
    changes, kept = np.diff(values), np.diff(values.astype("float32"))
    changed = changes != 0
    lost = changed & (kept == 0)
    if lost.sum() > _MOST_LOST * changed.sum():
        warn(
            f"The numbers of {numbers.name!r} in {report.corpus} are read in "
            f"float32, which loses {lost.sum():,} of {changed.sum():,} "
            "changes. Expected: numbers of at most 7 digits that matter, such "
            "as differences of a meter reading. Received: numbers such as "
            f"{values[1:][lost][0]!r}",
            CorpusWarning,
        )


def _refuse(column, wrong, expected, report):
    """Raises `CorpusError` if there are wrong cells, and shows the first."""
    if wrong.any():
        indices = np.flatnonzero(wrong)
        shown = ", ".join(
            f"{column.iloc[index]!r:.40} in row {index + 1}"
            for index in indices[:3]
        )
        raise CorpusError(
            f"{len(indices):,} cells of the column {column.name!r} of "
            f"{report.corpus} cannot be read. Expected: {expected}. "
            f"Received: {shown}"
        )
