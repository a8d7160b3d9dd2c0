"""What the cells of a table of series hold: times and numbers."""

import math
import numbers
import warnings

import numpy as np

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.errors import CorpusWarning
from kerasrnn.data.series.calendar import zone_name
from kerasrnn.data.series.steps import is_of_days
from kerasrnn.data.tables.cell_values import MISSING
from kerasrnn.optional import import_pandas
from kerasrnn.warning import warn

UNITS = "s", "ms", "us", "ns"  # of numbers that count from 1970
# Those of pandas, in lower case. In a column of names, such as classes, some
# may be real names.
_MISSING = {
    *MISSING,
    *("na", "n/a", "#na", "#n/a", "#n/a n/a", "none", "-nan"),
    *("1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"),
}
_TRUTHS = {"true": 1.0, "false": 0.0}
_OFFSET = (
    r"(?:(?::\d{2}|\dT(?:\d{2}){1,3})(?:[.,]\d+)?(?:\s*[AaPp][Mm])?"
    r"\s*([+-])(\d{2}):?(\d{2})?"
    r"|\d(?:\s*[AaPp][Mm])?\s*([Zz]|UTC|GMT))\s*$"
)
_DAY_OR_MONTH = r"\s*\d{1,2}[./-]\d{1,2}[./-]"
_MOST_LOST = 0.01  # of the changes
_SHORT_YEAR = _DAY_OR_MONTH + r"\d{2}(?!\d)|\s*\d{6}\s*$"
_DECIMAL_COMMA = r"\s*[+-]?\d+(\.\d{3})*,\d+\s*"
_SWAPPED = str.maketrans(",.", ".,")


def times_of(column, time_format, step, report):
    """Returns a column as times, and the zone of their calendar.

    Args:
        column: A Series of pandas.
        time_format: String, how they are written, or `None`.
        step: String, the step of time, or `None` if it is unknown.
        report: The `Report` on the table, for messages.

    Returns:
        A Series of times without a zone, and `None`, if they had none, or are
        days: these are those of the clock. Otherwise, times of UTC and the
        zone; `"UTC"` if only their offsets are known.

    Raises:
        CorpusError: when a cell is not a time, or days may be months.
    """
    pandas = import_pandas()
    if isinstance(column.dtype, pandas.PeriodDtype):
        column = column.dt.to_timestamp()
    if time_format in UNITS and column.dtype.kind != "M":
        times = _counted(column, time_format)
        expected = f"a number since 1970 in the unit {time_format!r}"
        _refuse(column, times.isna(), expected, report)
        return times, None
    cells = column
    if column.dtype == object or pandas.api.types.is_numeric_dtype(column):
        cells = column.map(_written, na_action="ignore")
    text = cells.astype(str)
    if time_format is None:
        short = text.str.match(_SHORT_YEAR)
        expected = (
            "years of four digits, as in 2024-05-31, or `time_format`, such "
            "as %d.%m.%y or %Y%m"
        )
        _refuse(column, short, expected, report)
    times = _read(cells, time_format)
    wrong = times.isna()
    _refuse(column, wrong, _expected(text[wrong], time_format), report)
    short = text.str.match(_DAY_OR_MONTH)
    if time_format is None and short.any():
        others = _read(cells, None, dayfirst=True)
        # One day after the 12th tells them apart.
        ambiguous = others.notna().all() & short & (others != times)
        expected = "`time_format`, such as %d/%m/%Y: days may be months"
        _refuse(column, ambiguous, expected, report)
    times = times.dt.tz_localize(None)
    clock, zone = _on_the_clock(column, text, times)
    if (step and is_of_days(step)) or _time_of_day(clock).nunique() == 1:
        return clock, None
    return times, None if zone is None else _named(zone, column, report)


def _named(zone, column, report):
    """The name of a time zone of a column."""
    try:
        return zone_name(zone)
    except ValueError as error:
        raise CorpusError(
            f"In the column {column.name!r} of {report.corpus}: {error}. "
            "Convert it before, as by `.dt.tz_convert('Europe/Berlin')`"
        ) from error


def _on_the_clock(column, text, times):
    """Times of a column as its clocks showed them, and the zone of these."""
    pandas = import_pandas()
    if isinstance(column.dtype, pandas.DatetimeTZDtype):
        return column.dt.tz_localize(None), column.dt.tz
    if column.dtype.kind == "M":
        return times, None
    found = text.str.extract(_OFFSET)
    signs = found[0].map({"+": 1, "-": -1})
    signs = signs.mask(found[3].notna(), 0)  # those of UTC
    if signs.isna().all():
        return times, None
    hours, minutes = (pandas.to_numeric(found[x]).fillna(0) for x in (1, 2))
    offsets = signs.fillna(0) * (60 * hours + minutes)
    return times + pandas.to_timedelta(offsets, unit="min"), "UTC"


def _time_of_day(times):
    return times - times.dt.normalize()


def _written(value):
    """A number as a table of text has it, such as 20240531 for a day."""
    if not isinstance(value, numbers.Real):
        return value
    return str(int(value) if value % 1 == 0 else value)


def _counted(column, unit):
    """Numbers since 1970 as times, NaT where a cell is none."""
    pandas = import_pandas()
    found = pandas.to_numeric(column, errors="coerce")
    return pandas.to_datetime(found, unit=unit, errors="coerce")


def _expected(wrong, time_format):
    """What was expected instead of some texts that are no times."""
    expected = "a time, such as 2024-05-31 13:00"
    found = import_pandas().to_numeric(wrong, errors="coerce").abs()
    if 1e8 <= found.min() <= found.max() < 1e20 and found.notna().all():
        # The times of a century have 9 to 11 digits in seconds.
        unit = UNITS[min(3, int(math.log10(found.max()) - 8) // 3)]
        return f"{expected}; or `time_format` {unit!r}, if it counts from 1970"
    if time_format is None:
        expected += (
            ", written as the first; or `time_format`, such as %d.%m.%Y, "
            "ISO8601 for several forms, or 's' for seconds since 1970"
        )
    return expected


def _read(column, time_format, **options):
    """A column as times of UTC, NaT where pandas understands none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_pandas().to_datetime(
            column, errors="coerce", utc=True, format=time_format, **options
        )


def numbers_of(column, decimal, report):
    """Returns a column as floats, NaN where a value is missing.

    Args:
        column: A Series of pandas.
        decimal: `"."` or `","`, the decimal point of text.
        report: The `Report` on the table, for messages.

    Raises:
        CorpusError: when a cell has something else than a finite number of
            float32.
    """
    pandas = import_pandas()
    expected = (
        "a number without separators of thousands"
        + " and with a decimal comma" * (decimal == ",")
        + "; or an empty cell, NA or NaN where there is none"
    )
    if column.dtype.kind in "mM":  # pandas would count nanoseconds
        _refuse(column, column.notna(), expected, report)
    text = column.astype(str).str.strip().str.lower()
    empty = column.isna() | text.isin(_MISSING)
    cells = column.where(~empty)
    if decimal == ",":
        cells = cells.map(_with_point)
    numbers = pandas.to_numeric(cells, errors="coerce").astype("float64")
    numbers = numbers.fillna(text.map(_TRUTHS).astype("float64"))
    wrong = ~empty & ~(numbers.abs() <= np.finfo("float32").max)
    if decimal == "." and text[wrong].str.fullmatch(_DECIMAL_COMMA).all():
        expected += "; or `decimal` ',', if a comma is the decimal point"
    _refuse(column, wrong, expected, report)
    _warn_of_rounding(numbers, report)
    return numbers


def _with_point(value):
    """A text with a point for a comma; a point in it then makes it wrong."""
    return value.translate(_SWAPPED) if isinstance(value, str) else value


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
        first = column.iloc[indices[:3]].tolist()
        shown = ", ".join(
            f"{cell!r:.40} in row {index + 1}"
            for cell, index in zip(first, indices, strict=False)
        )
        raise CorpusError(
            f"{len(indices):,} cells of the column {column.name!r} of "
            f"{report.corpus} cannot be read. Expected: {expected}. "
            f"Received: {shown}"
        )
