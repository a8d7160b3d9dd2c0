"""What the figures share: colours, sizes, titles, axes and legends."""

from kerasrnn.plots.fonts import font_family

# A colour and a marker for each curve. The colours differ in lightness, too,
# for prints in grey.
STYLES = [
    ("#1f4fb4", "o"),  # blue
    ("#e08214", "s"),  # orange
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
# Bounds the memory of a figure, however long its texts are.
MAX_INCHES = 36.0


def as_written(texts):
    """Returns options that draw texts as they are, in fonts that have them.

    Args:
        texts: List of strings, which are drawn with these options.

    Returns:
        A dictionary of arguments of `matplotlib.text.Text`.
    """
    return {"family": font_family(texts), "parse_math": False}


def add_title(figure, title):
    """Adds a title above all panels, unless it is `None`, and returns it."""
    if title is None:
        return None
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


def add_legend(figure, lines, labels, **options):
    """Adds a legend beside the axes of a figure of `PANEL_INCHES`.

    Args:
        figure: A `matplotlib.figure.Figure`.
        lines: List of its lines.
        labels: List of strings.
        **options: Other arguments of `Figure.legend`.
    """
    legend = figure.legend(
        lines,
        labels,
        # Eight curves leave no room inside.
        loc="outside right upper",
        frameon=False,
        prop={"family": font_family(labels)},
        **options,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    # The figure grows, so that long names do not squeeze the curves.
    legend_width = legend.get_window_extent().width / figure.dpi
    width, height = PANEL_INCHES
    figure.set_size_inches(width + legend_width, height)
