import numpy as np

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
