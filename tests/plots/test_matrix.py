import numpy as np
import pytest

from kerasrnn.plots import matrix_figure


def test_counts_are_written_and_rows_compared():
    values = [[9, 1], [0, 50]]
    figure = matrix_figure(values, ["a", "b"], ["x", "y"], "true", "found", "T")
    (axes,) = figure.axes
    assert {text.get_text() for text in axes.texts} == {"9", "1", "50"}
    shades = axes.images[0].get_array()
    np.testing.assert_allclose(shades, [[0.9, 0.1], [0, 1]])
    assert [x.get_text() for x in axes.get_yticklabels()] == ["a", "b"]
    assert axes.get_title() == "T"


def test_weights_have_two_signs():
    figure = matrix_figure([[-2.0, 1.0]], ["a"], ["x", "y"], "r", "c")
    (image,) = figure.axes[0].images
    assert image.get_clim() == (-2.0, 2.0)
    assert {x.get_text() for x in figure.axes[0].texts} == {"-2.0", "1.0"}


def test_shapes_agree():
    with pytest.raises(ValueError, match="values.shape"):
        matrix_figure([[1]], ["a", "b"], ["x"], "r", "c")
