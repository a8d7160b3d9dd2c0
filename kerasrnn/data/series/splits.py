"""Splits of series by time: what comes later is never trained on."""

import datetime
import math
import numbers

import numpy as np

from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import Report
from kerasrnn.data.series.series_table import SeriesTable
from kerasrnn.data.series.values import moments
from kerasrnn.optional import import_pandas


def split_series(
    table: SeriesTable,
    *borders: int | float | str | np.datetime64 | datetime.datetime,
) -> list[SeriesTable]:
    """Splits all series of a table at the same times.

    Nothing in a part is later than its end, and windows forecast steps of
    their own part only. They may look back at the parts before.

    Args:
        table: A `SeriesTable`.
        *borders: The first time of each part but the first, in rising order: a
            time, such as `"2024-05-01"`; an integer, a number of steps after
            the first time of the table, or before its end if it is negative;
            or a float between 0 and 1, that share of its time. A time without
            an offset is one of the zone of the table. The table ends with the
            last value: rows after it, which tell what is known ahead, do not
            count. A part that is split again begins with its own first step.

    Returns:
        List of one `SeriesTable` more than there are borders.

    Raises:
        CorpusError: when a part has no value. It is a `ValueError`.
        ValueError: when there is no border, or they do not rise.

    Example:

    >>> import pandas
    >>> days = pandas.date_range("2024-05-01", periods=10)
    >>> table = read_series(
    ...     pandas.DataFrame({"day": days, "load": range(10)}), "day"
    ... )
    >>> [len(part) for part in split_series(table, 0.6, "2024-05-09")]
    [6, 2, 2]
    """
    grid = table.grid()
    ends = [_time(border, grid, table.zone) for border in borders]
    if not ends or any(a >= b for a, b in zip(ends, ends[1:], strict=False)):
        raise ValueError(
            "There must be a border, and each must be later than the one "
            f"before. Received: {', '.join(map(str, borders)) or 'none'}"
        )
    parts = [
        _part(table, begin, end)
        for begin, end in zip([None, *ends], [*ends, None], strict=True)
    ]
    for position, part in enumerate(parts):
        if not any(x.observed() > x.begin for x in part.series):
            raise CorpusError(
                f"Part {position + 1} of {len(parts)} has no value. Expected: "
                f"borders between {grid[0]} and {grid[-1]}"
                f"{' in UTC' * (table.zone is not None)}. "
                f"Received: {', '.join(map(str, borders))}"
            )
    return parts


def _time(border, grid, zone):
    """The first time at or after a border."""
    is_number = isinstance(border, numbers.Real) and math.isfinite(border)
    if isinstance(border, bool) or not is_number:
        return _parsed(border, zone)
    position = border
    if not isinstance(border, numbers.Integral):
        position = round(border * len(grid))
    elif border < 0:
        position = len(grid) + border
    if not 0 < position < len(grid):
        raise ValueError(
            f"A border must be within the {len(grid)} steps of the table. "
            f"Received: {border}"
        )
    return grid[position]


def _parsed(border, zone):
    """A border as a time of a table in a zone, or an error if it is none."""
    column = import_pandas().Series([border], name="border")
    try:
        time, clock, own_zone = moments(column, None, Report("split_series"))
    except (TypeError, ValueError) as error:
        raise ValueError(
            "A border must be a time, such as '2024-05-01', a number of steps "
            f"or a share of the time. Received: {border!r}"
        ) from error
    if zone is None:
        time = clock
    elif own_zone is None:  # the first, if the clock shows it twice
        local = clock.dt.tz_localize(
            zone, ambiguous=np.array([True]), nonexistent="shift_forward"
        )
        time = local.dt.tz_convert(None)
    return time.to_numpy("datetime64[us]")[0]


def _part(table, begin, end):
    """The steps from one time to before another, after what precedes them."""
    found = []
    for series in table.series:
        start, stop = (
            otherwise
            if border is None
            else max(series.begin, int(np.searchsorted(series.times, border)))
            for border, otherwise in (
                (begin, series.begin),
                (end, len(series.times)),
            )
        )
        if stop > start:
            found.append(
                series._replace(
                    times=series.times[:stop],
                    values=series.values[:stop],
                    known=series.known[:stop],
                    begin=start,
                )
            )
    return table.replace(found)
