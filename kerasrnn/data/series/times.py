"""Times of series: their zones, cycles of the calendar, and steps."""

import datetime
import warnings

import numpy as np

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
    """Returns the names of the columns of some cycles, two for each."""
    unknown = [cycle for cycle in cycles if cycle not in CYCLES]
    if unknown:
        raise ValueError(
            f"The calendar has {', '.join(CYCLES)}. Received: {unknown}"
        )
    return [f"{cycle}_{wave}" for cycle in cycles for wave in ("sin", "cos")]


def cycles_of(names):
    """Returns names before those of the calendar, and the cycles of these.

    Args:
        names: List of strings, what is known ahead: `calendar_names` are last.
    """
    others, cycles = list(names), []
    while cycle := next(
        (x for x in CYCLES if others[-2:] == calendar_names([x])), None
    ):
        cycles.insert(0, cycle)
        del others[-2:]
    return others, cycles


def local_times(times, zone):
    """Returns times of UTC as a DatetimeIndex of a zone.

    Args:
        times: Array of `datetime64` of shape `(time,)`.
        zone: String, the name of the zone; `None` for times that have none.
    """
    times = import_pandas().DatetimeIndex(times)
    if zone is None:
        return times
    return times.tz_localize("UTC").tz_convert(zone)


def zone_name(zone):
    """Returns the name by which pandas finds a time zone.

    Args:
        zone: String or `datetime.tzinfo`. One that is always the same time
            ahead of UTC is named by this time, such as `"UTC+02:00"`.

    Raises:
        ValueError: when pandas finds it by no name.
    """
    is_zone = isinstance(zone, datetime.tzinfo)
    fixed = zone.utcoffset(None) if is_zone else None
    name = str(zone if fixed is None else datetime.timezone(fixed))
    try:
        import_pandas().DatetimeIndex([]).tz_localize(name)
    except (LookupError, ValueError, OSError) as error:
        raise ValueError(
            "A time zone must have a name that pandas finds, such as "
            "'Europe/Berlin'; `.dt.tz_convert` changes that of a column. "
            f"Received: {zone!r}"
        ) from error
    return name


def calendar_columns(times, cycles, zone=None):
    """Returns where times are in cycles of the calendar.

    Args:
        times: Array of `datetime64` of shape `(time,)`.
        cycles: List of names of `CYCLES`.
        zone: String, the time zone of the calendar of times of UTC; `None` for
            times that have none.

    Returns:
        Float32 array of shape `(time, 2 * len(cycles))`: the sine and the
        cosine of each.
    """
    times = local_times(times, zone)
    angles = [2 * np.pi * np.asarray(CYCLES[x](times)) for x in cycles]
    waves = [wave(angle) for angle in angles for wave in (np.sin, np.cos)]
    empty = np.zeros((len(times), 0))
    return np.column_stack([empty, *waves]).astype("float32")


def time_grid(start, step, end=None, count=None):
    """Returns times from a first one, up to a last one or a number of them.

    Args:
        start: A `datetime64`.
        step: String, an offset of pandas.
        end: A `datetime64`, or `None` if there is a count.
        count: Integer, or `None`.
    """
    found = import_pandas().date_range(start, end, count, freq=step)
    return found.to_numpy("datetime64[us]")


def checked_step(step):
    """Returns a step of time as pandas writes it, such as `"15min"`.

    Of several names of one step, such as `"60min"` and `"h"`, there is one.

    Raises:
        ValueError: when pandas does not know it, or time does not go on.
    """
    to_offset = import_pandas().tseries.frequencies.to_offset
    try:
        offset, problem = to_offset(step), None
    except (AttributeError, ValueError, ZeroDivisionError) as error:
        offset, problem = None, error
    if offset is None or offset.n <= 0:
        raise ValueError(
            "`step` must be a positive offset of pandas, such as 'h', '15min', "
            f"'D' or 'MS', the start of months. Received: step={step!r}"
        ) from problem
    return _shortest(offset)


def is_of_days(step):
    """Whether a step of time is a day or more.

    Args:
        step: String, an offset of pandas.
    """
    first, second = time_grid(np.datetime64("2024-01-01", "us"), step, count=2)
    return second - first >= np.timedelta64(1, "D")


def _shortest(offset):
    """Returns the name of an offset, in whole days or in the largest unit."""
    pandas = import_pandas()
    if isinstance(offset, pandas.tseries.offsets.Tick):
        step = pandas.Timedelta(offset)
        offset = step if step % pandas.Timedelta("1D") else f"{step.days}D"
    return pandas.tseries.frequencies.to_offset(offset).freqstr


def step_of(times, corpus):
    """Returns the step of times that may have gaps.

    Args:
        times: Sorted array of `datetime64` of shape `(time,)`.
        corpus: String or path, for the message.

    Raises:
        CorpusError: when there are fewer than three, or months, whose lengths
            differ, have gaps.
    """
    pandas = import_pandas()
    gaps, counts = np.unique(np.diff(times), return_counts=True)
    if len(times) < 3:
        raise CorpusError(
            f"The step of time of {corpus} is unknown. Expected: three rows of "
            f"a series, or `step`, such as 'h'. Received: {len(times)} rows"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how pandas 4 will return it
        found = pandas.infer_freq(pandas.DatetimeIndex(times))
    if found is not None:
        return _shortest(pandas.tseries.frequencies.to_offset(found))
    usual = gaps[np.argmax(counts)]
    if usual >= np.timedelta64(28, "D"):
        raise CorpusError(
            f"The step of time of {corpus} is unknown: months and years have "
            "gaps or other lengths. Expected: `step`, such as 'MS' or 'YS'. "
            f"Received: times {usual.astype('timedelta64[D]')} apart"
        )
    usual = pandas.Timedelta(usual)
    return _shortest(pandas.tseries.frequencies.to_offset(usual))


def resampled(rows, step, rule):
    """Returns what the rows of each step become, and how many are left out.

    Where the values of a column begin or end inside of a step, that is: where
    one more at their usual distance would be in it, they say nothing of all of
    the step, which then has none.

    Args:
        rows: DataFrame of numbers, with sorted times as its index.
        step: String, an offset of pandas.
        rule: String, such as `"mean"`. With `"first"`, values may end inside
            of a step, and with `"last"`, begin.
    """
    options = {"min_count": 1} if rule == "sum" else {}
    found = getattr(rows.resample(step), rule)(**options)
    starts, ends = _spans(found.index, step)
    count = 0
    for name in rows:
        times = rows[name].dropna().index.unique()
        if times.empty:
            continue
        gap = times.to_series().diff().median()  # NaT, of one
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
    """The first times of steps as pandas names them, and those after them."""
    pandas = import_pandas()
    minute, day = pandas.Timedelta("1min"), pandas.Timedelta("1D")
    before = pandas.Series(0, steps[:1] - minute).resample(step).sum().index
    if before[0] < steps[0]:
        return steps, steps.shift(1)
    return steps.shift(-1) + day, steps + day  # named by the last day


def usual_season(step: str) -> int:
    """Returns how many steps a season usually has: 24 of hours, 7 of days.

    It is the first of a day, a week and a year that has several whole steps,
    at most 52 in a year. Otherwise it is 1.

    Args:
        step: String, an offset of pandas.
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
