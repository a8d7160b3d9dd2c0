"""Forecasts that need no network: what every model has to be better than."""

from collections.abc import Callable

import numpy as np

from kerasrnn.data.series import SeriesTable

_RIDGE = 0.1  # a row, in units of the columns
_MOST_ROWS = 100_000

Baseline = Callable[[np.ndarray], np.ndarray]
"""From the past `(batch, lookback, columns)` to `(batch, horizon, columns)`."""


def baselines(
    table: SeriesTable | None, lookback: int, horizon: int, season: int
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

    Returns:
        A dictionary of functions from the past, of shape
        `(batch, lookback, columns)`, to forecasts of shape
        `(batch, horizon, columns)`.
    """
    found = {"naive": _repeated(1, horizon)}
    if 1 < season <= lookback:
        found["seasonal naive"] = _repeated(season, horizon)
    weights = table and _regression(table, lookback, horizon)

    def linear(past):
        past = filled(past)
        last = past[:, -1:]
        rows = np.swapaxes(past - last, 1, 2) @ weights
        return last + np.swapaxes(rows, 1, 2)

    if weights is not None:
        found["linear"] = linear
    return found


def filled(past: np.ndarray) -> np.ndarray:
    """Fills missing values with those before, the first with those after.

    Args:
        past: Array of shape `(batch, time, columns)`. What is missing all over
            a column becomes 0.
    """
    time = np.arange(past.shape[1])[None, :, None]
    for _ in "forth", "back":
        there = ~np.isnan(past)
        place = np.maximum.accumulate(np.where(there, time, -1), axis=1)
        held = np.take_along_axis(past, np.maximum(place, 0), axis=1)
        past = np.where(place >= 0, held, np.nan)[:, ::-1]
    return np.nan_to_num(past)


def _repeated(season, horizon):
    """Repeats the last values, as many as a season has."""
    places = np.arange(horizon) % season - season
    return lambda past: filled(past)[:, places]


def _regression(table, lookback, horizon):
    """The weights `(lookback, horizon)`; `None` if there is no whole window."""
    units = np.nanstd(table.stacked("values"), axis=0)
    units = np.where(units > 0, units, 1.0)
    size = lookback + horizon
    counts = [max(0, len(x.values) - size + 1) for x in table.series]
    rows = sum(counts) * len(table.columns)
    if not rows:
        return None
    stride = -(-rows // _MOST_ROWS)
    gram = _RIDGE * (rows / stride) * np.eye(lookback)
    products = np.zeros((lookback, horizon))
    for series in table.series:
        values = filled(series.values[None].astype("float64"))[0] / units
        for column in values.T if len(values) >= size else ():
            windows = np.lib.stride_tricks.sliding_window_view(column, size)
            windows = windows[::stride] - windows[::stride, lookback - 1, None]
            past, ahead = windows[:, :lookback], windows[:, lookback:]
            gram += past.T @ past
            products += past.T @ ahead
    return np.linalg.solve(gram, products)
