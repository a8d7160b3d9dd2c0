"""Text with words highlighted by weights."""

from collections.abc import Sequence

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from numpy.typing import ArrayLike

from kerasrnn.arguments import number
from kerasrnn.plots.style import POINTS_PER_INCH
from kerasrnn.plots.style import add_panel_title
from kerasrnn.plots.style import as_written
from kerasrnn.plots.style import checked_by_words

# In points: height of a line, height of a box, padding of a word, margin.
LINE_PITCH, BOX_HEIGHT, PADDING, MARGIN = 23.0, 19.0, 2.5, 12.0
LEGEND_HEIGHT = 52.0


def word_weight_figure(
    weights: ArrayLike,
    words: Sequence[str],
    title: str | None = None,
    width: float = 12,
) -> Figure:
    """Draws a text with words highlighted by their weights.

    Larger weights have a bluer background, and negative weights are red. The
    largest absolute weight has the full colour, as shown in the legend below
    the text.

    Args:
        weights: Array of shape `(time,)`: for example attention weights, or
            contributions of words to a prediction, which may be negative.
        words: List of `time` strings, hundreds at most.
        title: Optional string above the text.
        width: Number, the width of the figure in inches, at least 2. Words
            longer than a line are shortened.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        ValueError: If the words and the shape of `weights` do not agree, a
            weight is not finite, or `width` is less than 2.

    Example:

    >>> weights = np.array([0.1, 0.2, 0.7])  # (time,)
    >>> words = ["a", "good", "film"]
    >>> figure = kerasrnn.plots.word_weight_figure(weights, words)
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['a', 'good', 'film']
    """
    weights, words = checked_by_words("weights", weights, words)
    number("width", width, minimum=2)  # inches
    scale = np.abs(weights).max() or 1.0
    signed = (weights < 0.0).any()
    # Black text is legible on both colours.
    shades = ["#f0705f", "white", "#4f9be8"][not signed :]
    colors = ScalarMappable(
        Normalize(-scale if signed else 0.0, scale),
        LinearSegmentedColormap.from_list("weights", shades),
    )
    figure = Figure(figsize=(width, 1.0))
    across = POINTS_PER_INCH * width
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    lines = _write_words(figure, axes, words, colors.to_rgba(weights), across)
    top = MARGIN if title is None else MARGIN + 25.0
    down = top + LINE_PITCH * lines + LEGEND_HEIGHT
    figure.set_size_inches(width, down / POINTS_PER_INCH)
    # The axes cover the figure; units are points, and the first line is at 0.
    axes.set(xlim=(0.0, across), ylim=(down - top, -top))
    # A colour bar at the lower left.
    bar_across, bar_down = min(200.0, across - 4 * MARGIN), 9.0
    rectangle = (
        2 * MARGIN / across,
        (LEGEND_HEIGHT - MARGIN - bar_down) / down,
        bar_across / across,
        bar_down / down,
    )
    bar = figure.colorbar(
        colors,
        cax=figure.add_axes(rectangle),
        orientation="horizontal",
        # Labelled with the largest weight, which sets the scale.
        ticks=np.linspace(*colors.get_clim(), 3),
        format="{x:.3g}",
    )
    bar.outline.set_edgecolor("lightgrey")
    bar.ax.tick_params(labelsize=8, length=2)
    bar.set_label("weight", fontsize=9, labelpad=1)
    add_panel_title(
        axes,
        title,
        fontsize=13,
        loc="left",
        x=MARGIN / across,
        y=1.0 - MARGIN / down,
        pad=0.0,
        va="top",
    )
    return figure


def _write_words(figure, axes, words, colors, across):
    """Draws the words in lines downwards; returns the number of lines."""
    style = as_written(words)
    room = across - 2 * MARGIN
    left, line = MARGIN, 0
    for word, color in zip(words, colors, strict=True):
        text = axes.text(
            0.0,
            0.0,
            " ".join(word.split()),  # A line break would not fit the box.
            fontsize=12,
            **style,
            ha="center",
            va="center_baseline",
        )
        box = _fit(figure, text, room - 2 * PADDING) + 2 * PADDING
        if left + box > across - MARGIN:
            left, line = MARGIN, line + 1
        middle = LINE_PITCH * (line + 0.5)
        text.set_position((left + box / 2, middle))
        axes.add_patch(
            FancyBboxPatch(
                (left, middle - BOX_HEIGHT / 2),
                box,
                BOX_HEIGHT,
                boxstyle="round,pad=0,rounding_size=3",
                facecolor=color,
                edgecolor="none",
            )
        )
        left += box + 2.0
    return line + 1


def _fit(figure, text, room):
    """Shortens a text to the available width; returns its width."""
    to_points = POINTS_PER_INCH / figure.dpi
    while (width := text.get_window_extent().width * to_points) > room:
        word = text.get_text().removesuffix("…")
        kept = min(int(len(word) * room / width), len(word) - 1)
        text.set_text(word[:kept] + "…")
    return width
