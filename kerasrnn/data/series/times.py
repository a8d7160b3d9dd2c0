"""Time zones, calendar features and steps of time series."""

import datetime
import warnings

import numpy as np

from kerasrnn.arguments import one_of
from kerasrnn.data.report import CorpusError
from kerasrnn.optional import import_pandas

CYCLES = {
    "minute": lambda times: times.minute / 60,
    "hour": lambda times: (times.hour + times.minute / 60) / 24,
    "weekday": lambda times: times.day_of_week / 7,
    "monthday": lambda times: (times.day - 1) / 31,
    "yearday": lambda times: (times.day_of_year - 1) / 366,
}


def calendar_names(cycles):
    """Returns the names of calendar columns, two for each cycle."""
    for cycle in cycles:
        one_of("calendar", cycle, CYCLES)
    return [f"{cycle}_{wave}" for cycle in cycles for wave in ("sin", "cos")]


def cycles_of(names):
    """Splits names into other columns and the cycles of the calendar.

    Args:
        names: List of strings, the columns known in advance; `calendar_names`
            come last.
    """
    others, cycles = list(names), []
    while cycle := next(
        (x for x in CYCLES if others[-2:] == calendar_names([x])), None
    ):
        cycles.insert(0, cycle)
        del others[-2:]
    return others, cycles


def local_times(times, zone):
    """Converts times in UTC to a DatetimeIndex in a zone.

    Args:
        times: Array of `datetime64` of shape `(time,)`.
        zone: String, the name of the zone; `None` for times without a zone.
    """
    times = import_pandas().DatetimeIndex(times)
    if zone is None:
        return times
    return times.tz_localize("UTC").tz_convert(zone)


def zone_name(zone):
    """Returns a name of a time zone that pandas knows.

    Args:
        zone: String or `datetime.tzinfo`. A zone with a fixed offset from UTC
            is named by it, such as `"UTC+02:00"`.

    Raises:
        ValueError: when pandas does not know the zone.
    """
    fixed = zone.utcoffset(None) if isinstance(zone, datetime.tzinfo) else None
    name = str(zone if fixed is None else datetime.timezone(fixed))
    try:
        import_pandas().DatetimeIndex([]).tz_localize(name)
    except (LookupError, ValueError, OSError) as error:
        raise ValueError(
            "A time zone must have a name that pandas knows, such as "
            "'Europe/Berlin'; `.dt.tz_convert` changes the zone of a column. "
            f"Received: {zone!r}"
        ) from error
    return name


def calendar_columns(times, cycles, zone=None):
    """Returns the calendar features of times.

    Args:
        times: Array of `datetime64` of shape `(time,)`.
        cycles: List of names of `CYCLES`.
        zone: String, the time zone of the features, if times are in UTC; `None`
            for times without a zone.

    Returns:
        Float32 array of shape `(time, 2 * len(cycles))`: the sine and cosine of
        each.
    """
    times = local_times(times, zone)
    angles = [2 * np.pi * np.asarray(CYCLES[x](times)) for x in cycles]
    waves = [wave(angle) for angle in angles for wave in (np.sin, np.cos)]
    empty = np.zeros((len(times), 0))
    return np.column_stack([empty, *waves]).astype("float32")


def time_grid(start, step, end=None, count=None):
    """Returns regular times from a start to an end, or a number of them.

    Args:
        start: A `datetime64`.
        step: String, a pandas offset.
        end: A `datetime64`, or `None` if there is a count.
        count: Integer, or `None`.
    """
    found = import_pandas().date_range(start, end, count, freq=step)
    return found.to_numpy("datetime64[us]")


def checked_step(step):
    """Returns the canonical name of a time step, such as `"15min"`.

    Different names of a step, such as `"60min"` and `"h"`, give the same
    result.

    Raises:
        ValueError: when pandas does not know it, or it is not positive.
    """
    to_offset = import_pandas().tseries.frequencies.to_offset
    try:
        offset, problem = to_offset(step), None
    except (AttributeError, ValueError, ZeroDivisionError) as error:
        offset, problem = None, error
    if offset is None or offset.n <= 0:
        raise ValueError(
            "`step` must be a positive pandas offset, such as 'h', '15min', "
            f"'D' or 'MS' (month start). Received: step={step!r}"
        ) from problem
    return _shortest(offset)


def is_of_days(step):
    """Whether a time step is at least a day.

    Args:
        step: String, a pandas offset.
    """
    first, second = time_grid(np.datetime64("2024-01-01", "us"), step, count=2)
    return second - first >= np.timedelta64(1, "D")


def _shortest(offset):
    """Returns the name of an offset in days or the largest whole unit."""
    pandas = import_pandas()
    if isinstance(offset, pandas.tseries.offsets.Tick):
        step = pandas.Timedelta(offset)
        offset = step if step % pandas.Timedelta("1D") else f"{step.days}D"
    return pandas.tseries.frequencies.to_offset(offset).freqstr


def step_of(times, corpus):
    """Returns the step of times, which may have gaps.

    Args:
        times: Sorted array of `datetime64` of shape `(time,)`.
        corpus: String or path, for the message.

    Raises:
        CorpusError: when there are fewer than three times, or steps of months
            have gaps.
    """
    pandas = import_pandas()
    gaps, counts = np.unique(np.diff(times), return_counts=True)
    if len(times) < 3:
        raise CorpusError(
            f"The time step of {corpus} cannot be detected. Expected: at least "
            "three rows of a series, or `step`, such as 'h'. Received: "
            f"{len(times)} rows"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about a change in pandas 4
        found = pandas.infer_freq(pandas.DatetimeIndex(times))
    if found is not None:
        return _shortest(pandas.tseries.frequencies.to_offset(found))
    usual = gaps[np.argmax(counts)]
    if usual >= np.timedelta64(28, "D"):
        raise CorpusError(
            f"The time step of {corpus} cannot be detected, because months and "
            "years have gaps or different lengths. Expected: `step`, such as "
            f"'MS' or 'YS'. Received: times {usual.astype('timedelta64[D]')} "
            "apart"
        )
    usual = pandas.Timedelta(usual)
    return _shortest(pandas.tseries.frequencies.to_offset(usual))


def resampled(rows, step, rule):
    """Aggregates the rows of each step; also returns the partial values.

    If the values of a column begin or end within a step (that is, if the step
    would have room for another value at the usual distance), they do not
    represent the whole step, which is then missing.

    Args:
        rows: DataFrame of numbers, with sorted times as its index.
        step: String, a pandas offset.
        rule: String, such as `"mean"`. With `"first"`, values may end within a
            step, and with `"last"`, they may begin within a step.
    """
    options = {"min_count": 1} if rule == "sum" else {}
    found = getattr(rows.resample(step), rule)(**options)
    starts, ends = _spans(found.index, step)
    count = 0
    for name in rows:
        times = rows[name].dropna().index.unique()
        if times.empty:
            continue
        gap = times.to_series().diff().median()  # NaT for a single row
        places = np.flatnonzero(found[name].notna())
        first, last = places[0], places[-1]
        partial = {
            *[first] * (rule != "last" and times[0] - gap >= starts[first]),
            *[last] * (rule != "first" and times[-1] + gap < ends[last]),
        }
        found.loc[found.index[[*partial]], name] = np.nan
        count += len(partial)
    return found, count


def _spans(steps, step):
    """Returns the starts and the ends of steps, as labelled by pandas."""
    pandas = import_pandas()
    minute, day = pandas.Timedelta("1min"), pandas.Timedelta("1D")
    before = pandas.Series(0, steps[:1] - minute).resample(step).sum().index
    if before[0] < steps[0]:
        return steps, steps.shift(1)
    return steps.shift(-1) + day, steps + day  # labelled by the last day


def usual_season(step: str) -> int:
    """Returns the usual number of steps in a season, such as 24 for hours.

    The season is the first of a day, a week and a year that consists of several
    whole steps (at most 52 for a year). Otherwise the result is 1.

    Args:
        step: String, a pandas offset.
    """
    start = np.datetime64("2024-01-01", "us")  # a Monday
    first, second = time_grid(start, step, count=2)
    for days in (1, 7):
        period = np.timedelta64(days, "D")
        if 1 < period / (second - first) <= 86_400:  # seconds of a day
            steps = time_grid(start, step, start + period)
            if steps[-1] == start + period:
                return len(steps) - 1
    if second - first < np.timedelta64(7, "D"):
        return 1
    year = time_grid(start, step, start + np.timedelta64(365, "D"))
    return max(1, min(len(year), 52))
