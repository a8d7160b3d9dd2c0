"""Hidden states of a recurrent network for a sentence."""

from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from kerasrnn.arguments import string_list
from kerasrnn.optional import needs
from kerasrnn.plots.style import FONT_POINTS
from kerasrnn.plots.style import MAX_INCHES
from kerasrnn.plots.style import POINTS_PER_INCH
from kerasrnn.plots.style import SIGNED
from kerasrnn.plots.style import add_bar
from kerasrnn.plots.style import add_title
from kerasrnn.plots.style import as_written
from kerasrnn.plots.style import checked_by_words
from kerasrnn.plots.style import one_panel
from kerasrnn.plots.style import shortened

SIDE_INCHES = 1.8  # of colour bar and labels, beside the columns


def hidden_state_figure(
    states: ArrayLike, words: Sequence[str], title: str | None = None
) -> Figure:
    """Draws the hidden states of a sentence as a heat map.

    One column for each word, one row for each unit; blue is above 0, red is
    below, white is 0. Rows are ordered so that similar units are adjacent: by
    their angle in the plane of the first two principal components of the
    states. Up to 75 rows are labelled with the number of their unit.

    Args:
        states: Array of shape `(time, units)`, the hidden states of one
            sentence without its padding.
        words: List of `time` strings. Words longer than 32 characters are
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
        - [Friendly, 2002](https://doi.org/10.1198/000313002533), for the order.
    """
    states, words = _checked(states, words)
    time, units = states.shape
    pitch = min(0.36, (MAX_INCHES - SIDE_INCHES) / time)
    width = max(pitch * time, 2.0) + SIDE_INCHES
    figure, axes = one_panel(width, np.clip(0.12 * units, 2.4, 9.0) + 1.0)
    order = _alike_together(states)
    scale = np.abs(states).max() or 1.0
    image = axes.imshow(
        states[:, order].T,
        cmap=SIGNED,
        vmin=-scale,
        vmax=scale,
        aspect="auto",
        interpolation="nearest",
    )
    # Labels do not overlap their neighbours.
    axes.set_xticks(
        range(time),
        words,
        **as_written(words),
        fontsize=min(FONT_POINTS, 0.6 * POINTS_PER_INCH * pitch),
        rotation=45,
        rotation_mode="anchor",
        ha="right",
        va="center",
    )
    shown = units if units <= 75 else 0  # more labels would be illegible
    axes.set_yticks(range(shown), order[:shown].tolist(), fontsize=6.5)
    axes.set_ylabel("unit, similar ones adjacent")
    axes.tick_params(length=0, pad=4)
    axes.spines[:].set_visible(False)
    add_bar(image, axes, "hidden state", pad=0.02)
    add_title(figure, title)
    return figure


def _checked(states, words) -> tuple[np.ndarray, list[str]]:
    states, words = checked_by_words("states", states, words, "(time, units)")
    return states, list(map(shortened, words))


def _alike_together(states):
    """Returns the order of the units by angle, from the widest gap on."""
    _, strengths, directions = np.linalg.svd(states, full_matrices=False)
    # (2, units); the second is all zeros if there is only one word or unit.
    first, second = np.pad(strengths[:, None] * directions, ((0, 1), (0, 0)))[
        :2
    ]
    angles = np.arctan2(second, first)
    order = np.lexsort((first, angles))
    around = np.append(angles[order], angles[order[0]] + 2 * np.pi)
    order = np.roll(order, -1 - np.argmax(np.diff(around)))
    # The signs of principal components are arbitrary, so fix the direction.
    return order if order[0] <= order[-1] else order[::-1]


MIN_WORDS, DOT_POINTS, MAX_MOVES = 4, 6.0, 400
# The light end of viridis is hard to see on white.
POSITION_COLORS = ListedColormap(colormaps["viridis"](np.linspace(0, 0.8, 256)))


def word_map_figure(
    states: ArrayLike,
    words: Sequence[str],
    title: str | None = None,
    seed: int = 0,
) -> Figure:
    """Draws a t-SNE map of the words of a sentence by their hidden states.

    t-SNE maps the states to two dimensions: words are near each other if the
    states after reading them are similar. Distances between groups and
    directions have no meaning, so the axes have no numbers. Each dot is
    labelled with its word, and coloured by its position in the sentence; labels
    that would overlap are moved, and a line connects them to their dot.

    Args:
        states: Array of shape `(time, units)`, the hidden states of one
            sentence without its padding.
        words: List of `time` strings, at least 4. Words longer than 32
            characters are shortened.
        title: Optional string above the map.
        seed: Integer, the seed of t-SNE. Its perplexity is a third of the
            number of words, between 2 and 30.

    Returns:
        A `matplotlib.figure.Figure`.

    Raises:
        ValueError: If the words and the shape of `states` do not agree, a
            state is not finite, or there are fewer than 4 words.

    Example:

    >>> states = np.random.default_rng(0).normal(size=(5, 8))  # (time, units)
    >>> words = "a very good film .".split()
    >>> figure = kerasrnn.plots.word_map_figure(states, words)
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['a', 'very', 'good', 'film', '.']

    References:
        - [van der Maaten and Hinton, 2008](
          https://jmlr.org/papers/v9/vandermaaten08a.html).
    """
    states, words = _checked(states, words)
    string_list("words", words, MIN_WORDS)
    with needs("scikit-learn", "recipes"):
        from sklearn.manifold import TSNE
    points = TSNE(
        # Usually 30, but less for short sentences.
        perplexity=min(max((len(states) - 1) / 3, 2.0), 30.0),
        init="random",  # `pca` fails if all states are equal.
        method="exact",  # A sentence is short.
        random_state=seed,
    ).fit_transform(states)
    side = np.clip(4.0 + 0.06 * len(words), 4.5, 12.0)
    figure = Figure(figsize=(side + 0.8, side), layout="compressed")
    axes = figure.add_subplot()
    dots = axes.scatter(
        points[:, 0],
        points[:, 1],
        s=DOT_POINTS**2,
        c=np.arange(1, len(words) + 1),
        cmap=POSITION_COLORS,
        zorder=4,  # Above the lines to the words.
    )
    # A square with room for the words.
    low, high = points.min(axis=0), points.max(axis=0)
    corners = (low + high) / 2 + 0.62 * (high - low).max() * np.array(
        [[-1, -1], [1, 1]]
    )
    axes.set(xlim=corners[:, 0], ylim=corners[:, 1], xticks=[], yticks=[])
    axes.set_aspect("equal")
    axes.spines[:].set_color("lightgrey")
    ticks = MaxNLocator(nbins=10, integer=True)
    add_bar(dots, axes, "position in the sentence", ticks=ticks, pad=0.02)
    add_title(figure, title)
    _write_words(figure, axes, points, words)
    return figure


def _write_words(figure, axes, points, words):
    style = as_written(words)
    labels = [
        axes.annotate(
            word,
            point,
            xytext=(0.0, 0.0),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=FONT_POINTS,
            **style,
            arrowprops={"arrowstyle": "-", "color": "lightgrey", "shrinkB": 2},
            # Labels are kept inside the axes, whose position must not change
            # now.
            in_layout=False,
        )
        for word, point in zip(words, points, strict=True)
    ]
    figure.draw_without_rendering()
    to_points = POINTS_PER_INCH / figure.dpi
    boxes = [label.get_window_extent().size for label in labels]
    dots = axes.transData.transform(points) * to_points
    frame = axes.get_window_extent().get_points() * to_points
    moved = _apart(dots, np.array(boxes) * to_points + 2.0, frame)
    for label, offset in zip(labels, moved - dots, strict=True):
        label.set_position(offset)


def _apart(dots, sizes, frame):
    """Returns centres of labels near their dots, with few overlaps."""
    count = len(dots)
    # Initially above the dots.
    starts = dots + [0.0, 1.0] * (sizes + DOT_POINTS) / 2
    low, high = frame[0] + sizes / 2, frame[1] - sizes / 2
    centres = np.clip(starts, low, np.maximum(low, high))
    # Distances of labels to all labels and dots: (labels, labels + dots, 2).
    others = np.concatenate([sizes, np.full_like(dots, DOT_POINTS)])
    needed = (sizes[:, None] + others) / 2
    # If two centres are equal, the later one moves up.
    ties = np.sign(np.arange(count)[:, None] - np.arange(2 * count))
    for move in range(MAX_MOVES):
        gaps = centres[:, None] - np.concatenate([centres, dots])
        overlaps = needed - np.abs(gaps)
        clash = (overlaps > 0.01).all(axis=-1)
        clash[np.arange(count), np.arange(count)] = False
        if move > MAX_MOVES / 2:
            clash[:, count:] = False  # A dot may be behind a word.
        if not clash.any():
            break
        # Resolve overlaps in the shorter direction.
        shorter = np.arange(2) == overlaps.argmin(axis=-1)[..., None]
        signs = np.where(gaps == 0.0, ties[..., None], np.sign(gaps))
        moves = np.where(shorter & clash[..., None], signs * overlaps, 0.0)
        centres = centres + 0.5 * moves.sum(axis=1)
        centres = np.clip(centres, low, np.maximum(low, high))
    return centres
