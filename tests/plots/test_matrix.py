import numpy as np

from kerasrnn.plots import matrix_figure

XY = ["x", "y"], "true", "predicted"


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
    assert {x.get_text() for x in figure.axes[0].texts} == {"-2", "1"}


def test_shares_are_compared_across_rows():
    figure = matrix_figure([[0.1, 0.1], [0.94, 0.02]], ["a", "b"], *XY)
    shades = np.asarray(figure.axes[0].images[0].get_array())
    np.testing.assert_allclose(shades, [[0.1, 0.1], [0.94, 0.02]])
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert texts == {"0.1", "0.94", "0.02"}


def test_labels_are_strings_and_differ():
    begin = "customer service department "
    names = [begin + "one", begin + "two"]
    figure = matrix_figure(np.eye(2), names, *XY)
    one, two = (x.get_text() for x in figure.axes[0].get_yticklabels())
    assert one != two and len(one) == len(two) <= 32
