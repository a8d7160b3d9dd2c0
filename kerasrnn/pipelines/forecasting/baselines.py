"""Forecasts that need no network: what every model has to be better than."""

from collections.abc import Callable
from collections.abc import Sequence

import numpy as np

from kerasrnn.data.series.series_table import SeriesTable

_RIDGE = 0.1  # penalty of squared weights, times the number of rows
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
    """Returns forecasts without a network, by their names.

    `"naive"` repeats the last value, and `"seasonal naive"` the last season.
    `"linear"` is one ridge regression for all columns, from the past to each
    step ahead, both relative to the last value. Missing values are taken to be
    like those before them.

    Args:
        table: The `SeriesTable` to fit the regression on; `None` for none.
        lookback: Positive integer, steps of the past.
        horizon: Positive integer, steps to forecast.
        season: Positive integer, steps of a season; 1 for none.
        means: List of floats, what each column is taken to be in a window
            without any of its values, as by the model.

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
    """Fills missing values with those before, the first with those after.

    Args:
        past: Array of shape `(batch, time, columns)`.
        otherwise: What a column becomes that is missing at all times; one
            number, or one for each column.
    """
    time = np.arange(past.shape[1])[None, :, None]
    for _ in "forth", "back":
        there = ~np.isnan(past)
        index = np.maximum.accumulate(np.where(there, time, -1), axis=1)
        held = np.take_along_axis(past, np.maximum(index, 0), axis=1)
        past = np.where(index >= 0, held, np.nan)[:, ::-1]
    return np.where(np.isnan(past), otherwise, past)


def _repeated(season, horizon, means):
    """Repeats the last values, as many as a season has."""
    indices = np.arange(horizon) % season - season
    return lambda past: filled(past, means)[:, indices]


def _regression(table, lookback, horizon):
    """The weights `(lookback, horizon)`; `None` if there is no whole window."""
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
