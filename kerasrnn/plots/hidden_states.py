"""Hidden states of a recurrent network along a sentence."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from kerasrnn.plots.checks import checked_states
from kerasrnn.plots.style import FONT_POINTS
from kerasrnn.plots.style import MAX_INCHES
from kerasrnn.plots.style import POINTS_PER_INCH
from kerasrnn.plots.style import add_title
from kerasrnn.plots.style import as_written

# Heat map: a column for each word, a row for each unit.
WORD_INCHES = 0.36
UNIT_INCHES = 0.12
# Colour bar and labels, beside the columns.
SIDE_INCHES = 1.8
HEIGHT_INCHES = (2.4, 9.0)
# More numbers would not be legible.
MAX_UNIT_NUMBERS = 75


def hidden_state_figure(
    states: ArrayLike, words: Sequence[str], title: str | None = None
) -> Figure:
    """Draws the hidden states of a sentence as a heat map.

    One column for each word, one row for each unit; red is above 0, blue is
    below, white is 0. Rows are ordered so that similar units are adjacent: by
    their angle in the plane of the first two principal components of the
    states. Up to 75 rows are labelled with the number of their unit.

    Args:
        states: Array of shape `(time, units)`, the hidden states of one
            sentence without its padding.
        words: List of `time` strings. Those longer than 32 characters are
            shortened.
        title: Optional string above the heat map.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        ValueError: If the words and the shape of `states` do not agree, or a
            state is not finite.

    Example:

    >>> states = np.array([[0.9, -0.5, 0.8], [0.1, 0.7, 0.2]])  # (time, units)
    >>> figure = kerasrnn.plots.hidden_state_figure(states, ["red", "book"])
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['0', '2', '1']

    References:
        - [Friendly, 2002](https://doi.org/10.1198/000313002533), the order.
    """
    states, words = checked_states(states, words)
    time, units = states.shape
    pitch = min(WORD_INCHES, (MAX_INCHES - SIDE_INCHES) / time)
    width = max(pitch * time, 2.0) + SIDE_INCHES
    height = np.clip(UNIT_INCHES * units, *HEIGHT_INCHES) + 1.0
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    order = _alike_together(states)
    scale = np.abs(states).max() or 1.0
    image = axes.imshow(
        states[:, order].T,
        cmap="RdBu_r",
        vmin=-scale,
        vmax=scale,
        aspect="auto",
        interpolation="nearest",
    )
    _label_axes(axes, words, order, pitch)
    bar = figure.colorbar(
        image, ax=axes, label="hidden state", pad=0.02, aspect=30
    )
    bar.outline.set_visible(False)
    add_title(figure, title)
    return figure


def _alike_together(states):
    """Order of the units by angle, starting after the widest gap."""
    _, strengths, directions = np.linalg.svd(states, full_matrices=False)
    # (2, units), the second all zeros if there is one word or one unit only.
    coordinates = np.zeros((2, states.shape[1]))
    plane = strengths[:2, None] * directions[:2]
    coordinates[: len(plane)] = plane
    angles = np.arctan2(coordinates[1], coordinates[0])
    order = np.lexsort((coordinates[0], angles))
    around = np.append(angles[order], angles[order[0]] + 2 * np.pi)
    order = np.roll(order, -1 - np.argmax(np.diff(around)))
    # Principal components have no sign, so the order may be that or reversed.
    return order if order[0] <= order[-1] else order[::-1]


def _label_axes(axes, words, order, pitch):
    # Labels do not overlap their neighbours.
    axes.set_xticks(
        range(len(words)),
        words,
        **as_written(words),
        fontsize=min(FONT_POINTS, 0.6 * POINTS_PER_INCH * pitch),
        rotation=45,
        rotation_mode="anchor",
        ha="right",
        va="center",
    )
    if len(order) <= MAX_UNIT_NUMBERS:
        axes.set_yticks(range(len(order)), order.tolist(), fontsize=6.5)
    else:
        axes.set_yticks([])
    axes.set_ylabel("unit, similar ones adjacent")
    axes.tick_params(length=0, pad=4)
    axes.spines[:].set_visible(False)
