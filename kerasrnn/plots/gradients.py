"""Norms of the gradient of a recurrent network back in time."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from kerasrnn.plots.style import PANEL_INCHES
from kerasrnn.plots.style import STYLES
from kerasrnn.plots.style import add_legend
from kerasrnn.plots.style import add_panel_title
from kerasrnn.plots.style import checked_dict
from kerasrnn.plots.style import curve
from kerasrnn.plots.style import one_panel
from kerasrnn.plots.style import open_grid
from kerasrnn.plots.style import whole_numbers

# Dash patterns distinguish curves without colours.
DASHES = [
    "-",
    (0, (6, 1.5)),
    (0, (1, 1)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (3, 3)),
    (0, (8, 1.5, 1, 1.5, 1, 1.5)),
    (0, (1, 3)),
    (0, (12, 3)),
]


def gradient_figure(
    norms: Mapping[str, ArrayLike], title: str | None = None
) -> Figure:
    """Draws gradient norms by the number of steps before the end.

    The last step, whose loss is differentiated, is on the left at 0, and time
    runs backwards. The vertical axis is logarithmic, so a gradient that
    vanishes at a constant rate is a falling straight line. Zeros, which have no
    logarithm, are on a dotted line labelled "zero" below all other norms.

    Args:
        norms: Dictionary of model name to array of shape `(time,)`, with at
            most 8 models: the norms of the gradient of the last step's loss
            with respect to the input or state of each step, in order of time.
            Models may differ in `time`.
        title: Optional string above the curves.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        ValueError: If `norms` is not such a dictionary, has more than 8 models,
            or a norm is negative or not finite.

    Example:

    >>> norms = {"LSTM": [0.5, 0.7, 1.0], "RNN": [0.0, 0.01, 1.0]}
    >>> figure = kerasrnn.plots.gradient_figure(norms)
    >>> figure.axes[0].lines[0].get_ydata().tolist()
    [1.0, 0.7, 0.5]

    References:
        - [Bengio et al., 1994](https://doi.org/10.1109/72.279181).
    """
    checked_dict("norms", norms, len(STYLES))
    # The floor may be too small for half precision.
    curves = [
        curve(f"norms[{model!r}]", values).astype("float64")
        for model, values in norms.items()
    ]
    together = np.concatenate(curves)
    wrong = ~np.isfinite(together) | (together < 0.0)
    if wrong.any():
        raise ValueError(
            "A norm must be finite and non-negative. "
            f"Received: {together[wrong][0]} in `norms`"
        )
    # A power of ten below all nonzero norms (or below 1 if all are 0), but not
    # smaller than matplotlib can draw.
    lowest = np.min(together[together > 0.0], initial=1.0)
    floor = max(10.0 ** (np.ceil(np.log10(lowest)) - 2), 1e-300)
    figure, axes = one_panel(*PANEL_INCHES)
    lines = []
    for values, (color, _), dashes in zip(curves, STYLES, DASHES, strict=False):
        lines += axes.plot(
            np.maximum(values[::-1], floor),
            color=color,
            linestyle=dashes,
            linewidth=1.8,
            # A single step is not a line.
            marker="o" if len(values) == 1 else None,
        )
    if (together == 0.0).any():
        axes.axhline(
            floor, color="grey", linestyle=":", linewidth=0.8, zorder=0.5
        )
        axes.annotate(
            "zero",
            (1.0, floor),
            xycoords=axes.get_yaxis_transform(),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            color="dimgrey",
            fontsize=9,
            annotation_clip=False,
        )
    axes.set_yscale("log")
    axes.set_xlabel("steps before the end")
    axes.set_ylabel("norm of the gradient")
    whole_numbers(axes)
    axes.margins(x=0.02)
    open_grid(axes)
    add_panel_title(axes, title)
    # As long as the longest dash pattern.
    add_legend(figure, lines, list(map(str, norms)), handlelength=4.0)
    return figure
