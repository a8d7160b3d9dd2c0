"""Matrices as heat maps with numbers."""

from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from kerasrnn.arguments import string_list
from kerasrnn.plots.style import POINTS_PER_INCH
from kerasrnn.plots.style import SIGNED
from kerasrnn.plots.style import add_bar
from kerasrnn.plots.style import add_panel_title
from kerasrnn.plots.style import as_written
from kerasrnn.plots.style import distinct_labels
from kerasrnn.plots.style import one_panel


def matrix_figure(
    values: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    row_title: str,
    column_title: str,
    title: str | None = None,
) -> Figure:
    """Draws a matrix, such as a confusion matrix or tag transitions.

    Without negative values, darker cells are larger fractions of their row
    (floats up to 1 are taken as fractions). Otherwise, blue is positive and red
    is negative. Cells with 0 have no number. NaN is grey.

    Args:
        values: Array of shape `(rows, columns)`, of integers or floats.
        rows: List of strings.
        columns: List of strings.
        row_title: String, title of the rows.
        column_title: String, title of the columns.
        title: Optional string above the matrix.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        ValueError: If the shape of `values` and the labels do not agree, or a
            label is not a string.

    Example:

    >>> counts = [[9, 1], [0, 5]]
    >>> names = ["PER", "LOC"]
    >>> figure = matrix_figure(counts, names, names, "true", "predicted")
    >>> figure.axes[0].get_xlabel()
    'predicted'
    """
    values = np.asarray(values)
    rows = distinct_labels(string_list("rows", rows))
    columns = distinct_labels(string_list("columns", columns))
    if values.shape != (len(rows), len(columns)) or not values.size:
        raise ValueError(
            "`values` must have a row and a column for each label, and at "
            f"least one of each. Expected: {(len(rows), len(columns))}. "
            f"Received: values.shape={values.shape}"
        )
    count = max(values.shape)
    cell = np.clip(9.0 / count, min(0.12, 30.0 / count), 0.5)
    figure, axes = one_panel(cell * len(columns) + 2.5, cell * len(rows) + 1.8)
    finite = np.nan_to_num(values.astype("float64"))
    shades, limit, colors, meaning = values, None, "Blues", None
    if finite.min() < 0:
        limit, colors = np.abs(finite).max(), SIGNED
    elif values.dtype.kind != "f" or finite.max() > 1:  # no shares yet
        total = np.maximum(finite.sum(axis=1, keepdims=True), 1e-12)
        shades, meaning = values / total, "share of the row"
    image = axes.imshow(
        shades,
        cmap=colormaps[colors].with_extremes(bad="lightgrey"),
        vmin=-limit if limit else 0.0,
        vmax=limit or 1.0,
    )
    for labels, ticks in ((rows, axes.set_yticks), (columns, axes.set_xticks)):
        ticks(range(len(labels)), labels, **as_written(labels))
    axes.tick_params(axis="x", rotation=90)
    # Labels do not overlap their neighbours.
    size = min(10.0, 0.6 * POINTS_PER_INCH * cell)
    axes.tick_params(length=0, labelsize=size)
    axes.set_ylabel(row_title, **as_written([row_title]))
    axes.set_xlabel(column_title, **as_written([column_title]))
    axes.spines[:].set_visible(False)
    add_panel_title(axes, title)
    add_bar(image, axes, meaning, pad=0.02)
    if cell >= 0.3:  # then numbers are legible
        _write_numbers(axes, values, image.to_rgba(shades)[..., :3])
    return figure


def _write_numbers(axes, values, shades):
    # Black or white, what can be read on each shade.
    luminance = shades**2.2 @ [0.2126, 0.7152, 0.0722]
    colors = np.where(luminance > 0.18, "black", "white")
    for (row, column), value in np.ndenumerate(values):
        if value and np.isfinite(value):
            whole = np.issubdtype(values.dtype, np.integer) or abs(value) >= 10
            axes.text(
                column,
                row,
                f"{value:.0f}" if whole else f"{value:.2g}",
                ha="center",
                va="center",
                fontsize=7,
                color=colors[row, column],
            )
