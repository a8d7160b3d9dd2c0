import pytest

from kerasrnn.plots import frequency_figure


def widths(figure):
    (axes,) = figure.axes
    return [bar.get_width() for bar in axes.patches]


def names(figure):
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def ends(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_the_most_frequent_is_on_top():
    figure = frequency_figure({"VERB": 2, "NOUN": 5, "ADP": 3})
    assert names(figure) == ["NOUN", "ADP", "VERB"]
    assert widths(figure) == [5, 3, 2]
    figure.draw_without_rendering()
    heights = [
        label.get_window_extent().y0
        for label in figure.axes[0].get_yticklabels()
    ]
    assert heights == sorted(heights, reverse=True)


def test_a_bar_shows_its_count_and_percentage():
    counts = {"the": 1_234_567, "of": 765_433, "rare": 500_000}
    figure = frequency_figure(counts, most_common=2)
    assert ends(figure) == ["1,234,567  (49.4 %)", "765,433  (30.6 %)"]
    assert "2,500,000" in figure.axes[0].get_xlabel()


@pytest.mark.parametrize("most_common, expected", [(1, 1), (30, 30), (99, 40)])
def test_as_many_bars_as_asked_for(most_common, expected):
    counts = {f"word{i}": 40 - i for i in range(40)}
    figure = frequency_figure(counts, most_common=most_common)
    assert len(widths(figure)) == expected


def test_white_space_in_items_is_visible():
    counts = {" ": 9, "\n": 8, "": 7, 3: 6, "$x$": 5, "w" * 50: 4}
    figure = frequency_figure(counts)
    shown = ["' '", r"'\n'", "''", "3", "$x$", "w" * 31 + "…"]
    assert names(figure) == shown
