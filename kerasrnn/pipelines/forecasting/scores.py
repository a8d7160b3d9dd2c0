"""How far forecasts are from what came: in all, and by the step ahead."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerasrnn.data.series.series_table import SeriesTable
from kerasrnn.data.series.windows import window_starts


class ForecastScores:
    """Sums the errors of forecasts, without those of missing values.

    Args:
        units: Array of shape `(columns,)`, the unit of errors of each column.
        naive: Array of shape `(series, columns)`, what `naive_errors` gave.
        levels: List of floats, the levels of the quantiles.
    """

    def __init__(
        self,
        units: Sequence[float],
        naive: np.ndarray,
        levels: Sequence[float] = (),
    ) -> None:
        self.units, self.naive = np.asarray(units), naive
        self.levels = list(levels)
        self.windows = 0
        self.sums: dict[str, Any] = {}

    def add(
        self,
        values: np.ndarray,
        point: np.ndarray,
        series: np.ndarray,
        quantiles: np.ndarray | None = None,
    ) -> None:
        """Adds the forecasts of a batch.

        Args:
            values: Array of shape `(batch, horizon, columns)`, what came.
            point: Array of that shape, what was forecast.
            series: Integer array of shape `(batch,)`, of which series.
            quantiles: Array of shape `(batch, horizon, columns, levels)`.
        """
        real = ~np.isnan(values)
        errors = np.where(real, values - point.astype("float64"), 0.0)
        sizes = np.abs(errors)
        naive = self.naive[series][:, None]
        scaled = np.isfinite(naive) & real
        found = {
            "count": real,
            "mae": sizes / self.units,
            "mse": np.square(errors / self.units),
            "raw": sizes,
            "scaled": np.where(scaled, sizes / np.where(scaled, naive, 1), 0),
            "of_scaled": scaled,
        }
        if quantiles is not None:
            for index, level in enumerate(self.levels):
                below = real & (values <= quantiles[..., index])
                found[f"below {level}"] = below
        for name, x in found.items():
            self.sums[name] = self.sums.get(name, 0) + x.sum(axis=0)
        self.windows += int(real.any(axis=(1, 2)).sum())

    def result(self, columns: Sequence[str]) -> dict[str, Any]:
        """Returns the scores of all forecasts.

        Args:
            columns: List of strings, the names of the columns.

        Returns:
            A dictionary of `"mse"` and `"mae"` in units of the columns;
            `"mase"`, the error beside that of a seasonal naive forecast of one
            step; `"mae_by_column"`, in the units of the series; with quantiles
            `"coverage"`, the share of values below each; and `"windows"`.
        """
        count = self.sums["count"].sum()
        scores = {x: _share(self.sums[x].sum(), count) for x in ("mse", "mae")}
        scores["mase"] = _share(
            self.sums["scaled"].sum(), self.sums["of_scaled"].sum()
        )
        by_column = self.sums["raw"].sum(0), self.sums["count"].sum(0)
        scores["mae_by_column"] = dict(
            zip(columns, map(_share, *by_column), strict=True)
        )
        if self.levels:
            scores["coverage"] = {
                str(level): _share(self.sums[f"below {level}"].sum(), count)
                for level in self.levels
            }
        return {**scores, "windows": self.windows}

    def by_step(self) -> dict[str, list[float]]:
        """Returns scores by the step ahead, lists of a number a step."""
        names = ["mse", "mae", *(f"below {level}" for level in self.levels)]
        count = self.sums["count"].sum(axis=1)
        return {
            name: [*map(_share, self.sums[name].sum(axis=1), count)]
            for name in names
        }


def score(forecaster, table, baseline=None, batch_size=256):
    """Scores the forecasts at every step of a table.

    Args:
        forecaster: The `SeriesForecaster`.
        table: A `SeriesTable`.
        baseline: A function to score in its place, or `None`.
        batch_size: Positive integer, windows in a batch.

    Returns:
        A `ForecastScores`.
    """
    batches = forecaster.batches(table, batch_size)
    naive = naive_errors(table, forecaster.season)
    levels = () if baseline else forecaster.levels
    scores = ForecastScores(forecaster.model.units, naive, levels)
    size = forecaster.lookback, forecaster.model.horizon
    series, _ = window_starts(table, *size)
    start = 0
    for inputs, values in batches:
        if baseline:
            point, quantiles = baseline(inputs["past"].numpy()), None
        else:
            point, quantiles = forecaster.answers_to(inputs)
        here = series[start : start + len(values)]
        scores.add(values.numpy(), point, here, quantiles)
        start += len(values)
    return scores


def naive_errors(table: SeriesTable, season: int) -> np.ndarray:
    """Returns the error of a seasonal naive forecast of one step.

    It scales the MASE, the mean absolute scaled error. It is that of the steps
    before the part, or of all steps where there are too few; NaN where it is 0
    or unknown.

    Args:
        table: A `SeriesTable`.
        season: Positive integer, steps of a season.

    Returns:
        Array of shape `(series, columns)`.

    Reference:
        [Hyndman & Koehler, 2006](https://doi.org/10.1016/j.ijforecast.2006.03.001).
    """
    found = []
    for series in table.series:
        end = series.begin if series.begin > 2 * season else len(series.values)
        values = series.values[:end].astype("float64")
        errors = np.abs(values[season:] - values[:-season])
        count = np.sum(~np.isnan(errors), axis=0)
        mean = np.nansum(errors, axis=0) / np.maximum(count, 1)
        found.append(np.where(mean > 0, mean, np.nan))
    return np.stack(found)


def _share(total, count):
    return float(total / count) if count else float("nan")
