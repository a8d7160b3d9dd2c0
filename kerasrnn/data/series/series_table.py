"""Tables of time series on a regular grid each, and their splits by time."""

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
        name: String, what its rows have in the column that tells series
            apart; of several columns, joined by `/`.
        times: Array of shape `(time,)`, of `datetime64`.
        values: Float32 array of shape `(time, columns)`, NaN where a value is
            missing.
        known: Float32 array of shape `(time, known)`.
        static: Float32 array of shape `(static,)`.
        begin: Integer, the first step that belongs to its part of the table:
            those before may be looked back at.
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
    """Series with the same columns and the same step of time.

    Its length is the number of steps of all series.

    Args:
        series: List of `Series`.
        columns: List of strings, the names of what is forecast.
        step: String, the step of time as an offset of pandas, such as `"h"`.
        known: List of strings, the names of what is known ahead.
        static: List of strings, the names of what describes a whole series.
        calendar: List of strings, cycles such as `"hour"`, whose sines and
            cosines are the last of `known`.
        time: String, the name of the column of times, or the names of several
            with blanks between them.
        zone: String, the time zone of the calendar, when times are those of
            UTC; `None` for times that have no zone.
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
        """Returns what all series have in this part, one below the other.

        Args:
            name: `"values"`, `"known"` or `"static"`.
        """
        if name == "static":
            return np.stack([x.static for x in self.series])
        return np.concatenate(
            [getattr(x, name)[x.begin :] for x in self.series]
        )

    def grid(self) -> np.ndarray:
        """Returns the times from the first step to the last with a value."""
        first = min(x.times[x.begin] for x in self.series)
        last = max(
            x.times[x.observed() - 1]
            for x in self.series
            if x.observed() > x.begin
        )
        return time_grid(first, self.step, last)

    def missing(self) -> float:
        """Returns the share of values that are missing before the last."""
        found = [x.values[x.begin : x.observed()] for x in self.series]
        return float(np.isnan(np.concatenate(found)).mean())

    @property
    def known_columns(self) -> list[str]:
        """The names of what is known ahead, without those of the calendar."""
        return self.known[: len(self.known) - 2 * len(self.calendar)]

    def not_known(self) -> dict[str, int]:
        """Returns how many steps lack a column that is to be known ahead.

        Those of the calendar never do, and are not in the dictionary.
        """
        names = self.known_columns
        lacking = np.isnan(self.stacked("known")[:, : len(names)]).sum(axis=0)
        return dict(zip(names, map(int, lacking), strict=True))

    def replace(self, series: Sequence[Series]) -> Self:
        """Returns a table of other series with the same columns.

        Args:
            series: List of `Series`.
        """
        return dataclasses.replace(self, series=list(series))

    def in_zone(self, zone: str | None) -> Self:
        """Returns a table with the calendar of another zone.

        It stays as it is, if it is of this zone, or one of both is `None`.

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

        Rows after the last one with a value are what is known ahead; where
        there is none, only the calendar is known.

        Args:
            horizon: Positive integer.

        Raises:
            CorpusError: when a series has no value.
        """
        return self.replace([self._ahead(x, horizon) for x in self.series])

    def _ahead(self, series, horizon):
        observed = series.observed()
        if not observed:
            raise CorpusError(
                "A series to forecast must have a value. "
                f"Received: none in the series {series.name!r}"
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
        """Prints what is in the table, to the standard error."""
        times = np.array([x.times[i] for x in self.series for i in (0, -1)])
        first, last = (
            f"{x:.16}".replace("T", " ") for x in (times.min(), times.max())
        )
        zone = " in UTC" * (self.zone is not None)
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
