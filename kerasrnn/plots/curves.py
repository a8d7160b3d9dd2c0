"""Curves of one training, or of several models in one figure."""

import math
from collections.abc import Mapping
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter
from matplotlib.ticker import MaxNLocator

from kerasrnn.plots.style import PANEL_INCHES
from kerasrnn.plots.style import STYLES
from kerasrnn.plots.style import add_legend
from kerasrnn.plots.style import add_panel_title
from kerasrnn.plots.style import as_written
from kerasrnn.plots.style import check_count
from kerasrnn.plots.style import is_curve
from kerasrnn.plots.style import open_grid

MAX_COLUMNS = 3
_METRIC_INCHES = (4.2, 3.2)


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
    history = _checked_history(history)
    metrics = list(dict.fromkeys(map(_metric, history)))
    rows = math.ceil(len(metrics) / MAX_COLUMNS)
    columns = math.ceil(len(metrics) / rows)
    width, height = _METRIC_INCHES
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


def _checked_history(history):
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


# More markers would hide the curve.
MAX_MARKERS = 20
# From this value on, numbers on the horizontal axis are shortened: 20k, 3M.
LONG_NUMBER = 1e4


def comparison_figure(
    histories: Mapping[str, Mapping[str, Sequence[float]]],
    metric: str,
    label: str | None = None,
    x: str | None = None,
    x_label: str | None = None,
) -> Figure:
    """Draws one metric of several models, a curve for each.

    The legend shows the last value of each curve. Models differ in colour and
    marker, so they can be told apart in grey, too.

    Args:
        histories: Dictionary of model name to history, at most 8 of them. A
            history is a dictionary of metric name to list of values of shape
            `(epochs,)`, as `model.fit(...).history` is. Models may differ in
            the number of epochs.
        metric: String, the name of the metric.
        label: Optional string, the label of the vertical axis; by default
            `metric`.
        x: Optional string, the name of the values on the horizontal axis, such
            as `"tokens"`. Each history must hold as many of them as of the
            metric. By default, the axis counts epochs from 1.
        x_label: Optional string, the label of the horizontal axis; by default
            `x`, or `"epoch"`.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        ValueError: If `histories` is not such a dictionary, has more than 8
            models, a model lacks `metric` or `x`, or the two differ in length.

    Example:

    >>> histories = {"LSTM": {"loss": [2.0, 1.5]}, "RHN": {"loss": [1.8]}}
    >>> figure = kerasrnn.plots.comparison_figure(histories, "loss")
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['LSTM: 1.5', 'RHN: 1.8']
    """
    curves = _checked(histories, metric, x)
    figure = Figure(figsize=PANEL_INCHES, layout="constrained")
    axes = figure.add_subplot()
    lines = [
        _draw_curve(axes, steps, values, color, marker)
        for (steps, values), (color, marker) in zip(
            curves.values(), STYLES, strict=False
        )
    ]
    _label_axes(axes, label or metric, x_label or x or "epoch", x is None)
    last_values = [
        f"{model}: {values[-1]:.4g}" for model, (_, values) in curves.items()
    ]
    add_legend(figure, lines, last_values)
    return figure


def _checked(histories, metric, x):
    """For each model, its positions on the horizontal axis and its values."""
    if not isinstance(histories, Mapping) or not all(
        isinstance(history, Mapping) for history in histories.values()
    ):
        raise ValueError(
            "`histories` must be a dictionary of model name to history, such "
            "as `model.fit(...).history`. "
            f"Received: histories={histories!r}"
        )
    check_count("histories", histories)
    curves = {}
    for model, history in histories.items():
        values = _series(model, history, metric)
        if x is None:
            steps = np.arange(1, len(values) + 1)
        else:
            steps = _series(model, history, x)
        if len(steps) != len(values):
            raise ValueError(
                f"{x!r} and {metric!r} must have the same number of values. "
                f"Received: {len(steps)} and {len(values)} for the model "
                f"{model!r}."
            )
        curves[model] = steps, values
    return curves


def _series(model, history, name):
    if name not in history:
        raise ValueError(
            f"Every model of `histories` must have {name!r}, which the model "
            f"{model!r} lacks. Received: {list(history)}"
        )
    values = np.asarray(history[name])
    if not is_curve(values):
        raise ValueError(
            "A history must hold a list of numbers for each metric. "
            f"Received: histories[{model!r}][{name!r}]={history[name]!r}"
        )
    return values


def _draw_curve(axes, steps, values, color, marker):
    marked = np.linspace(0, len(values) - 1, min(len(values), MAX_MARKERS))
    (line,) = axes.plot(
        steps,
        values,
        color=color,
        marker=marker,
        markevery=marked.round().astype("int").tolist(),
        # The star and the crosses look smaller than they are.
        markersize=8 if marker in "PX*" else 6,
        markeredgecolor="white",
        markeredgewidth=0.5,
        linewidth=1.5,
    )
    return line


def _label_axes(axes, label, x_label, counts_epochs):
    axes.set_ylabel(label, **as_written([label]))
    axes.set_xlabel(x_label, **as_written([x_label]))
    if counts_epochs:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    elif max(map(abs, axes.dataLim.intervalx)) >= LONG_NUMBER:
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    open_grid(axes)
