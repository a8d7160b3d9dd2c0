"""Reliability diagrams of classifiers."""

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from kerasrnn.plots.style import BLUE
from kerasrnn.plots.style import add_panel_title
from kerasrnn.plots.style import open_axes

_BINS = 10


def reliability_figure(
    certainty: ArrayLike, right: ArrayLike, title: str | None = None
) -> Figure:
    """Draws a reliability diagram: accuracy by predicted probability.

    A calibrated model is on the diagonal. The legend shows the expected
    calibration error (ECE): the mean distance from the diagonal over all
    predictions, in ten bins of probability. Bars below show the number of
    predictions in each bin.

    Args:
        certainty: Array of shape `(predictions,)`, the probability of each
            predicted label.
        right: Boolean array of that shape, whether each prediction is correct.
        title: Optional string above the picture.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        ValueError: when there is no prediction, the shapes differ, or a
            probability is not between 0 and 1.

    Example:

    >>> figure = reliability_figure([0.9, 0.8, 0.6], [True, True, False])
    >>> figure.axes[0].get_ylabel()
    'accuracy'
    """
    certainty, right = np.asarray(certainty, float), np.asarray(right, bool)
    if certainty.shape != right.shape or certainty.ndim != 1 or not len(right):
        raise ValueError(
            "`certainty` and `right` must have the same length and not be "
            f"empty. Received: shapes {certainty.shape} and {right.shape}"
        )
    if not ((certainty >= 0) & (certainty <= 1)).all():
        raise ValueError(
            "`certainty` must contain probabilities from 0 to 1. Received: "
            f"{certainty.min()} to {certainty.max()}"
        )
    indices = np.minimum((certainty * _BINS).astype(int), _BINS - 1)
    counts = np.bincount(indices, minlength=_BINS)
    filled = counts > 0
    x, y = (
        np.bincount(indices, values, _BINS)[filled] / counts[filled]
        for values in (certainty, right)
    )
    error = (counts[filled] * np.abs(x - y)).sum() / len(right)
    figure = Figure(figsize=(4.5, 5.5), layout="constrained")
    axes, bars = figure.subplots(
        2, sharex=True, gridspec_kw={"height_ratios": (3, 1)}
    )
    axes.plot([0, 1], [0, 1], color="grey", linestyle=":", label="calibrated")
    axes.plot(x, y, marker="o", color=BLUE, label=f"model (ECE {error:.3f})")
    axes.set_ylabel("accuracy")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    axes.legend(frameon=False)
    bars.bar((np.arange(_BINS) + 0.5) / _BINS, counts, 0.9 / _BINS, color=BLUE)
    bars.set_ylabel("predictions")
    bars.set_xlabel("probability of the predicted label")
    for each in (axes, bars):
        open_axes(each)
    add_panel_title(axes, title)
    return figure
