"""Panels of different sizes in one figure, with room for their labels."""

import math

import numpy as np

GAP_INCHES = 0.3
BAR_LABEL_INCHES = 0.75


def arrange(figure, panels, bar, title, columns):
    """Places panels, colour bar and title, and sets the size of the figure.

    The labels of a panel have the same size wherever the panel is. They are
    measured first; then rows and columns are sized to fit them, so that no
    panel is squeezed and no label is cut.

    Args:
        figure: A `matplotlib.figure.Figure` of one inch by one inch, on which
            the positions of axes are their sizes in inches.
        panels: List of axes, row by row.
        bar: The axes of the colour bar, placed to the right of the first row.
        title: The text above all panels, or `None`.
        columns: Positive integer, the number of panels side by side.
    """
    rows = math.ceil(len(panels) / columns)
    sizes = np.zeros((rows, columns, 5))
    for index, axes in enumerate(panels):
        sizes[divmod(index, columns)] = _measure(axes)
    before, across, after, above, down = np.moveaxis(sizes, -1, 0)
    title_width, title_height = _measure_title(title)
    bar_across, bar_down = bar.get_position().size

    lefts, right = _starts(before.max(axis=0), (across + after).max(axis=0))
    tops, bottom = _starts(above.max(axis=1), down.max(axis=1), title_height)
    bar_left = right + GAP_INCHES
    # At most as tall as the panels, unless that leaves no room for its label.
    bar_down = min(bar_down, max(bottom - tops[0], 0.5 * bar_down))
    content = bar_left + bar_across + BAR_LABEL_INCHES
    width = max(content, title_width) + GAP_INCHES
    height = max(bottom, tops[0] + bar_down) + GAP_INCHES
    figure.set_size_inches(width, height)

    # Under a title that is wider, the panels are centred.
    shift = 0.5 * (width - GAP_INCHES - content)
    for index, axes in enumerate(panels):
        row, column = divmod(index, columns)
        corner = lefts[column] + shift, tops[row]
        _put(axes, corner, (across[row, column], down[row, column]))
    _put(bar, (bar_left + shift, tops[0]), (bar_across, bar_down))
    if title is not None:
        title.set(y=1.0 - 0.7 * GAP_INCHES / height, va="top")


def _measure(axes):
    """Inches before, across and after the cells, then above and down."""
    across, down = axes.get_position().size
    left, _, right, top = axes.get_tightbbox().extents / axes.figure.dpi
    return -left, across, right - across, top - down, down


def _measure_title(title):
    """Inches across and down, with the gaps of the title."""
    if title is None:
        return 0.0, 0.0
    width, height = title.get_window_extent().size / title.figure.dpi
    return width + GAP_INCHES, height + 0.5 * GAP_INCHES


def _starts(leads, bodies, offset=0.0):
    """Where each body starts, after a gap and its lead; where the last ends."""
    ends = offset + np.cumsum(GAP_INCHES + leads + bodies)
    return ends - bodies, ends[-1]


def _put(axes, corner, size):
    """Places axes by inches from the left and from the top of the figure."""
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
