"""Figures of forecasts, and of their errors by horizon step."""

from collections.abc import Mapping
from collections.abc import Sequence

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.dates import AutoDateLocator
from matplotlib.dates import ConciseDateFormatter
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from kerasrnn.arguments import positive_integer
from kerasrnn.plots.style import BLUE
from kerasrnn.plots.style import STYLES
from kerasrnn.plots.style import as_written
from kerasrnn.plots.style import checked_dict
from kerasrnn.plots.style import one_panel
from kerasrnn.plots.style import open_axes
from kerasrnn.plots.style import open_grid
from kerasrnn.plots.style import whole_numbers


def forecast_figure(
    past: ArrayLike,
    forecast: ArrayLike,
    names: Sequence[str],
    values: ArrayLike | None = None,
    quantiles: ArrayLike | None = None,
    levels: Sequence[float] = (),
    most_columns: int = 4,
    past_horizons: int = 3,
    times: ArrayLike | None = None,
) -> Figure:
    """Draws forecasts of columns after their past, with quantile bands.

    Args:
        past: Array of shape `(time, columns)`; NaN leaves a gap.
        forecast: Array of shape `(horizon, columns)`.
        names: List of strings, the names of the columns.
        values: Optional array of shape `(horizon, columns)`, the actual values.
        quantiles: Optional array of shape `(horizon, columns, levels)`.
        levels: List of rising floats, the levels of the quantiles. A band is
            drawn from the first to the last, from the second to the last but
            one, and so on.
        most_columns: Positive integer, maximum number of columns to draw, the
            first ones.
        past_horizons: Positive integer, how much of the past to draw at most,
            in lengths of the forecast.
        times: Optional array of `datetime64` of shape `(time + horizon,)`, the
            times of the past and of the forecast. By default, the axis counts
            steps ahead.

    Returns:
        A `matplotlib.figure.Figure`, with a panel for each column.

    Raises:
        ValueError: If the shapes do not agree, or a number is not positive.

    Example:

    >>> past, ahead = np.arange(6.0)[:, None], np.array([[6.0], [7.0]])
    >>> figure = kerasrnn.plots.forecast_figure(past, ahead, ["load"])
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['load']
    """
    past, forecast = np.asarray(past), np.asarray(forecast)
    _check(past, forecast, names, values, quantiles, levels, times)
    names = names[: positive_integer("most_columns", most_columns)]
    horizons = positive_integer("past_horizons", past_horizons)
    past = past[-horizons * len(forecast) :]
    figure = Figure(figsize=(6.0, 2.2 * len(names)), layout="constrained")
    drawn = len(past) + len(forecast)
    steps = np.arange(drawn) - len(past) + 1
    if times is not None:
        steps = np.asarray(times, "datetime64[ns]")[-drawn:]
    before, ahead = np.split(steps, [len(past)])
    now = before[-1] + (ahead[0] - before[-1]) / 2
    all_axes = figure.subplots(len(names), sharex=True, squeeze=False)[:, 0]
    for index, (axes, name) in enumerate(zip(all_axes, names, strict=True)):
        axes.plot(before, past[:, index], color="0.45", linewidth=1)
        if values is not None:
            truth = np.asarray(values)[:, index]
            axes.plot(ahead, truth, color="black", linewidth=1, label="truth")
        if quantiles is not None:
            _draw_bands(axes, ahead, np.asarray(quantiles)[:, index], levels)
        axes.plot(ahead, forecast[:, index], color=BLUE, label="forecast")
        axes.axvline(now, color="0.8", linewidth=1)
        axes.set_ylabel(name, **as_written([name]))
        open_axes(axes)
    figure.legend(
        *all_axes[0].get_legend_handles_labels(),
        loc="outside upper right",
        frameon=False,
        ncols=4,
        fontsize=8,
    )
    if times is None:
        all_axes[-1].set_xlabel("steps ahead")
    else:
        axes, locator = all_axes[-1], AutoDateLocator()
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        axes.tick_params(axis="x", labelsize=8)
    return figure


def _draw_bands(axes, ahead, quantiles, levels):
    count, band = len(levels) // 2, np.array(to_rgb(BLUE))
    for index in range(count):
        share = levels[-1 - index] - levels[index]
        axes.fill_between(
            ahead,
            quantiles[:, index],
            quantiles[:, -1 - index],
            # Narrow bands are darker and cover wider ones.
            color=1 - (0.2 + 0.5 * index / count) * (1 - band),
            linewidth=0,
            label=f"{share:.0%}",
        )


def _check(past, forecast, names, values, quantiles, levels, times):
    shape = len(forecast), len(names)
    expected = {
        "past": (past, (len(past), len(names))),
        "forecast": (forecast, shape),
        "values": (values, shape),
        "quantiles": (quantiles, (*shape, len(levels))),
        "times": (times, (len(past) + len(forecast),)),
    }
    for name, (x, shape) in expected.items():
        if x is not None and (np.shape(x) != shape or not np.size(x)):
            raise ValueError(
                f"`{name}` must have the shape {shape} and not be empty. "
                f"Received: shape {np.shape(x)}"
            )


def horizon_figure(
    errors: Mapping[str, ArrayLike], label: str = "error"
) -> Figure:
    """Draws errors by horizon step, with a curve for each model.

    Args:
        errors: Dictionary of name to array of shape `(horizon,)`, at most 8.
        label: String, the label of the vertical axis.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        ValueError: If there are no errors, or more than 8.

    Example:

    >>> figure = kerasrnn.plots.horizon_figure({"naive": [0.1, 0.2]}, "MAE")
    >>> figure.axes[0].get_ylabel()
    'MAE'
    """
    checked_dict("errors", errors, len(STYLES))
    figure, axes = one_panel(5.2, 3.4)
    for (name, values), (color, _) in zip(errors.items(), STYLES, strict=False):
        steps = np.arange(1, len(np.asarray(values)) + 1)
        axes.plot(steps, values, color=color, label=name)
    axes.set_xlabel("steps ahead")
    axes.set_ylabel(label, **as_written([label]))
    axes.set_ylim(bottom=0)
    whole_numbers(axes)
    axes.legend(frameon=False)
    open_grid(axes)
    return figure
