"""Scores of forecasts, and baseline forecasts."""

from collections.abc import Callable
from collections.abc import Sequence
from typing import Any

import numpy as np

from kerasrnn.data.series.series_table import SeriesTable
from kerasrnn.data.series.windows import window_starts

_RIDGE = 0.1  # penalty on squared weights, multiplied by the number of rows
_MOST_ROWS = 100_000

Baseline = Callable[[np.ndarray], np.ndarray]
"""From the past `(batch, lookback, columns)` to `(batch, horizon, columns)`."""


def baselines(
    table: SeriesTable | None,
    lookback: int,
    horizon: int,
    season: int,
    means: Sequence[float],
) -> dict[str, Baseline]:
    """Returns baseline forecasts by name.

    `"naive"` repeats the last value, and `"seasonal naive"` the last season.
    `"linear"` is a ridge regression, shared by all columns, from the past to
    each horizon step, both relative to the last value. Missing values are
    filled with the values before them.

    Args:
        table: The `SeriesTable` to fit the regression on; `None` for no
            `"linear"`.
        lookback: Positive integer, steps of the past.
        horizon: Positive integer, steps to forecast.
        season: Positive integer, steps in a season; 1 for no season.
        means: List of floats, the values of columns that are missing in a whole
            window, as in the model.

    Returns:
        A dictionary of functions from the past, of shape
        `(batch, lookback, columns)`, to forecasts of shape
        `(batch, horizon, columns)`.
    """
    found = {"naive": _repeated(1, horizon, means)}
    if 1 < season <= lookback:
        found["seasonal naive"] = _repeated(season, horizon, means)
    weights = _regression(table, lookback, horizon) if table else None

    def linear(past):
        past = filled(past, means)
        last = past[:, -1:]
        rows = np.swapaxes(past - last, 1, 2) @ weights
        return last + np.swapaxes(rows, 1, 2)

    if weights is not None:
        found["linear"] = linear
    return found


def filled(past: np.ndarray, otherwise: Sequence[float] | float) -> np.ndarray:
    """Fills missing values with earlier ones, or later ones at the start.

    Args:
        past: Array of shape `(batch, time, columns)`.
        otherwise: Value of columns that are missing at all times: one number,
            or one per column.
    """
    time = np.arange(past.shape[1])[None, :, None]
    for _ in "forth", "back":
        there = ~np.isnan(past)
        index = np.maximum.accumulate(np.where(there, time, -1), axis=1)
        held = np.take_along_axis(past, np.maximum(index, 0), axis=1)
        past = np.where(index >= 0, held, np.nan)[:, ::-1]
    return np.where(np.isnan(past), otherwise, past)


def _repeated(season, horizon, means):
    """Returns a function that repeats the last season."""
    indices = np.arange(horizon) % season - season
    return lambda past: filled(past, means)[:, indices]


def _regression(table, lookback, horizon):
    """Returns weights `(lookback, horizon)`; `None` without a full window."""
    units = np.nanstd(table.stacked("values").astype("float64"), axis=0)
    units = np.where(units > 0, units, 1.0)
    size = lookback + horizon
    observed = [
        x.values[: x.observed()].astype("float64") for x in table.series
    ]
    counts = [max(0, len(values) - size + 1) for values in observed]
    rows = sum(counts) * len(table.columns)
    if not rows:
        return None
    stride = -(-rows // _MOST_ROWS)
    gram = _RIDGE * (rows / stride) * np.eye(lookback)
    products = np.zeros((lookback, horizon))
    for values in observed:
        values = filled(values[None], 0.0)[0] / units
        for column in values.T if len(values) >= size else ():
            windows = np.lib.stride_tricks.sliding_window_view(column, size)
            windows = windows[::stride] - windows[::stride, lookback - 1, None]
            past, ahead = windows[:, :lookback], windows[:, lookback:]
            gram += past.T @ past
            products += past.T @ ahead
    return np.linalg.solve(gram, products)


class ForecastScores:
    """Accumulates the errors of forecasts, without missing values.

    Args:
        units: Array of shape `(columns,)`, the unit of errors of each column.
        naive: Array of shape `(series, columns)` from `naive_errors`.
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
            values: Array of shape `(batch, horizon, columns)`, the actual
                values.
            point: Array of that shape, the point forecasts.
            series: Integer array of shape `(batch,)`, the indices of the
                series.
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
            found |= {
                f"below {level}": real & (values <= quantiles[..., index])
                for index, level in enumerate(self.levels)
            }
        for name, x in found.items():
            self.sums[name] = self.sums.get(name, 0) + x.sum(axis=0)
        self.windows += int(real.any(axis=(1, 2)).sum())

    def result(self, columns: Sequence[str]) -> dict[str, Any]:
        """Returns the scores of all forecasts.

        Args:
            columns: List of strings, the names of the columns.

        Returns:
            A dictionary of `"mse"` and `"mae"` in units of the columns;
            `"mase"`, the error relative to a one-step seasonal naive forecast;
            `"mae_by_column"` in the original units; with quantiles,
            `"coverage"`, the fraction of values below each; and `"windows"`,
            their number.
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
        """Returns scores by horizon step, as lists."""
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
        baseline: A function of `baselines` to score instead, or `None`.
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
    starts = range(0, len(series), batch_size)
    for start, (inputs, values) in zip(starts, batches, strict=True):
        if baseline:
            point, quantiles = baseline(inputs["past"].numpy()), None
        else:
            point, quantiles = forecaster.answers_to(inputs)
        here = series[start : start + len(values)]
        scores.add(values.numpy(), point, here, quantiles)
    return scores


def naive_errors(table: SeriesTable, season: int) -> np.ndarray:
    """Returns the mean error of one-step seasonal naive forecasts.

    The MASE (mean absolute scaled error) divides by it. It is computed on the
    steps before the evaluated part, or on all steps if there are too few. It is
    NaN where it is 0 or unknown.

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
