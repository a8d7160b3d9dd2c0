"""Tables of made-up series, and all windows of one."""

import numpy as np
import pandas

from kerasrnn.data import series_windows


def frame(count=12, start="2024-05-01", step="h", **columns):
    times = pandas.date_range(start, periods=count, freq=step)
    columns = columns or {"load": np.arange(count, dtype="float64")}
    return pandas.DataFrame({"date": times, **columns})


def windows(*args, **options):
    """All windows in NumPy: their inputs by name, and what follows."""
    batches = [
        (inputs, values) for inputs, values in series_windows(*args, **options)
    ]
    names = batches[0][0]
    return {
        name: np.concatenate([inputs[name] for inputs, _ in batches])
        for name in names
    }, np.concatenate([values for _, values in batches])
