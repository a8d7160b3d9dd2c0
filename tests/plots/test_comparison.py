import numpy as np
import pytest
from matplotlib.colors import to_rgb

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
    (axes,) = comparison_figure(HISTORIES, "loss").axes
    assert len(axes.lines) == 2
    for line, history in zip(axes.lines, HISTORIES.values(), strict=True):
        values = history["loss"]
        np.testing.assert_array_equal(
            line.get_xdata(), range(1, len(values) + 1)
        )
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert axes.get_xlabel() == "epoch"
    assert axes.get_ylabel() == "loss"


def test_the_legend_says_the_last_values():
    figure = comparison_figure(HISTORIES, "loss")
    assert legend(figure) == ["LSTM: 1.5", "RHN: 1.235"]
    colors = [line.get_color() for line in figure.axes[0].lines]
    handles = figure.legends[0].legend_handles
    assert [handle.get_color() for handle in handles] == colors


def test_another_series_may_go_along_the_axis(tmp_path):
    figure = comparison_figure(HISTORIES, "loss", x="tokens")
    (axes,) = figure.axes
    for line, history in zip(axes.lines, HISTORIES.values(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), history["tokens"])
    assert axes.get_xlabel() == "tokens"
    save_figure(figure, tmp_path / "curves.png")
    assert "2M" in [tick.get_text() for tick in axes.get_xticklabels()]


def test_small_numbers_along_the_axis_stay_as_they_are(tmp_path):
    figure = comparison_figure(
        {"LSTM": {"loss": [2.0, 1.0], "hours": [0.0, 0.5]}}, "loss", x="hours"
    )
    save_figure(figure, tmp_path / "curves.png")
    ticks = [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    assert "0.5" in ticks


def test_axes_may_be_given_names():
    (axes,) = comparison_figure(
        HISTORIES, "loss", label="nats", x="tokens", x_label="tokens read"
    ).axes
    assert axes.get_ylabel() == "nats"
    assert axes.get_xlabel() == "tokens read"


def test_epochs_are_whole_numbers(tmp_path):
    figure = comparison_figure({"LSTM": {"loss": [2.0, 1.0]}}, "loss")
    save_figure(figure, tmp_path / "curves.png")
    low, high = figure.axes[0].get_xlim()
    ticks = figure.axes[0].get_xticks()
    assert [tick for tick in ticks if low <= tick <= high] == [1.0, 2.0]


def lightness(color):
    """L* of CIE 1976, from 0 (black) to 100, which is all a copier sees."""
    channels = np.array(to_rgb(color))
    linear = np.where(
        channels <= 0.04045,
        channels / 12.92,
        ((channels + 0.055) / 1.055) ** 2.4,
    )
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    return 116 * np.cbrt(luminance) - 16 if luminance > 0.0089 else 0.0


def test_eight_models_differ_in_colour_lightness_and_marker():
    lines = comparison_figure(eight_models(), "loss").axes[0].lines
    assert len({line.get_marker() for line in lines}) == 8
    levels = sorted(lightness(line.get_color()) for line in lines)
    assert min(np.diff(levels)) > 5
    assert levels[-1] < 80  # seen on white


def test_long_curves_have_few_markers_the_ends_among_them():
    for line in comparison_figure(eight_models(300), "loss").axes[0].lines:
        places = line.get_markevery()
        assert len(places) == 20
        assert places[0] == 0 and places[-1] == 299


def test_a_single_epoch_is_a_visible_marker():
    (axes,) = comparison_figure({"LSTM": {"loss": [2.0]}}, "loss").axes
    assert axes.lines[0].get_markevery() == [0]
    assert axes.lines[0].get_marker() not in ("", " ", "None")


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


@pytest.mark.parametrize("histories", [[1.0], None, {"LSTM": [1.0, 2.0]}])
def test_what_are_no_histories_is_an_error(histories):
    with pytest.raises(ValueError, match=r"`histories` must be .*Received"):
        comparison_figure(histories, "loss")


@pytest.mark.parametrize("count", [0, 9])
def test_one_model_to_eight(count):
    histories = {i: {"loss": [1.0]} for i in range(count)}
    with pytest.raises(ValueError, match=f"1 to 8 .*Received: {count}$"):
        comparison_figure(histories, "loss")


@pytest.mark.parametrize("x", [None, "tokens"])
def test_a_model_without_the_metric_is_named(x):
    histories = HISTORIES | {"GRU": {"bleu": [1.0], "tokens": [1]}}
    with pytest.raises(ValueError, match=r"'loss'.*'GRU' lacks.*\['bleu', "):
        comparison_figure(histories, "loss", x=x)


def test_a_model_without_the_axis_is_named():
    histories = HISTORIES | {"GRU": {"loss": [1.0]}}
    with pytest.raises(ValueError, match=r"'tokens'.*'GRU' lacks.*\['loss'\]"):
        comparison_figure(histories, "loss", x="tokens")


def test_axis_and_metric_must_be_equally_long():
    histories = {"GRU": {"loss": [1.0, 2.0], "tokens": [1]}}
    with pytest.raises(ValueError, match="Received: 1 and 2 for .*'GRU'"):
        comparison_figure(histories, "loss", x="tokens")


@pytest.mark.parametrize("values", [[], 1.0, [[1.0]], ["high"]])
def test_what_are_no_values_is_an_error(values):
    with pytest.raises(ValueError, match=r"histories\['GRU'\]\['loss'\]"):
        comparison_figure({"GRU": {"loss": values}}, "loss")
