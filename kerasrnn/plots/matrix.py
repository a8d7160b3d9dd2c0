"""A matrix of numbers as a heat map with its numbers."""

from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from kerasrnn.arguments import string_list
from kerasrnn.plots.style import POINTS_PER_INCH
from kerasrnn.plots.style import add_panel_title
from kerasrnn.plots.style import as_written
from kerasrnn.plots.style import distinct_labels

_CELL_INCHES = 0.5
_MAX_INCHES = 30.0
_LABEL_POINTS = 10.0
_LABEL_SHARE = 0.6  # of the height of a row, where rows are low
_MOST_NUMBERS = 30  # columns beside which numbers are still legible


def matrix_figure(
    values: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    row_title: str,
    column_title: str,
    title: str | None = None,
) -> Figure:
    """Draws a matrix, such as a confusion matrix or transitions of tags.

    If no value is negative, darker cells are larger shares of their row, and
    floats up to 1 are such shares themselves; otherwise blue is above 0 and red
    below. Cells of 0 have no number. NaN is grey.

    Args:
        values: Array of shape `(rows, columns)`, of integers or floats.
        rows: List of strings.
        columns: List of strings.
        row_title: String, what the rows are.
        column_title: String, what the columns are.
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
            "`values` must have a row and a column for each label, here "
            f"{(len(rows), len(columns))}, and at least one. "
            f"Received: values.shape={values.shape}"
        )
    cell = min(_CELL_INCHES, _MAX_INCHES / max(values.shape))
    figure = Figure(
        figsize=(cell * len(columns) + 2.5, cell * len(rows) + 1.8),
        layout="constrained",
    )
    axes = figure.add_subplot()
    shades, limit, colors = _shades(values)
    axes.imshow(
        shades,
        cmap=colormaps[colors].with_extremes(bad="lightgrey"),
        vmin=-limit if limit else 0.0,
        vmax=limit or 1.0,
    )
    for labels, ticks in ((rows, axes.set_yticks), (columns, axes.set_xticks)):
        ticks(range(len(labels)), labels, **as_written(labels))
    size = min(_LABEL_POINTS, _LABEL_SHARE * POINTS_PER_INCH * cell)
    axes.tick_params(axis="x", rotation=90)
    axes.tick_params(length=0, labelsize=size)
    axes.set_ylabel(row_title, **as_written([row_title]))
    axes.set_xlabel(column_title, **as_written([column_title]))
    axes.spines[:].set_visible(False)
    add_panel_title(axes, title)
    if len(columns) <= _MOST_NUMBERS:
        _write_numbers(axes, values, shades / (limit or 1.0))
    return figure


def _shades(values):
    """Returns what to colour, the limit of colours on both sides, and them."""
    finite = np.nan_to_num(values.astype("float64"))
    if finite.min() < 0:
        return values, np.abs(finite).max(), "RdBu"
    if values.dtype.kind == "f" and finite.max() <= 1:
        return values, None, "Blues"
    total = np.maximum(finite.sum(axis=1, keepdims=True), 1e-12)
    return values / total, None, "Blues"


def _write_numbers(axes, values, shades):
    for row, column in np.ndindex(*values.shape):
        value = values[row, column]
        if value and np.isfinite(value):
            whole = np.issubdtype(values.dtype, np.integer) or abs(value) >= 10
            dark = abs(shades[row, column]) > 0.6
            axes.text(
                column,
                row,
                f"{value:.0f}" if whole else f"{value:.2g}",
                ha="center",
                va="center",
                fontsize=7,
                color="white" if dark else "black",
            )
