"""Batches of windows of time series."""

import numpy as np
import tensorflow as tf

from kerasrnn.arguments import positive_integer
from kerasrnn.data.batches import without_tuning
from kerasrnn.data.report import CorpusError
from kerasrnn.data.series.series_table import SeriesTable


def series_windows(
    table: SeriesTable,
    lookback: int,
    horizon: int,
    batch_size: int,
    seed: int | None = None,
    stride: int = 1,
) -> tf.data.Dataset:
    """Returns batches of windows: the past, and the values to forecast.

    Steps to forecast are in this part of the table, up to its last value. The
    past may include earlier parts. A series that is too short for a whole
    window gives one window whose past is filled with missing values, if at
    least one step precedes its last `horizon` steps. Windows are cut on demand,
    so the table is in memory only once.

    Args:
        table: A `SeriesTable`.
        lookback: Positive integer, steps of the past.
        horizon: Positive integer, steps to forecast.
        batch_size: Positive integer, windows in a batch. The last batch may be
            smaller.
        seed: Integer, the seed of the shuffling, which differs in every epoch.
            Defaults to `None`, the order of the table.
        stride: Positive integer, steps from one window to the next.

    Returns:
        A `tf.data.Dataset` of `(inputs, values)`. The inputs are a dictionary
        of the `"past"`, `(batch, lookback, columns)`, and, if the table has
        them, `"known"`, `(batch, lookback + horizon, known)`, and `"static"`,
        `(batch, static)`. The values have the shape
        `(batch, horizon, columns)`.

    Raises:
        CorpusError: when there are no windows. It is a `ValueError`.
        ValueError: when a number is not a positive integer.

    Example:

    >>> import pandas
    >>> days = pandas.date_range("2024-05-01", periods=6)
    >>> table = read_series(
    ...     pandas.DataFrame({"day": days, "load": range(6)}), "day"
    ... )
    >>> (inputs, values), = series_windows(table, 3, 2, batch_size=8)
    >>> inputs["past"][..., 0].numpy().tolist()
    [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]
    >>> values[..., 0].numpy().tolist()
    [[3.0, 4.0], [4.0, 5.0]]
    """
    positive_integer("batch_size", batch_size)
    numbers, starts = window_starts(table, lookback, horizon, stride)
    before = [lookback + len(x.values) for x in table.series]
    offsets = np.cumsum([0, *before])[numbers] + starts
    values, known = (
        tf.constant(_joined(table, name, lookback))
        for name in ("values", "known")
    )
    static = tf.constant(table.stacked("static"))
    steps = tf.range(lookback + horizon, dtype=tf.int64)

    def batch(windows):
        positions = tf.gather(offsets, windows)[:, None] + steps
        found = tf.gather(values, positions)
        inputs = {"past": found[:, :lookback]}
        if table.known:
            inputs["known"] = tf.gather(known, positions)
        if table.static:
            inputs["static"] = tf.gather(static, tf.gather(numbers, windows))
        return inputs, found[:, lookback:]

    dataset = tf.data.Dataset.range(len(starts))
    if seed is not None:
        dataset = dataset.shuffle(len(starts), seed=seed)
    return without_tuning(dataset.batch(batch_size).map(batch).prefetch(2))


def window_starts(
    table: SeriesTable, lookback: int, horizon: int, stride: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the positions of the windows of `series_windows`.

    Args:
        table: A `SeriesTable`.
        lookback: Positive integer, steps of the past.
        horizon: Positive integer, steps to forecast.
        stride: Positive integer, steps from one window to the next.

    Returns:
        Two integer arrays of shape `(windows,)`: the index of the series, and
        the first step to forecast of each window.

    Raises:
        CorpusError: when there are no windows.
        ValueError: when a number is not positive.
    """
    positive_integer("lookback", lookback)
    positive_integer("horizon", horizon)
    positive_integer("stride", stride)
    found = [_starts(x, lookback, horizon, stride) for x in table.series]
    if not any(map(len, found)):
        longest = max((x.observed() - x.begin for x in table.series), default=0)
        raise CorpusError(
            f"All series are too short. Expected: at least {horizon} steps to "
            f"forecast and one before. Received: at most {max(0, longest)} "
            f"steps up to the last value, in {len(table.series)} series"
        )
    numbers = np.repeat(np.arange(len(found)), list(map(len, found)))
    return numbers, np.concatenate(found)


def _starts(series, lookback, horizon, stride):
    end = series.observed()
    # The steps that `ahead` added have no values yet.
    if end == series.begin == len(series.values) - horizon:
        end = len(series.values)
    last = end - horizon
    # Only whole windows, unless there are none.
    first = max(series.begin, min(lookback, last), 1)
    return np.arange(first, last + 1, stride)


def _joined(table, name, lookback):
    """Concatenates all series, each after `lookback` missing steps."""
    arrays = [getattr(x, name) for x in table.series]
    gap = np.full((lookback, arrays[0].shape[1]), np.nan, "float32")
    return np.concatenate([part for x in arrays for part in (gap, x)])
