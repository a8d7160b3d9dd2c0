import numpy as np
import pytest

from kerasrnn.plots import gradient_figure
from kerasrnn.plots import save_figure

NORMS = {"LSTM": [0.5, 0.7, 1.0], "RNN": np.array([0.001, 1.5])}


def eight_models(time=200):
    steps = np.arange(time)[::-1]
    return {f"model {i}": (0.99 - 0.02 * i) ** steps for i in range(8)}


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
    figure = gradient_figure({"RNN": norms})
    values = figure.axes[0].lines[0].get_ydata()
    assert np.isfinite(values).all() and (values > 0.0).all()
    save_figure(figure, tmp_path / "gradients.png")


def test_all_zeros_are_drawn(tmp_path):
    figure = gradient_figure({"RNN": [0, 0, 0]})
    assert (figure.axes[0].lines[0].get_ydata() > 0.0).all()
    assert texts(figure) == ["zero"]
    save_figure(figure, tmp_path / "gradients.png")


def test_a_single_step_is_a_visible_marker():
    (line,) = gradient_figure({"RNN": [1.0]}).axes[0].lines
    assert line.get_marker() == "o"


def test_eight_models_differ_in_colour_and_dashes():
    lines = gradient_figure(eight_models()).axes[0].lines
    assert len({line.get_color() for line in lines}) == 8
    # What the line draws, of which `get_linestyle` says only "--".
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == 8


@pytest.mark.parametrize("length", [1, 60])
def test_the_legend_hides_nothing_and_is_not_cut(length):
    norms = {
        f"{i}" + "m" * length: np.append(0.0, values)
        for i, values in enumerate(eight_models().values())
    }
    figure = gradient_figure(norms)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    width, height = figure.get_size_inches() * figure.dpi
    box = figure.legends[0].get_window_extent()
    assert not box.overlaps(axes.get_tightbbox())
    assert box.x1 <= width and box.y0 >= 0 and box.y1 <= height
    assert axes.get_window_extent().width > 3.5 * figure.dpi


def test_names_and_title_are_shown_as_they_are(tmp_path):
    norms = {name: [1.0, 2.0] for name in ("_a", "$b$", "हिन्दी")}
    figure = gradient_figure(norms, title="$लाल$")
    assert legend(figure) == ["_a", "$b$", "हिन्दी"]
    assert not any(
        text.get_parse_math() for text in figure.legends[0].get_texts()
    )
    assert figure.axes[0].get_title() == "$लाल$"
    save_figure(figure, tmp_path / "gradients.png")  # A missing glyph warns.


@pytest.mark.parametrize("norms", [[1.0], None])
def test_what_is_no_dictionary_is_an_error(norms):
    with pytest.raises(ValueError, match=r"`norms` must be .*Received"):
        gradient_figure(norms)


@pytest.mark.parametrize("count", [0, 9])
def test_one_model_to_eight(count):
    norms = {i: [1.0] for i in range(count)}
    with pytest.raises(ValueError, match=f"1 to 8 .*Received: {count}$"):
        gradient_figure(norms)


@pytest.mark.parametrize("values", [[], 1.0, [[1.0]], ["high"]])
def test_what_are_no_norms_is_an_error(values):
    with pytest.raises(ValueError, match=r"Received: norms\['GRU'\]="):
        gradient_figure({"GRU": values})


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_a_norm_is_finite_and_not_negative(value):
    message = rf"non-negative. Received: norms\['GRU'\]\[1\]={value}"
    with pytest.raises(ValueError, match=message):
        gradient_figure({"LSTM": [1.0], "GRU": [1.0, value, 2.0]})
