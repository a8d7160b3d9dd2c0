"""Tables of time series: several series on one regular grid each."""

import dataclasses
import sys
import textwrap
import zlib
from collections.abc import Sequence
from typing import NamedTuple
from typing import Self

import numpy as np

from kerasrnn.data.report import CorpusError
from kerasrnn.data.series.calendar import calendar_columns
from kerasrnn.data.series.steps import time_grid


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
        values = np.full((end, len(self.columns)), np.nan, "float32")
        values[: len(series.values)] = series.values[:end]
        known = np.full((end, len(self.known)), np.nan, "float32")
        known[: len(series.known)] = series.known[:end]
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
