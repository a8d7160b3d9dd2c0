"""Figures of piano rolls."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from kerasrnn.plots.style import MAX_INCHES
from kerasrnn.plots.style import ORANGE
from kerasrnn.plots.style import add_bar
from kerasrnn.plots.style import add_panel_title
from kerasrnn.plots.style import add_title
from kerasrnn.plots.style import checked_dict
from kerasrnn.plots.style import whole_numbers

MARGIN_KEYS = 2
FIRST_C = 3  # the key of C1; key 0 is A0


def piano_roll_figure(
    rolls: Mapping[str, ArrayLike],
    title: str | None = None,
    given: int | None = None,
) -> Figure:
    """Draws piano rolls below each other, such as a piece and a forecast.

    Time runs to the right and pitch upwards. Darker cells mean more probable
    keys. All panels show the same keys: those with a probability of at least
    0.1 in any panel. There is a colour bar unless all values are 0 or 1.

    Args:
        rolls: Dictionary of name to array of shape `(time, keys)` with values
            from 0 to 1. Key 0 is A0, as on a piano with 88 keys.
        title: Optional string above all panels.
        given: Integer, number of given steps that a model continued. A line
            marks the border. `None` for no line.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        ValueError: If there is no roll, `rolls` is not a dictionary, or the
            shapes do not agree.

    Example:

    >>> roll = np.eye(16, 88, 39)  # a chromatic scale
    >>> rolls = {"piece": roll, "predicted": 0.8 * roll}
    >>> figure = kerasrnn.plots.piano_roll_figure(rolls)
    >>> [axes.get_title("left") for axes in figure.axes[:2]]
    ['piece', 'predicted']
    """
    arrays = _checked(rolls)
    heard = np.concatenate(list(arrays.values())).max(axis=0) >= 0.1
    # The range of keys to show: first, and last plus 1.
    lowest, highest = 0, len(heard)
    if len(keys := np.flatnonzero(heard)):
        lowest = max(0, keys[0] - MARGIN_KEYS)
        highest = min(highest, keys[-1] + 1 + MARGIN_KEYS)
    steps = max(map(len, arrays.values()))
    width = np.clip(0.075 * steps, 4.0, MAX_INCHES) + 1.6
    height = (0.7 + 0.055 * (highest - lowest)) * len(arrays)
    figure = Figure(figsize=(width, height + 0.5), layout="constrained")
    panels = figure.subplots(len(arrays), sharex=True, squeeze=False)[:, 0]
    for axes, (name, roll) in zip(panels, arrays.items(), strict=True):
        image = axes.imshow(
            roll.T,
            aspect="auto",
            origin="lower",
            interpolation="nearest",
            cmap="Blues",
            vmin=0.0,
            vmax=1.0,
        )
        axes.set_ylim(lowest - 0.5, highest - 0.5)
        # Every C, with a line below it.
        octaves = [key for key in range(FIRST_C, highest, 12) if key >= lowest]
        axes.set_yticks(octaves, [f"C{1 + key // 12}" for key in octaves])
        for key in octaves:
            axes.axhline(key - 0.5, color="lightgrey", linewidth=0.5)
        if given is not None:
            axes.axvline(given - 0.5, color=ORANGE)
        add_panel_title(axes, name, loc="left")
    panels[-1].set_xlabel("time step")
    # The panels share the axis, and each image sets it to its own length.
    panels[-1].set_xlim(-0.5, steps - 0.5)
    whole_numbers(panels[-1])
    if any(((roll > 0) & (roll < 1)).any() for roll in arrays.values()):
        add_bar(image, panels, "probability")
    add_title(figure, title)
    return figure


def _checked(rolls):
    """Returns the rolls as arrays, after a check of their shapes."""
    checked_dict("rolls", rolls)
    arrays = {name: np.asarray(roll, "float32") for name, roll in rolls.items()}
    widths = {roll.shape[1:] for roll in arrays.values()}
    shapes = [roll.shape for roll in arrays.values()]
    if len(widths) != 1 or any(len(x) != 2 or 0 in x for x in shapes):
        raise ValueError(
            "`rolls` must have at least one array, all of shape (time, keys) "
            f"with the same keys. Received: shapes {shapes}"
        )
    return arrays
