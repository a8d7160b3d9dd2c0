import numpy as np
import pytest

from kerasrnn.plots import comparison_figure
from kerasrnn.plots import save_figure
from kerasrnn.plots import training_figure


def titles(figure):
    return [axes.get_title() for axes in figure.axes]


def test_a_metric_and_its_validation_share_a_panel():
    history = {
        "loss": [3.0, 2.0, 1.5],
        "val_loss": [3.2, 2.5, 2.4],
        "bleu": [1.0, 4.0, 9.0],
        "chrf": [10.0, 20.0, 30.0],
    }
    figure = training_figure(history)
    assert titles(figure) == ["loss", "bleu", "chrf"]
    training, validation = figure.axes[0].lines
    np.testing.assert_array_equal(training.get_xdata(), [1, 2, 3])
    np.testing.assert_array_equal(training.get_ydata(), history["loss"])
    np.testing.assert_array_equal(validation.get_ydata(), history["val_loss"])
    legend = [text.get_text() for text in figure.axes[0].get_legend().texts]
    assert legend == ["training", "validation"]


def test_the_chosen_epoch_is_marked():
    history = {"loss": [3.0, 2.0, 1.5], "val_length_ratio": [1.2, 1.1, 1.0]}
    figure = training_figure(history, chosen=2)
    assert titles(figure) == ["loss", "length ratio (validation)"]
    for axes in figure.axes:
        mark, _ = axes.lines
        assert list(mark.get_xdata()) == [2, 2]
    first, second = (axes.get_legend() for axes in figure.axes)
    named = [text.get_text() for text in first.texts]
    assert named == ["chosen epoch", "training"]
    assert second is None
    (axes,) = training_figure({"loss": [2.0, 1.0]}).axes
    assert len(axes.lines) == 1 and axes.get_legend() is None


def test_metrics_that_are_equal_share_a_panel():
    history = {"loss": [3.0, 2.0], "val_loss": [3.2, 2.5]}
    same = {"val_mae": [3.20001, 2.50001], "mse": [3.0, 2.0]}
    other = {"val_mse": [3.2, 2.6]}
    figure = training_figure(history | same | other)
    assert titles(figure) == ["loss, mae", "mse"]
    assert [len(axes.lines) for axes in figure.axes] == [2, 2]


def test_a_single_epoch_is_a_visible_dot(tmp_path):
    figure = training_figure({"loss": [2.0], "val_loss": [2.5]})
    assert [line.get_marker() for line in figure.axes[0].lines] == [".", "."]
    save_figure(figure, tmp_path / "training.png")
    low, high = figure.axes[0].get_xlim()
    ticks = figure.axes[0].get_xticks()
    assert [tick for tick in ticks if low <= tick <= high] == [1.0]


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
