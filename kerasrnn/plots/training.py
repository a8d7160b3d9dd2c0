"""Curves of a training run."""

import math
from collections.abc import Mapping
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kerasrnn.plots.checks import is_curve
from kerasrnn.plots.style import add_panel_title
from kerasrnn.plots.style import open_grid

MAX_COLUMNS = 3
PANEL_INCHES = (4.2, 3.2)


def training_figure(
    history: Mapping[str, Sequence[float]], chosen: int | None = None
) -> Figure:
    """Draws the curves of a training run, one panel for each metric.

    A metric and its validation value share a panel, such as `loss` and
    `val_loss`.

    Args:
        history: Dictionary of metric name to list of values, one value an
            epoch, each list of shape `(epochs,)`, as
            `model.fit(...).history` is. The lists may differ in length.
        chosen: Integer, the number of the epoch whose weights were kept, from
            1. A dotted line marks it. `None` for no mark.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        ValueError: If `history` is not such a dictionary, or is empty.

    Example:

    >>> figure = kerasrnn.plots.training_figure(
    ...     {"loss": [2.0, 1.0], "val_loss": [2.5, 2.0], "bleu": [3.0, 9.0]}
    ... )
    >>> [axes.get_title() for axes in figure.axes]
    ['loss', 'bleu']
    """
    history = _checked(history)
    metrics = list(dict.fromkeys(map(_metric, history)))
    rows = math.ceil(len(metrics) / MAX_COLUMNS)
    columns = math.ceil(len(metrics) / rows)
    width, height = PANEL_INCHES
    figure = Figure(
        figsize=(columns * width, rows * height), layout="constrained"
    )
    for index, metric in enumerate(metrics, start=1):
        axes = figure.add_subplot(rows, columns, index)
        if chosen is not None:
            label = "chosen epoch" if index == 1 else None
            axes.axvline(chosen, color="grey", linestyle=":", label=label)
        _draw_panel(axes, metric, history)
    return figure


def _metric(name):
    return name.removeprefix("val_")


def _checked(history):
    if not isinstance(history, Mapping) or not history:
        raise ValueError(
            "`history` must be a dictionary of metric name to list of values, "
            "such as `model.fit(...).history`, with at least one metric. "
            f"Received: history={history!r}"
        )
    arrays = {name: np.asarray(values) for name, values in history.items()}
    for name, values in arrays.items():
        if not is_curve(values):
            raise ValueError(
                "`history` must hold a list of numbers, one an epoch, for "
                f"each metric. Received: history[{name!r}]={history[name]!r}"
            )
    return arrays


def _draw_panel(axes, metric, history):
    curves = (
        (metric, "training", "C0"),
        (f"val_{metric}", "validation", "C1"),
    )
    for name, label, color in curves:
        if name in history:
            epochs = np.arange(1, len(history[name]) + 1)
            # A single epoch has no line, only a dot.
            axes.plot(
                epochs, history[name], color=color, label=label, marker="."
            )
    if len(axes.get_legend_handles_labels()[1]) > 1:
        axes.legend(frameon=False)
    title = metric.replace("_", " ")
    if metric not in history:
        title += " (validation)"
    add_panel_title(axes, title)
    axes.set_xlabel("epoch")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    open_grid(axes)
