"""Heat maps of attention weights."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from kerasrnn.arguments import check_shape
from kerasrnn.arguments import positive_integer
from kerasrnn.arguments import string_list
from kerasrnn.plots.style import FONT_POINTS
from kerasrnn.plots.style import MAX_INCHES
from kerasrnn.plots.style import POINTS_PER_INCH
from kerasrnn.plots.style import add_title
from kerasrnn.plots.style import as_written
from kerasrnn.plots.style import shortened

GAP_INCHES = 0.3


def arrange(figure, panels, bar, title, columns):
    """Arranges panels, colour bar and title, and sets the figure size.

    The labels have a fixed size and are measured first. Then rows and columns
    are sized to fit them, so that no panel is squeezed and no label is cut.

    Args:
        figure: A `matplotlib.figure.Figure` of one inch by one inch, so that
            the positions of axes are in inches.
        panels: List of axes, row by row.
        bar: The axes of the colour bar, to the right of the first row.
        title: The text above all panels, or `None`.
        columns: Positive integer, the number of panels side by side.
    """
    sizes = np.zeros((math.ceil(len(panels) / columns), columns, 5))
    for index, axes in enumerate(panels):
        sizes[divmod(index, columns)] = _measure(axes)
    before, across, after, above, down = np.moveaxis(sizes, -1, 0)
    title_width = title_height = 0.0
    if title is not None:
        extent = title.get_window_extent().size / figure.dpi
        title_width, title_height = extent + [GAP_INCHES, 0.5 * GAP_INCHES]
    bar_across, bar_down = bar.get_position().size

    lefts, right = _starts(before.max(axis=0), (across + after).max(axis=0))
    tops, bottom = _starts(above.max(axis=1), down.max(axis=1), title_height)
    bar_left = right + GAP_INCHES
    # At most as tall as the panels, unless its label needs more room.
    bar_down = min(bar_down, max(bottom - tops[0], 0.5 * bar_down))
    content = bar_left + bar_across + 0.75  # its label
    width = max(content, title_width) + GAP_INCHES
    height = max(bottom, tops[0] + bar_down) + GAP_INCHES
    figure.set_size_inches(width, height)

    # The panels are centred below a wider title.
    shift = 0.5 * (width - GAP_INCHES - content)
    for index, axes in enumerate(panels):
        row, column = divmod(index, columns)
        corner = lefts[column] + shift, tops[row]
        _put(axes, corner, (across[row, column], down[row, column]))
    _put(bar, (bar_left + shift, tops[0]), (bar_across, bar_down))
    if title is not None:
        title.set(y=1.0 - 0.7 * GAP_INCHES / height, va="top")


def _measure(axes):
    """Returns inches left of, across, right of, above and down the cells."""
    across, down = axes.get_position().size
    left, _, right, top = axes.get_tightbbox().extents / axes.figure.dpi
    return -left, across, right - across, top - down, down


def _starts(leads, bodies, offset=0.0):
    """Returns the start of each body after its lead, and the last end."""
    ends = offset + np.cumsum(GAP_INCHES + leads + bodies)
    return ends - bodies, ends[-1]


def _put(axes, corner, size):
    """Places axes, in inches from the left and top of the figure."""
    width, height = axes.figure.get_size_inches()
    left, top = corner
    across, down = size
    axes.set_position(
        (
            left / width,
            1.0 - (top + down) / height,
            across / width,
            down / height,
        )
    )


COLORS = colormaps["Blues"].with_extremes(bad="lightgrey")


def attention_figure(
    weights: ArrayLike,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str],
    title: str | None = None,
) -> Figure:
    """Draws the attention of each target token over the source sentence.

    Rows are target tokens, columns are source tokens, and darker cells mean
    larger weights. The figure grows with the number of tokens, and each axis
    has a font for its script. Tokens longer than 32 characters are shortened.

    Args:
        weights: Array of shape `(targets, sources)`, the attention weights of
            one sentence without its padding. NaN is drawn in grey.
        source_tokens: List of `sources` strings.
        target_tokens: List of `targets` strings.
        title: Optional string above the heat map.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        ValueError: If the tokens and the shape of `weights` do not agree.

    Example:

    >>> weights = np.array([[0.9, 0.1], [0.2, 0.8]])  # (targets, sources)
    >>> source, target = ["red", "book"], ["लाल", "किताब"]
    >>> figure = kerasrnn.plots.attention_figure(weights, source, target)
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['लाल', 'किताब']

    References:
        - [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473), figure 3.
    """
    return attention_grid(
        [(weights, source_tokens, target_tokens)], columns=1, title=title
    )


def attention_grid(
    sentences: Sequence[tuple[ArrayLike, Sequence[str], Sequence[str]]],
    columns: int = 2,
    title: str | None = None,
) -> Figure:
    """Draws the attention of several sentences in one figure.

    The panels share one colour scale. See `attention_figure` for a panel.

    Args:
        sentences: List of tuples `(weights, source_tokens, target_tokens)`,
            the arguments of `attention_figure`, with weights of shape
            `(targets, sources)` that may differ from sentence to sentence.
        columns: Positive integer, the number of panels side by side.
        title: Optional string above all panels.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        ValueError: If there is no sentence, `columns` is not positive, or the
            tokens and the shape of some weights do not agree.

    Example:

    >>> sentence = (np.eye(2), ["red", "book"], ["लाल", "किताब"])
    >>> figure = kerasrnn.plots.attention_grid([sentence] * 4, columns=2)
    >>> len(figure.axes)  # four panels and a colour bar
    5
    """
    sentences = [_checked(*sentence) for sentence in sentences]
    if not sentences:
        raise ValueError("`sentences` must not be empty. Received: none")
    columns = min(positive_integer("columns", columns), len(sentences))
    # On a figure of one inch, positions are in inches until it is resized.
    figure = Figure(figsize=(1.0, 1.0))
    scale = max(np.nanmax(weights, initial=0) for weights, *_ in sentences)
    # The size of a cell is the same in all panels.
    sources = [len(tokens) for _, tokens, _ in sentences]
    targets = [len(tokens) for _, _, tokens in sentences]
    across = sum(max(sources[index::columns]) for index in range(columns))
    starts = range(0, len(targets), columns)
    down = sum(max(targets[start : start + columns]) for start in starts)
    cell = min(0.36, MAX_INCHES / max(across, down))
    panels = [
        _draw_panel(figure, *sentence, scale or 1.0, cell)
        for sentence in sentences
    ]
    bar = figure.colorbar(
        panels[0].images[0],
        cax=figure.add_axes((0.0, 0.0, 0.15, 3.0)),
        label="attention weight",
    )
    bar.outline.set_visible(False)
    arrange(figure, panels, bar.ax, add_title(figure, title), columns)
    return figure


def _checked(weights, source_tokens, target_tokens):
    """Returns the arguments as an array and two lists, after checks."""
    tokens = (
        string_list("source_tokens", source_tokens, minimum=1),
        string_list("target_tokens", target_tokens, minimum=1),
    )
    weights = np.asarray(weights, dtype="float32")
    sources, targets = map(len, tokens)
    check_shape("weights", weights, (targets, sources))
    return weights, *(list(map(shortened, x)) for x in tokens)


def _draw_panel(figure, weights, source_tokens, target_tokens, scale, cell):
    targets, sources = weights.shape
    axes = figure.add_axes((0.0, 0.0, cell * sources, cell * targets))
    axes.imshow(weights, cmap=COLORS, vmin=0.0, vmax=scale, aspect="auto")
    # Small enough that labels do not overlap.
    size = min(FONT_POINTS, 0.6 * POINTS_PER_INCH * cell)
    axes.xaxis.tick_top()
    axes.set_xticks(
        range(sources),
        source_tokens,
        **as_written(source_tokens),
        fontsize=size,
        rotation=45,
        rotation_mode="anchor",
        ha="left",
        va="center",
    )
    axes.set_yticks(
        range(targets),
        target_tokens,
        **as_written(target_tokens),
        fontsize=size,
    )
    # White lines between the cells.
    axes.set_xticks(np.arange(0.5, sources - 1), minor=True)
    axes.set_yticks(np.arange(0.5, targets - 1), minor=True)
    axes.grid(which="minor", color="white", linewidth=1.0)
    axes.tick_params(which="both", length=0, pad=5)
    axes.spines[:].set_visible(False)
    return axes
