"""Colours, sizes, labels, legends and checks that figures share."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kerasrnn.arguments import string_list
from kerasrnn.plots.fonts import font_family

MAX_CHARACTERS = 32


def shortened(text):
    """Returns a text, shortened to at most 32 characters.

    Args:
        text: String.

    Example:

    >>> shortened("incomprehensible" * 9)
    'incomprehensibleincomprehensibl…'
    """
    if len(text) <= MAX_CHARACTERS:
        return text
    return text[: MAX_CHARACTERS - 1] + "…"


def distinct_labels(texts):
    """Returns shortened texts that stay distinct if possible.

    Texts with a common beginning are cut in the middle.

    Args:
        texts: List of strings.

    Example:

    >>> begin = "customer service department "
    >>> distinct_labels([begin + "number 1", begin + "number 2"])
    ['customer servic…artment number 1', 'customer servic…artment number 2']
    """
    short = list(map(shortened, texts))
    if len(set(short)) == len(set(texts)):
        return short
    half = MAX_CHARACTERS // 2
    return [
        text if text == cut else f"{text[: half - 1]}…{text[-half:]}"
        for text, cut in zip(texts, short, strict=True)
    ]


BLUE, ORANGE = "#1f4fb4", "#e08214"
SIGNED = "RdBu"  # the shades of numbers: blue above 0, red below
# A colour and a marker for each curve. The colours differ in lightness, too,
# for prints in grey.
STYLES = [
    (BLUE, "o"),
    (ORANGE, "s"),
    ("#000000", "^"),  # black
    ("#5cbcf0", "D"),  # sky
    ("#7a0f2e", "v"),  # wine
    ("#c65a9e", "P"),  # pink
    ("#00806a", "X"),  # green
    ("#3b0f70", "*"),  # violet
]
PANEL_INCHES = (5.2, 3.8)
POINTS_PER_INCH = 72.0
FONT_POINTS = 11.0  # of the labels of cells
# Limits the memory of figures with long texts.
MAX_INCHES = 36.0


def as_written(texts):
    """Returns options to draw texts literally, in suitable fonts.

    Args:
        texts: List of strings to draw with these options.

    Returns:
        A dictionary of arguments of `matplotlib.text.Text`.
    """
    return {"family": font_family(texts), "parse_math": False}


def one_panel(width, height):
    """Returns a figure with a size in inches, and its only axes."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def add_title(figure, title):
    """Adds and returns a title above all panels, unless it is `None`."""
    if title is not None:
        return figure.suptitle(title, **as_written([title]))


def add_panel_title(axes, title, **options):
    """Adds a title above one panel, unless it is `None`."""
    if title is not None:
        axes.set_title(title, **as_written([title]), **options)


def open_axes(axes):
    """Removes the frame on the top and on the right."""
    axes.spines[["top", "right"]].set_visible(False)


def open_grid(axes, axis="both"):
    """Removes the frame on the top and on the right, and adds a light grid."""
    open_axes(axes)
    axes.grid(axis=axis, alpha=0.3)


def add_bar(image, axes, label, **options):
    """Adds a colour bar to the right of axes, without a frame."""
    image.figure.colorbar(
        image, ax=axes, label=label, aspect=30, **options
    ).outline.set_visible(False)


def whole_numbers(axes):
    """Numbers the horizontal axis with one or more integers."""
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def add_legend(figure, lines, labels, **options):
    """Adds a legend to the right of the axes.

    Args:
        figure: A `matplotlib.figure.Figure`.
        lines: List of its lines.
        labels: List of strings.
        **options: Other arguments of `Figure.legend`.
    """
    legend = figure.legend(
        lines,
        labels,
        # Eight curves leave no room inside the axes.
        loc="outside right upper",
        frameon=False,
        prop={"family": font_family(labels)},
        **options,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    # The figure grows, so that long names do not squeeze the axes.
    legend_width = legend.get_window_extent().width / figure.dpi
    width, height = PANEL_INCHES
    figure.set_size_inches(width + legend_width, height)


def checked_by_words(
    name, values, words, shape="(time,)"
) -> tuple[np.ndarray, list[str]]:
    """Returns the numbers of words as an array, and the words as a list."""
    words = string_list("words", words, minimum=1)
    values = np.asarray(values, dtype="float64")
    right = values.ndim == len(shape.strip("(,)").split(","))
    if not right or len(values) != len(words) or not values.size:
        raise ValueError(
            f"`{name}` must have the shape {shape}, with one entry for each of "
            f"`words`. Expected: {shape.replace('time', str(len(words)))}. "
            f"Received: {name}.shape={values.shape}"
        )
    if not np.isfinite(values).all():
        raise ValueError(
            f"`{name}` must be finite. Received: "
            f"{np.sum(~np.isfinite(values))} of {values.size} values that are "
            "not."
        )
    return values, words


def checked_dict(name, values, most=None):
    """Returns `values`, or raises `ValueError` unless it is a dictionary.

    Args:
        name: String, the name of the argument.
        values: The argument to check.
        most: Integer, maximum number of items; `None` for any number.
    """
    if not isinstance(values, Mapping):
        raise ValueError(
            f"`{name}` must be a dictionary. Received: {name}={values!r:.200}"
        )
    if not 1 <= len(values) <= (most or len(values)):
        expected = f"1 to {most} items" if most else "at least one item"
        raise ValueError(
            f"`{name}` must have {expected}. Received: {len(values)}"
        )
    return values


def curve(name, values):
    """Returns values as a vector of numbers, or raises `ValueError`."""
    found = np.asarray(values)
    if found.ndim != 1 or not found.size or found.dtype.kind not in "fiu":
        raise ValueError(
            f"A curve must be a list of numbers. Received: {name}={values!r}"
        )
    return found
