"""What the cells of a table of series hold: times and numbers."""

import functools
import math
import numbers
import re
import warnings

import numpy as np

from kerasrnn.data.reading.cells import MISSING
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.series.times import is_of_days
from kerasrnn.data.series.times import zone_name
from kerasrnn.optional import import_pandas
from kerasrnn.warning import warn

UNITS = "s", "ms", "us", "ns"  # of numbers that count from 1970
# Those of pandas, in lower case, and that of UCI. In a column of names, such as
# classes, some may be real names.
_MISSING = {
    *MISSING,
    *("na", "n/a", "#na", "#n/a", "#n/a n/a", "none", "-nan"),
    *("1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan", "?"),
}
_TRUTHS = {"true": 1.0, "false": 0.0}
_OFFSET = (
    r"(?:(?::\d{2}|\dT(?:\d{2}){1,3})(?:[.,]\d+)?(?:\s*[AaPp][Mm])?"
    r"\s*([+-])(\d{2}):?(\d{2})?"
    r"|\d(?:\s*[AaPp][Mm])?\s*([Zz]|UTC|GMT))\s*$"
)
# What pandas reads in its own way: hours of a month or a year, without a day;
# the sign of UTC+2, and offsets of three digits.
_MISREAD = (
    r"(?i)^\s*(?:\d{1,2}[-/. ]|[a-z]+[-/. ]?)?\d{4}"
    r"(?:[-/. ]\d{1,2}|[-/. ]?[a-z]+)?[ T]+\d{1,2}(?::|\s*[ap]m)"
    r"|(?:UTC|GMT)\s*[+-]|\d\s*[+-]\d{3}\s*$"
)
_FIRST_YEAR = 1500  # 1330 is rather an hour
_ADJACENT = "%[YymdHIMSj]%[YymdHIMSj]"  # numbers without a sign between them
_DETECTED = None, "ISO8601", "mixed"  # in place of a format
_SIGNS = {  # before parts of a time, in their order; "" is any other column
    **{"year": "-", "month": "-", "day": "-"},
    **{"": " ", "hour": " ", "minute": ":", "second": ":"},
}
_CLOCK = r"\d{1,2}(?:[:.]\d{2}(?:[:.]\d{2}\S*)?(?:\s*[ap]m)?|\s*[ap]m)"
_MOST_LOST = 0.01  # of the changes
_DECIMAL_COMMA = r"\s*[+-]?\d+(\.\d{3})*,\d+\s*"
_SWAPPED = str.maketrans(",.", ".,")


def check_time_format(time_format):
    """Raises `ValueError` if a format of times says no year."""
    if time_format in (*_DETECTED, *UNITS) or re.search(
        "%[YyG]", str(time_format)
    ):
        return
    raise ValueError(
        "`time_format` must have a year, such as %d.%m.%Y, or be ISO8601, or "
        f"a unit since 1970: {', '.join(UNITS)}. "
        f"Received: time_format={time_format!r}"
    )


def joined_times(columns, time_format):
    """Returns columns of dates and hours as one, their cells between blanks.

    Without a format, numbers called year, month, day, hour, minute and second
    are put together as in 2024-05-31 13:00, and the clock may have points.

    Args:
        columns: List of Series of pandas, at least one.
        time_format: String, how times are written, or `None`.
    """
    if len(columns) == 1:
        return columns[0]
    detected, order = time_format is None, list(_SIGNS)

    def unit(column):
        name = column.name.lower()
        return name if detected and name in _SIGNS else ""

    found = None
    for column in sorted(columns, key=lambda x: order.index(unit(x))):
        cells = _texts(column).str.strip()
        cells = cells.mask(column.isna() | (cells == ""))
        if unit(column):
            cells = cells.str.zfill(2)
        found = cells if found is None else found + _SIGNS[unit(column)] + cells
    if detected:
        clock = r"(?<= )\d{1,2}(?:\.\d{2}){0,2}$"
        found = found.str.replace(clock, _with_colons, regex=True)
    return found.rename(" ".join(column.name for column in columns))


def _with_colons(clock):
    text = clock[0].replace(".", ":")
    return text if ":" in text else f"{text}:00"


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
    times, clock, zone = moments(column, time_format, report)
    if (step and is_of_days(step)) or _time_of_day(clock).nunique() == 1:
        return clock, None
    return times, None if zone is None else _named(zone, column, report)


def moments(column, time_format, report):
    """Returns times of UTC, as the clock showed them, and the zone of both.

    Times that have no zone are those of the clock, and the zone is `None`. A
    cell must have all of a date, and the year in four digits, unless a format
    says what it has.

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
        return times, times, None
    if column.dtype.kind == "M":
        index = pandas.DatetimeIndex(column)  # those of pyarrow are others
        times = pandas.Series(index, column.index, name=column.name)
        _refuse(times, times.isna(), _expected(times[:0], None), report)
        clock, zone = times.dt.tz_localize(None), times.dt.tz
    else:
        times, clock = _read_texts(column, time_format, report)
        zone = times.dt.tz and "UTC"
    if zone is not None:
        times = times.dt.tz_convert(None)
    return times, clock, zone


def _read_texts(column, time_format, report):
    """Texts and numbers as times, with a zone if they have one, and clocks."""
    text = _texts(column)
    times = _read(text, time_format)
    is_year_first = text.str.match(r"\s*\d{4}")
    others = times
    if time_format in (None, "mixed") and not is_year_first.all():
        others = _read(text, time_format, dayfirst=True)
        others = others.mask(is_year_first, times)
    if times.isna().any() and others.notna().all():
        times = others  # one day after the 12th tells days and months apart
    ambiguous = others.notna().all() & (others != times)
    expected = _expected(text[times.isna()], time_format)
    _refuse(column, times.isna(), expected, report)
    clock = times.dt.tz_localize(None)
    if str(times.dt.tz) == "UTC":  # or there are several
        clock = clock + _offsets(column, text, report)
    if time_format in _DETECTED:
        _refuse(column, ~_has_date(text, clock), expected, report)
    elif re.search(_ADJACENT, time_format) and not re.search(
        "%[zZf]", time_format
    ):
        # Of a number between signs, the zero in front may lack.
        digits, found = (
            x.str.replace(r"(?<!\d)0(?=\d(?!\d))", "", regex=True).str.len()
            for x in (clock.dt.strftime(time_format), text)
        )
        expected = f"all digits of {time_format}, zeros in front, too"
        _refuse(column, found != digits, expected, report)
    expected = "`time_format`, such as %d/%m/%Y: days may be months"
    _refuse(column, ambiguous, expected, report)
    return times, clock


def _has_date(text, clock):
    """Whether texts have the years as four digits, and days before hours."""
    years = np.array(
        [
            year >= _FIRST_YEAR and bool(re.search(rf"(?<!\d){year}", cell))
            for year, cell in zip(clock.dt.year, text, strict=True)
        ]
    )
    points = text.str.replace(",", ".")
    fractions = import_pandas().to_numeric(points, errors="coerce") % 1 > 0
    return years & ~text.str.contains(_MISREAD) & ~fractions


def _named(zone, column, report):
    """The name of a time zone of a column."""
    try:
        return zone_name(zone)
    except ValueError as error:
        raise CorpusError(
            f"In the column {column.name!r} of {report.corpus}: {error}. "
            "Convert it before, as by `.dt.tz_convert('Europe/Berlin')`"
        ) from error


def _offsets(column, text, report):
    """How much later than UTC the clocks of texts are."""
    pandas = import_pandas()
    found = text.str.extract(_OFFSET)
    signs = found[0].map({"+": 1, "-": -1})
    signs = signs.mask(found[3].notna(), 0)  # those of UTC
    expected = "an offset such as +02:00 at the end of all times, or of none"
    _refuse(column, signs.isna(), expected, report)
    hours, minutes = (pandas.to_numeric(found[x]).fillna(0) for x in (1, 2))
    return pandas.to_timedelta(signs * (60 * hours + minutes), unit="min")


def _time_of_day(times):
    return times - times.dt.normalize()


def _texts(column):
    """The cells of a column as a table of text has them."""
    pandas = import_pandas()
    if column.dtype == object or pandas.api.types.is_numeric_dtype(column):
        column = column.map(_written, na_action="ignore")
    return column.astype(str)


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
    if time_format not in _DETECTED:
        return f"a time, written as {time_format}"
    expected = (
        "a time with a year of four digits, such as 2024-05-31 13:00 or "
        "2024-05-31T13:00+02:00"
    )
    found = import_pandas().to_numeric(wrong, errors="coerce").abs()
    if 1e8 <= found.min() <= found.max() < 1e20 and found.notna().all():
        # The times of a century have 9 to 11 digits in seconds.
        unit = UNITS[min(3, int(math.log10(found.max()) - 8) // 3)]
        return f"{expected}; or `time_format` {unit!r}, if it counts from 1970"
    return (
        f"{expected}, written as the first; or `time_format`, such as "
        "%d.%m.%y or %Y%m, ISO8601 for several forms, or 's' for seconds since "
        "1970; `time` may be several columns, such as Date and Time"
    )


def _read(column, time_format, dayfirst=False):
    """A column as times, of UTC if offsets differ; NaT where one is none."""
    read = functools.partial(
        import_pandas().to_datetime,
        *(column, "coerce", dayfirst),
        format=time_format,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = read()
        except ValueError:
            return read(utc=True)
        return read(utc=True) if found.dtype == object else found


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
    elif text[wrong].str.fullmatch(_CLOCK).all():
        expected += "; a time may be in several columns: give `time` all"
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
