"""Tables of time series on regular grids, and splits by time."""

import dataclasses
import datetime
import math
import numbers
import sys
import textwrap
import zlib
from collections.abc import Sequence
from typing import NamedTuple
from typing import Self

import numpy as np

from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import Report
from kerasrnn.data.series.times import calendar_columns
from kerasrnn.data.series.times import time_grid
from kerasrnn.data.series.values import moments
from kerasrnn.optional import import_pandas


class Series(NamedTuple):
    """One series of a `SeriesTable`.

    Args:
        name: String, the value of its `key` column; of several columns, joined
            by `/`.
        times: Array of shape `(time,)`, of `datetime64`.
        values: Float32 array of shape `(time, columns)`, NaN where a value is
            missing.
        known: Float32 array of shape `(time, known)`.
        static: Float32 array of shape `(static,)`.
        begin: Integer, the first step of its part of the table. Earlier steps
            may be used as the past.
    """

    name: str
    times: np.ndarray
    values: np.ndarray
    known: np.ndarray
    static: np.ndarray
    begin: int = 0

    def observed(self) -> int:
        """Returns the number of steps up to the last one with a value."""
        found = np.flatnonzero(~np.isnan(self.values).all(axis=1))
        return int(found[-1]) + 1 if len(found) else 0


@dataclasses.dataclass(frozen=True)
class SeriesTable:
    """Series with the same columns and the same time step.

    `len` returns the number of steps of all series.

    Args:
        series: List of `Series`.
        columns: List of strings, the columns to forecast.
        step: String, the time step as a pandas offset, such as `"h"`.
        known: List of strings, the columns that are known in advance.
        static: List of strings, the static features of a series.
        calendar: List of strings, calendar features such as `"hour"`. Their
            sines and cosines are the last columns of `known`.
        time: String, the name of the time column, or the names of several,
            joined by spaces.
        zone: String, the time zone of the calendar features, if times are in
            UTC; `None` for times without a zone.
    """

    series: list[Series]
    columns: list[str]
    step: str
    known: list[str] = dataclasses.field(default_factory=list)
    static: list[str] = dataclasses.field(default_factory=list)
    calendar: list[str] = dataclasses.field(default_factory=list)
    time: str = "time"
    zone: str | None = None

    def __len__(self) -> int:
        return sum(len(x.values) - x.begin for x in self.series)

    def fingerprint(self) -> str:
        """Returns a checksum of all numbers, for `training.fingerprint`."""
        total = zlib.crc32(repr((self.columns, self.step)).encode())
        for series in self.series:
            total = zlib.crc32(str(series.begin).encode(), total)
            for array in series[1:5]:
                total = zlib.crc32(array.tobytes(), total)
        return f"{total:08x}"

    def stacked(self, name: str) -> np.ndarray:
        """Returns the arrays of all series in this part, concatenated.

        Args:
            name: `"values"`, `"known"` or `"static"`.
        """
        if name == "static":
            return np.stack([x.static for x in self.series])
        return np.concatenate(
            [getattr(x, name)[x.begin :] for x in self.series]
        )

    def grid(self) -> np.ndarray:
        """Returns the times from the first step to the last value."""
        first = min(x.times[x.begin] for x in self.series)
        last = max(
            x.times[x.observed() - 1]
            for x in self.series
            if x.observed() > x.begin
        )
        return time_grid(first, self.step, last)

    def missing(self) -> float:
        """Returns the fraction of missing values before the last value."""
        found = [x.values[x.begin : x.observed()] for x in self.series]
        return float(np.isnan(np.concatenate(found)).mean())

    @property
    def known_columns(self) -> list[str]:
        """The columns known in advance, without calendar features."""
        return self.known[: len(self.known) - 2 * len(self.calendar)]

    def not_known(self) -> dict[str, int]:
        """Returns the number of missing values by column known in advance.

        Calendar features are never missing, and are not in the dictionary.
        """
        names = self.known_columns
        lacking = np.isnan(self.stacked("known")[:, : len(names)]).sum(axis=0)
        return dict(zip(names, map(int, lacking), strict=True))

    def replace(self, series: Sequence[Series]) -> Self:
        """Returns a table with other series and the same columns.

        Args:
            series: List of `Series`.
        """
        return dataclasses.replace(self, series=list(series))

    def in_zone(self, zone: str | None) -> Self:
        """Returns a table with calendar features of another time zone.

        It is unchanged if it has this zone, or one of the two is `None`.

        Args:
            zone: String, the name of a time zone.
        """
        if zone == self.zone or None in (zone, self.zone):
            return self
        first = len(self.known_columns)

        def moved(series):
            cycles = calendar_columns(series.times, self.calendar, zone)
            known = np.hstack([series.known[:, :first], cycles])
            return series._replace(known=known)

        series = [moved(x) for x in self.series]
        return dataclasses.replace(self, series=series, zone=zone)

    def ahead(self, horizon: int) -> Self:
        """Returns a table that ends `horizon` steps after the last values.

        Rows after the last value contain the columns known in advance. Without
        such rows, only calendar features are known.

        Args:
            horizon: Positive integer.

        Raises:
            CorpusError: when a series has no values.
        """
        return self.replace([self._ahead(x, horizon) for x in self.series])

    def _ahead(self, series, horizon):
        observed = series.observed()
        if not observed:
            raise CorpusError(
                "A series to forecast must have at least one value. Received: "
                f"none in the series {series.name!r}"
            )
        end = observed + horizon
        times = time_grid(series.times[0], self.step, count=end)
        more = (0, horizon), (0, 0)
        values, known = (
            np.pad(x, more, constant_values=np.nan)[:end]
            for x in (series.values, series.known)
        )
        first = len(self.known_columns)
        known[:, first:] = calendar_columns(times, self.calendar, self.zone)
        return series._replace(
            times=times, values=values, known=known, begin=end - horizon
        )

    def say(self) -> None:
        """Prints a summary of the table to standard error."""
        times = np.array([x.times[i] for x in self.series for i in (0, -1)])
        first, last = (
            f"{x:.16}".replace("T", " ") for x in (times.min(), times.max())
        )
        zone = _in_utc(self)
        if self.calendar and zone:
            zone += f", with the calendar of {self.zone}"
        lacking = "".join(
            f" Steps without {name}: {count:,}."
            for name, count in self.not_known().items()
            if count
        )
        print(
            f"Read {len(self):,} steps of {self.step} in {len(self.series):,} "
            f"series, {first} to {last}{zone}.\n"
            + textwrap.fill(
                f"Columns: {', '.join(self.columns)}. "
                f"Missing values: {self.missing():.1%}.{lacking}",
                79,
            ),
            file=sys.stderr,
        )


def split_series(
    table: SeriesTable,
    *borders: int | float | str | np.datetime64 | datetime.datetime,
) -> list[SeriesTable]:
    """Splits all series of a table at the same times.

    A part contains nothing later than its end. Windows forecast only steps of
    their own part, and may use earlier parts as the past.

    Args:
        table: A `SeriesTable`.
        *borders: The first time of each part except the first one, in
            increasing order: a time, such as `"2024-05-01"`; an integer, a
            number of steps after the first time of the table (if negative,
            before its end); or a float between 0 and 1, a fraction of its time.
            A time without an offset is in the zone of the table. The table ends
            with the last value; later rows, which contain what is known in
            advance, do not count. A part that is split again begins with its
            own first step.

    Returns:
        List of `SeriesTable`, one more than borders.

    Raises:
        CorpusError: when a part has no values. It is a `ValueError`.
        ValueError: when there are no borders, or they do not increase.

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
            "There must be at least one border, and borders must increase. "
            f"Received: {', '.join(map(str, borders)) or 'none'}"
        )
    parts = [
        _part(table, begin, end)
        for begin, end in zip([None, *ends], [*ends, None], strict=True)
    ]
    for position, part in enumerate(parts):
        if not any(x.observed() > x.begin for x in part.series):
            raise CorpusError(
                f"Part {position + 1} of {len(parts)} has no values. Expected: "
                f"borders between {grid[0]} and {grid[-1]}{_in_utc(table)}. "
                f"Received: {', '.join(map(str, borders))}"
            )
    return parts


def _in_utc(table):
    """Returns what follows times in messages: `" in UTC"` or nothing."""
    return "" if table.zone is None else " in UTC"


def _time(border, grid, zone):
    """Returns the first time at or after a border."""
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
    """Converts a border to a time in a zone, or raises an error."""
    column = import_pandas().Series([border], name="border")
    try:
        time, clock, own_zone = moments(column, None, Report("split_series"))
    except (TypeError, ValueError) as error:
        raise ValueError(
            "A border must be a time, such as '2024-05-01', a number of steps, "
            f"or a fraction of the time. Received: {border!r}"
        ) from error
    if zone is None:
        time = clock
    elif own_zone is None:  # the first of ambiguous times
        time = clock.dt.tz_localize(
            zone, ambiguous=np.array([True]), nonexistent="shift_forward"
        ).dt.tz_convert(None)
    return time.to_numpy("datetime64[us]")[0]


def _part(table, begin, end):
    """Returns the steps between two times, with all earlier steps."""
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
