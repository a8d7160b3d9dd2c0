"""Bar charts of frequent items, such as words, tags or characters."""

import unicodedata
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kerasrnn.arguments import integer
from kerasrnn.arguments import positive_integer
from kerasrnn.plots.style import BLUE
from kerasrnn.plots.style import add_title
from kerasrnn.plots.style import as_written
from kerasrnn.plots.style import checked_dict
from kerasrnn.plots.style import one_panel
from kerasrnn.plots.style import open_grid
from kerasrnn.plots.style import shortened


def frequency_figure(
    counts: Mapping[Any, int], title: str | None = None, most_common: int = 30
) -> Figure:
    """Draws the counts of the most frequent items.

    There is a horizontal bar for each item, with the most frequent on top, its
    count, and its percentage of the total, including items that are not drawn.

    Args:
        counts: Dictionary of item to count, such as a `collections.Counter` of
            words or part-of-speech tags. Items are shown as strings. Items with
            equal counts keep the order of the dictionary.
        title: Optional string above the bars.
        most_common: Positive integer, the maximum number of bars.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        ValueError: If `counts` is not such a dictionary, a count is negative or
            not an integer, all of them are 0, or `most_common` is not positive.

    Example:

    >>> import collections
    >>> counts = collections.Counter("to be or not to be".split())
    >>> figure = kerasrnn.plots.frequency_figure(counts, most_common=2)
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['2  (33.3 %)', '2  (33.3 %)']
    """
    positive_integer("most_common", most_common)
    items = list(checked_dict("counts", counts))
    values = np.array([integer("a count", counts[x], 0) for x in items])
    if not values.any():
        raise ValueError(
            "`counts` must have at least one count above 0. Received: "
            f"{len(counts)} items, all with count 0."
        )
    order = np.argsort(-values, kind="stable")[:most_common]
    names = [_shown(items[index]) for index in order]
    # An inch for the title, and for ticks and label of the count axis.
    figure, axes = one_panel(6.4, 1.0 + 0.24 * len(names))
    bars = axes.barh(range(len(names)), values[order], height=0.75, color=BLUE)
    total = int(values.sum())
    axes.bar_label(
        bars,
        [f"{x:,}  ({100 * x / total:.1f} %)" for x in values[order]],
        padding=4,
        fontsize=9,
    )
    axes.set_yticks(range(len(names)), names, **as_written(names))
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlabel(f"count, of {total:,} in all")
    axes.xaxis.set_major_locator(
        MaxNLocator(nbins=5, integer=True, min_n_ticks=1)
    )
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_axisbelow(True)
    open_grid(axes, axis="x")
    # Centred on the figure, because names may need much of the width.
    add_title(figure, title)
    return figure


def _shown(item):
    """Returns the name of an item, shortened, with visible white space."""
    name = str(item)
    if name != name.strip() or any(
        unicodedata.category(character) == "Cc" for character in name
    ):
        name = repr(name)
    return shortened(name) or "''"
