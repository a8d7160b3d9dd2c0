import numpy as np
import pytest

from kerasrnn.plots import word_weight_figure

WORDS = "the film was not as bad as I had feared it .".split()


def many_words(count):
    return (WORDS * (count // len(WORDS) + 1))[:count]


def boxes(figure):
    """The backgrounds, in the order of the words, in inches."""
    figure.draw_without_rendering()
    return [
        patch.get_window_extent().transformed(figure.dpi_scale_trans.inverted())
        for patch in figure.axes[0].patches
    ]


def colors(figure):
    return [patch.get_facecolor() for patch in figure.axes[0].patches]


@pytest.mark.parametrize("count, width", [(1, 12), (120, 3), (150, 12)])
def test_the_text_is_whole_and_in_order(count, width):
    words = many_words(count)
    figure = word_weight_figure(np.ones(count), words, width=width)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == words
    places = boxes(figure)
    assert len(places) == count
    for before, after in zip(places[:-1], places[1:], strict=True):
        same_line = np.isclose(before.y0, after.y0)
        if same_line:
            assert before.x1 < after.x0
        else:
            assert after.y1 < before.y0
            assert np.isclose(after.x0, places[0].x0)
            # The word had no room in the line above.
            assert before.x1 + after.width > width - 0.4
    assert figure.get_figwidth() == width
    assert min(box.x0 for box in places) >= 0.0
    assert max(box.x1 for box in places) <= width
    assert places[0].y1 <= figure.get_figheight()
    legend = figure.axes[1].get_tightbbox()
    assert 0 <= legend.y0 and legend.y1 < places[-1].y0 * figure.dpi


def test_a_word_longer_than_a_line_is_shortened():
    words = ["so", "long" * 60, "…" * 60, "."]
    figure = word_weight_figure(np.ones(4), words, width=4)
    _, long, dots, _ = [text.get_text() for text in figure.axes[0].texts]
    assert long.startswith("longlong") and long.endswith("…")
    assert dots == "…" * len(dots)
    for text, box in zip(figure.axes[0].texts, boxes(figure), strict=True):
        assert box.x1 <= 4.0
        assert text.get_window_extent().width < box.width * figure.dpi
    assert boxes(figure)[1].width > 3.0


def test_shades_are_measured_by_the_greatest_weight():
    shades = colors(word_weight_figure([0.0, 0.01, 0.02, 0.04], WORDS[:4]))
    assert shades[0] == (1.0, 1.0, 1.0, 1.0)
    luminances = [np.dot(shade[:3], [0.2, 0.7, 0.1]) for shade in shades]
    assert (np.diff(luminances) < 0.0).all()
    again = colors(word_weight_figure([0.0, 1.0, 2.0, 4.0], WORDS[:4]))
    np.testing.assert_allclose(shades, again, atol=0.01)


def test_negative_weights_are_red_and_positive_ones_blue():
    shades = colors(word_weight_figure([-0.5, 0.0, 0.5, 1.0], WORDS[:4]))
    assert shades[0][0] > shades[0][2]
    np.testing.assert_allclose(shades[1], 1.0, atol=0.01)
    assert shades[2][2] > shades[2][0]
    # A weight looks the same whether or not others are negative.
    unsigned = colors(word_weight_figure([0.0, 0.0, 0.5, 1.0], WORDS[:4]))
    np.testing.assert_allclose(shades[2:], unsigned[2:], atol=0.01)


@pytest.mark.parametrize(
    "weights, ticks",
    [
        ([0.0, 0.2], ["0", "0.1", "0.2"]),
        ([-0.5, 0.2], ["-0.5", "0", "0.5"]),
        ([0.0, 0.0], ["0", "0.5", "1"]),
        ([-3, -2], ["-3", "0", "3"]),
    ],
)
def test_the_legend_says_what_the_shades_mean(weights, ticks):
    figure = word_weight_figure(weights, ["a", "b"])
    figure.draw_without_rendering()
    legend = figure.axes[1]
    assert legend.get_xlabel() == "weight"
    labels = [label.get_text() for label in legend.get_xticklabels()]
    assert [label.replace("\N{MINUS SIGN}", "-") for label in labels] == ticks


def test_a_line_break_in_a_word_is_a_space():
    figure = word_weight_figure([1.0], ["two\nlines"])
    assert figure.axes[0].texts[0].get_text() == "two lines"
