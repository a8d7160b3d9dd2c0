import numpy as np
import pytest

from kerasrnn.plots import comparison_figure
from kerasrnn.plots import save_figure

HISTORIES = {
    "LSTM": {"loss": [3.0, 2.0, 1.5], "tokens": [1e6, 2e6, 3e6]},
    "RHN": {"loss": [2.5, 1.23456], "tokens": [2e6, 4e6]},
}


def eight_models(epochs=5):
    return {
        f"model {i}": {"loss": list(np.linspace(9.0, i, epochs))}
        for i in range(8)
    }


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_curve_for_each_model():
    figure = comparison_figure(HISTORIES, "loss")
    (axes,) = figure.axes
    assert len(axes.lines) == 2
    for line, history in zip(axes.lines, HISTORIES.values(), strict=True):
        values = history["loss"]
        np.testing.assert_array_equal(
            line.get_xdata(), range(1, len(values) + 1)
        )
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("epoch", "loss")
    # The legend says the last values.
    assert legend(figure) == ["LSTM: 1.5", "RHN: 1.235"]
    colors = [line.get_color() for line in figure.axes[0].lines]
    handles = figure.legends[0].legend_handles
    assert [handle.get_color() for handle in handles] == colors


def test_another_series_may_go_along_the_axis(tmp_path):
    figure = comparison_figure(
        HISTORIES, "loss", "nats", "tokens", "tokens read"
    )
    (axes,) = figure.axes
    for line, history in zip(axes.lines, HISTORIES.values(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), history["tokens"])
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("nats", "tokens read")
    save_figure(figure, tmp_path / "curves.png")
    assert "2M" in [tick.get_text() for tick in axes.get_xticklabels()]


def test_long_curves_have_few_markers_the_ends_among_them():
    for line in comparison_figure(eight_models(300), "loss").axes[0].lines:
        places = line.get_markevery()
        assert len(places) == 20
        assert line.get_marker() in "os^DvPX*"
        assert places[0] == 0 and places[-1] == 299


@pytest.mark.parametrize("length", [1, 60])
def test_the_legend_hides_nothing_and_is_not_cut(length):
    histories = {
        f"{i}" + "m" * length: history
        for i, history in enumerate(eight_models().values())
    }
    figure = comparison_figure(histories, "loss")
    figure.draw_without_rendering()
    (axes,) = figure.axes
    width, height = figure.get_size_inches() * figure.dpi
    box = figure.legends[0].get_window_extent()
    assert not box.overlaps(axes.get_tightbbox())
    assert box.x1 <= width and box.y0 >= 0 and box.y1 <= height
    assert axes.get_window_extent().width > 4 * figure.dpi


def test_names_are_shown_as_they_are(tmp_path):
    histories = {name: {"loss": [1.0]} for name in ("_a", "$b$", "हिन्दी")}
    figure = comparison_figure(histories, "loss")
    assert legend(figure) == ["_a: 1", "$b$: 1", "हिन्दी: 1"]
    for text in figure.legends[0].get_texts():
        assert not text.get_parse_math()
    save_figure(figure, tmp_path / "curves.png")  # A missing glyph warns.
