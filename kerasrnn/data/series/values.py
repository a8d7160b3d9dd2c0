"""Parses the times and numbers in tables of time series."""

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

UNITS = "s", "ms", "us", "ns"  # units of numbers since 1970
# Missing values of pandas, in lower case, and of UCI. In a column of names,
# such as classes, some may be real names.
_MISSING = {
    *MISSING,
    *("na", "n/a", "#na", "#n/a", "#n/a n/a", "none", "-nan"),
    *("1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan", "?"),
}
_OFFSET = (
    r"(?:(?::\d{2}|\dT(?:\d{2}){1,3})(?:[.,]\d+)?(?:\s*[AaPp][Mm])?"
    r"\s*([+-])(\d{2}):?(\d{2})?"
    r"|\d(?:\s*[AaPp][Mm])?\s*([Zz]|UTC|GMT))\s*$"
)
# Times that pandas misinterprets: hours of a month or year without a day; the
# sign of UTC+2; and offsets of three digits.
_MISREAD = (
    r"(?i)^\s*(?:\d{1,2}[-/. ]|[a-z]+[-/. ]?)?\d{4}"
    r"(?:[-/. ]\d{1,2}|[-/. ]?[a-z]+)?[ T]+\d{1,2}(?::|\s*[ap]m)"
    r"|(?:UTC|GMT)\s*[+-]|\d\s*[+-]\d{3}\s*$"
)
_ADJACENT = "%[YymdHIMSj]%[YymdHIMSj]"  # adjacent numbers without a separator
_DETECTED = None, "ISO8601", "mixed"  # instead of a format
_SIGNS = {  # separators before parts of a time; "" is for any other column
    **{"year": "-", "month": "-", "day": "-"},
    **{"": " ", "hour": " ", "minute": ":", "second": ":"},
}
_CLOCK = r"\d{1,2}(?:[:.]\d{2}(?:[:.]\d{2}\S*)?(?:\s*[ap]m)?|\s*[ap]m)"
_DECIMAL_COMMA = r"\s*[+-]?\d+(\.\d{3})*,\d+\s*"
_SWAPPED = str.maketrans(",.", ".,")


def check_time_format(time_format):
    """Raises `ValueError` if a format of times has no year."""
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
    """Joins columns of dates and times to one, separated by spaces.

    Without a format, numbers called year, month, day, hour, minute and second
    are combined as in 2024-05-31 13:00, and times may be written with points.

    Args:
        columns: Non-empty list of pandas Series.
        time_format: String, the format of times, or `None`.
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
        cells = cells.str.zfill(2 if unit(column) else 0)
        found = cells if found is None else found + _SIGNS[unit(column)] + cells
    if detected:
        found = found.str.replace(
            r"(?<= )\d{1,2}(?:\.\d{2}){0,2}$",
            _with_colons,
            regex=True,
        )
    return found.rename(" ".join(column.name for column in columns))


def times_of(column, time_format, step, report):
    """Converts a column to times, and returns the zone of the calendar.

    Args:
        column: A pandas Series.
        time_format: String, the format of times, or `None`.
        step: String, the time step, or `None` if unknown.
        report: The `Report` on the table, for messages.

    Returns:
        A Series of local times, and `None`, if they have no zone or are days.
        Otherwise a Series of times in UTC, and the zone, which is `"UTC"` if
        only offsets are known.

    Raises:
        CorpusError: when a cell is not a time, or days and months are
            ambiguous.
    """
    times, clock, zone = moments(column, time_format, report)
    are_daily = (clock - clock.dt.normalize()).nunique() == 1
    if are_daily or (step and is_of_days(step)):
        return clock, None
    return times, None if zone is None else zone_name(zone)


def moments(column, time_format, report):
    """Returns times in UTC, local times, and their zone.

    Without a zone, both are local times, and the zone is `None`. Unless a
    format is given, a cell must have a complete date and a year of four digits.

    Raises:
        CorpusError: when a cell is not a time, or days and months are
            ambiguous.
    """
    pandas = import_pandas()
    if isinstance(column.dtype, pandas.PeriodDtype):
        column = column.dt.to_timestamp()
    if time_format in UNITS and column.dtype.kind != "M":
        counts = pandas.to_numeric(column, errors="coerce")
        times = pandas.to_datetime(counts, unit=time_format, errors="coerce")
        expected = f"a number since 1970 in the unit {time_format!r}"
        is_wrong = times.isna() | (times.dt.year > 9999)  # as in other texts
        refuse(column, is_wrong, expected, report)
        return times, times, None
    if column.dtype.kind == "M":
        index = pandas.DatetimeIndex(column)  # those of pyarrow are others
        times = pandas.Series(index, column.index, name=column.name)
        refuse(times, times.isna(), _expected(times[:0], None), report)
        clock, zone = times.dt.tz_localize(None), times.dt.tz
    else:
        times, clock = _read_texts(column, time_format, report)
        zone = times.dt.tz and "UTC"
    if zone is not None:
        times = times.dt.tz_convert(None)
    return times, clock, zone


def _read_texts(column, time_format, report):
    """Parses texts and numbers as times with optional zone, and local times."""
    text = _texts(column)
    times = _read(text, time_format)
    is_year_first = text.str.match(r"\s*\d{4}")
    others = times
    if time_format in (None, "mixed") and not is_year_first.all():
        others = _read(text, time_format, True).mask(is_year_first, times)
    if times.isna().any() and others.notna().all():
        times = others  # a day after the 12th distinguishes days and months
    ambiguous = others.notna().all() & (others != times)
    expected = _expected(text[times.isna()], time_format)
    refuse(column, times.isna(), expected, report)
    clock = times.dt.tz_localize(None)
    if str(times.dt.tz) == "UTC":  # or there are several offsets
        clock = clock + _offsets(column, text, report)
    if time_format in _DETECTED:
        refuse(column, ~_has_date(text, clock), expected, report)
    elif re.search(_ADJACENT, time_format) and not re.search(
        "%[zZf]", time_format
    ):
        # A number between separators may lack a leading zero.
        digits, found = (
            x.str.replace(r"(?<!\d)0(?=\d(?!\d))", "", regex=True).str.len()
            for x in (clock.dt.strftime(time_format), text)
        )
        expected = f"all digits of {time_format}, including leading zeros"
        refuse(column, found != digits, expected, report)
    expected = (
        "`time_format`, such as %d/%m/%Y, because days and months are ambiguous"
    )
    refuse(column, ambiguous, expected, report)
    return times, clock


def _with_colons(clock):
    """Converts a time of day such as 7.30, or an hour, to 7:30 or 7:00."""
    text = clock[0].replace(".", ":")
    return text if ":" in text else f"{text}:00"


def _has_date(text, clock):
    """Whether texts have years of four digits, and days before hours."""
    years = np.array(
        [
            year >= 1500  # 1330 is more likely a time of day
            and bool(re.search(rf"(?<!\d){year}", cell))
            for year, cell in zip(clock.dt.year, text, strict=True)
        ]
    )
    points = text.str.replace(",", ".")
    fractions = import_pandas().to_numeric(points, errors="coerce") % 1 > 0
    is_odd = text.str.contains(_MISREAD) | fractions | _are_seasons(text)
    return years & ~is_odd


def _are_seasons(text):
    """Whether all texts are of two years, such as 2023/24, not of a month."""
    found = text.str.extract(r"^\s*(\d{4})[-/](\d{2})\s*$").astype(float)
    are_next = (found[0] + 1) % 100 == found[1]
    return are_next.all() and found[0].nunique() > 1


def _offsets(column, text, report):
    """Returns the offsets of local times from UTC."""
    found = text.str.extract(_OFFSET)
    expected = "an offset such as +02:00 at the end of all times or of none"
    refuse(column, found[[0, 3]].isna().all(axis=1), expected, report)
    offsets = found[0].fillna("+") + found[1].fillna("00") + ":"
    offsets += found[2].fillna("00") + ":00"
    return import_pandas().to_timedelta(offsets)


def _texts(column):
    """Converts cells to text as in a text file, such as 20240531."""

    def written(value):
        is_whole = isinstance(value, numbers.Real) and value % 1 == 0
        return str(int(value) if is_whole else value)

    return column.astype(object).map(written, na_action="ignore").astype(str)


def _expected(wrong, time_format):
    """Returns the expected format for an error about times."""
    if time_format not in _DETECTED:
        return f"a time in the format {time_format}"
    expected = (
        "a time with a year of four digits, such as 2024-05-31 13:00 or "
        "2024-05-31T13:00+02:00"
    )
    found = import_pandas().to_numeric(wrong, errors="coerce").abs()
    if 1e8 <= found.min() <= found.max() < 1e20 and found.notna().all():
        # In seconds, the times of a century have 9 to 11 digits.
        unit = UNITS[min(3, int(math.log10(found.max()) - 8) // 3)]
        return f"{expected}; or `time_format` {unit!r} for numbers since 1970"
    return (
        f"{expected}, in the format of the first time; or `time_format`, such "
        "as %d.%m.%y or %Y%m, ISO8601 for mixed forms, or 's' for seconds "
        "since 1970; or several columns as `time`, such as Date and Time"
    )


def _read(column, time_format, dayfirst=False):
    """Parses a column as times, in UTC if offsets differ; NaT if invalid."""
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
    """Converts a column to floats, NaN where a value is missing.

    Args:
        column: A pandas Series.
        decimal: `"."` or `","`, the decimal point of text.
        report: The `Report` on the table, for messages.

    Raises:
        CorpusError: when a cell is not a finite float32 number.
    """
    pandas = import_pandas()
    expected = "a number without thousands separators"
    if decimal == ",":
        expected += " and with a decimal comma"
    expected += "; or an empty cell, NA or NaN for a missing value"
    if column.dtype.kind in "mM":  # pandas would return nanoseconds
        refuse(column, column.notna(), expected, report)
    text = column.astype(str).str.strip().str.lower()
    empty = column.isna() | text.isin(_MISSING)
    cells = column.where(~empty)
    if decimal == ",":
        # Numbers with a point are then invalid.
        cells = cells.map(
            lambda x: x.translate(_SWAPPED) if isinstance(x, str) else x
        )
    numbers = pandas.to_numeric(cells, errors="coerce").astype("float64")
    truths = text.map({"true": 1.0, "false": 0.0})
    numbers = numbers.fillna(truths.astype("float64"))
    wrong = ~empty & ~(numbers.abs() <= np.finfo("float32").max)
    if decimal == "." and text[wrong].str.fullmatch(_DECIMAL_COMMA).all():
        expected += "; or `decimal` ',' for a decimal comma"
    elif text[wrong].str.fullmatch(_CLOCK).all():
        expected += (
            "; if several columns hold the time, list them all as `time`"
        )
    refuse(column, wrong, expected, report)
    _warn_of_rounding(numbers, report)
    return numbers


def _warn_of_rounding(numbers, report):
    """Warns if float32, the dtype of series, loses many changes."""
    values = numbers.dropna().to_numpy()
    changes, kept = np.diff(values), np.diff(values.astype("float32"))
    changed = changes != 0
    lost = changed & (kept == 0)
    if lost.sum() > 0.01 * changed.sum():
        warn(
            f"float32 cannot represent {lost.sum():,} of {changed.sum():,} "
            f"changes in column {numbers.name!r} of {report.corpus}. Expected: "
            "numbers of at most 7 significant digits, such as the differences "
            "of a meter reading. Received: numbers such as "
            f"{values[1:][lost][0]}",
            CorpusWarning,
        )


def refuse(column, wrong, expected, report):
    """Raises `CorpusError` if there are invalid cells."""
    if wrong.any():
        indices = np.flatnonzero(wrong)
        first = column.iloc[indices[:3]].tolist()
        shown = ", ".join(
            f"{cell!r:.40} in row {index + 1}"
            for cell, index in zip(first, indices, strict=False)
        )
        raise CorpusError(
            f"{len(indices):,} of {len(column):,} cells of the column "
            f"{column.name!r} of {report.corpus} cannot be read. "
            f"Expected: {expected}. Received: {shown}"
        )
