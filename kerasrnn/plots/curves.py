"""Learning curves of a training or of several models."""

import math
from collections.abc import Mapping
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from kerasrnn.plots.style import BLUE
from kerasrnn.plots.style import ORANGE
from kerasrnn.plots.style import PANEL_INCHES
from kerasrnn.plots.style import STYLES
from kerasrnn.plots.style import add_legend
from kerasrnn.plots.style import add_panel_title
from kerasrnn.plots.style import as_written
from kerasrnn.plots.style import checked_dict
from kerasrnn.plots.style import curve
from kerasrnn.plots.style import one_panel
from kerasrnn.plots.style import open_grid
from kerasrnn.plots.style import whole_numbers


def training_figure(
    history: Mapping[str, Sequence[float]], chosen: int | None = None
) -> Figure:
    """Draws the learning curves of a training, one panel per metric.

    A metric and its validation value share a panel, such as `loss` and
    `val_loss`. So do metrics that are equal to four digits.

    Args:
        history: Dictionary of metric name to list of values per epoch, of shape
            `(epochs,)`, such as `model.fit(...).history`. The lists may differ
            in length.
        chosen: Integer, number of the epoch whose weights were kept, counted
            from 1. A dotted line marks it. `None` for no mark.

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
    checked_dict("history", history)
    curves = {k: curve(f"history[{k!r}]", x) for k, x in history.items()}
    panels = _panels(curves)
    rows = math.ceil(len(panels) / 3)
    columns = math.ceil(len(panels) / rows)
    figure = Figure(figsize=(4.2 * columns, 3.2 * rows), layout="constrained")
    for index, (metric, names) in enumerate(panels.items(), start=1):
        axes = figure.add_subplot(rows, columns, index)
        if chosen is not None:
            label = "chosen epoch" if index == 1 else None
            axes.axvline(chosen, color="grey", linestyle=":", label=label)
        for name, label, color in (
            (metric, "training", BLUE),
            (f"val_{metric}", "validation", ORANGE),
        ):
            if name in curves:
                epochs = np.arange(1, len(curves[name]) + 1)
                # A single epoch is a dot, not a line.
                axes.plot(
                    epochs, curves[name], color=color, label=label, marker="."
                )
        if len(axes.get_legend_handles_labels()[1]) > 1:
            axes.legend(frameon=False)
        title = ", ".join(names).replace("_", " ")
        if metric not in curves:
            title += " (validation)"
        add_panel_title(axes, title)
        axes.set_xlabel("epoch")
        whole_numbers(axes)
        open_grid(axes)
    return figure


def _panels(curves):
    """The names of the metrics of each panel, by the first of them."""
    digits = {
        name: [f"{x:.4g}" for x in values] for name, values in curves.items()
    }
    panels = {}
    for metric in dict.fromkeys(name.removeprefix("val_") for name in curves):
        of_metric = {
            prefix: digits[prefix + metric]
            for prefix in ("", "val_")
            if prefix + metric in digits
        }
        same = [
            first
            for first in panels
            if all(digits.get(p + first) == x for p, x in of_metric.items())
        ]
        panels.setdefault((same or [metric])[0], []).append(metric)
    return panels


def comparison_figure(
    histories: Mapping[str, Mapping[str, Sequence[float]]],
    metric: str,
    label: str | None = None,
    x: str | None = None,
    x_label: str | None = None,
) -> Figure:
    """Draws a metric of several models, with a curve for each.

    The legend shows the last value of each curve. Curves differ in colour and
    marker, so they are distinguishable in grey, too.

    Args:
        histories: Dictionary of model name to history, with at most 8 models. A
            history is a dictionary of metric name to list of values of shape
            `(epochs,)`, such as `model.fit(...).history`. Models may differ in
            the number of epochs.
        metric: String, the name of the metric.
        label: Optional string, the label of the vertical axis; by default
            `metric`.
        x: Optional string, the name of the values on the horizontal axis, such
            as `"tokens"`. Each history must have as many of them as of the
            metric. By default, the axis shows epochs from 1.
        x_label: Optional string, the label of the horizontal axis; by default
            `x`, or `"epoch"`.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        KeyError: If a model lacks `metric` or `x`.
        ValueError: If `histories` is not such a dictionary, has more than 8
            models, or `metric` and `x` differ in length.

    Example:

    >>> histories = {"LSTM": {"loss": [2.0, 1.5]}, "RHN": {"loss": [1.8]}}
    >>> figure = kerasrnn.plots.comparison_figure(histories, "loss")
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['LSTM: 1.5', 'RHN: 1.8']
    """
    checked_dict("histories", histories, len(STYLES))
    figure, axes = one_panel(*PANEL_INCHES)
    lines, last_values = [], []
    for (model, history), style in zip(histories.items(), STYLES, strict=False):
        checked_dict(f"histories[{model!r}]", history)
        values = curve(f"histories[{model!r}][{metric!r}]", history[metric])
        steps = np.arange(1, len(values) + 1)
        if x is not None:
            steps = curve(f"histories[{model!r}][{x!r}]", history[x])
        color, marker = style
        # More markers would hide the curve.
        marked = np.linspace(0, len(values) - 1, min(len(values), 20))
        lines += axes.plot(
            steps,
            values,
            color=color,
            marker=marker,
            markevery=marked.round().astype("int").tolist(),
            # Stars and crosses look smaller than other markers.
            markersize=8 if marker in "PX*" else 6,
            markeredgecolor="white",
            markeredgewidth=0.5,
            linewidth=1.5,
        )
        last_values.append(f"{model}: {values[-1]:.4g}")
    y_label, x_label = label or metric, x_label or x or "epoch"
    axes.set_ylabel(y_label, **as_written([y_label]))
    axes.set_xlabel(x_label, **as_written([x_label]))
    if x is None:
        whole_numbers(axes)
    elif max(map(abs, axes.dataLim.intervalx)) >= 1e4:
        # Shortens long numbers: 20k, 3M.
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    open_grid(axes)
    add_legend(figure, lines, last_values)
    return figure
