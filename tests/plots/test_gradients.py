import numpy as np
import pytest

from kerasrnn.plots import gradient_figure
from kerasrnn.plots import save_figure

NORMS = {"LSTM": [0.5, 0.7, 1.0], "RNN": np.array([0.001, 1.5])}


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_a_curve_for_each_model_backwards_from_the_end():
    figure = gradient_figure(NORMS)
    (axes,) = figure.axes
    assert len(axes.lines) == 2
    for line, values in zip(axes.lines, NORMS.values(), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), range(len(values)))
        np.testing.assert_array_equal(line.get_ydata(), values[::-1])
    assert axes.get_yscale() == "log"
    assert axes.get_xlabel() == "steps before the end"
    assert axes.get_ylabel() == "norm of the gradient"
    assert legend(figure) == ["LSTM", "RNN"]


def test_zeros_lie_on_a_floor_below_all_else():
    figure = gradient_figure({"RNN": [0.0, 0.0, 5e-5, 1.0], "LSTM": [0.2]})
    (axes,) = figure.axes
    values = axes.lines[0].get_ydata()
    assert values[2] == values[3] == 1e-6
    assert list(values[:2]) == [1.0, 5e-5]
    assert axes.get_ylim()[0] < 1e-6
    assert texts(figure) == ["zero"]


def test_without_zeros_there_is_no_floor():
    figure = gradient_figure(NORMS)
    assert texts(figure) == []
    assert figure.axes[0].get_ylim()[0] > 1e-4


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_smallest_norms_are_drawn(dtype, tmp_path):
    smallest = np.finfo(dtype).smallest_subnormal
    norms = np.array([0.0, smallest, 1.0], dtype=dtype)
    figure = gradient_figure({"RNN": norms, "none": [0, 0]})
    for line in figure.axes[0].lines:
        values = np.asarray(line.get_ydata())
        assert np.isfinite(values).all() and (values > 0.0).all()
    save_figure(figure, tmp_path / "gradients.png")
