"""Cycles of the calendar, such as the hours of a day."""

import datetime

import numpy as np

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
            f"'Europe/Berlin'. Received: {zone!r}"
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
