import numpy as np
from matplotlib.colors import to_rgb

from kerasrnn.plots import matrix_figure

XY = ["x", "y"], "true", "predicted"


def test_counts_are_written_and_rows_compared():
    values = [[9, 1], [0, 50]]
    figure = matrix_figure(values, ["a", "b"], ["x", "y"], "true", "found", "T")
    axes, bar = figure.axes
    assert bar.get_ylabel() == "share of the row"
    places = {text.get_text(): text.get_position() for text in axes.texts}
    assert places == {"9": (0, 0), "1": (1, 0), "50": (1, 1)}
    shades = axes.images[0].get_array()
    np.testing.assert_allclose(shades, [[0.9, 0.1], [0, 1]])
    assert [x.get_text() for x in axes.get_yticklabels()] == ["a", "b"]
    assert [x.get_text() for x in axes.get_xticklabels()] == ["x", "y"]
    assert axes.get_title() == "T"


def test_weights_have_two_signs():
    figure = matrix_figure([[-2.0, 1.0]], ["a"], ["x", "y"], "r", "c")
    (image,) = figure.axes[0].images
    assert image.get_clim() == (-2.0, 2.0)
    assert {x.get_text() for x in figure.axes[0].texts} == {"-2", "1"}


def test_shares_are_compared_across_rows():
    figure = matrix_figure([[0.1, 0.1], [1.0, 0.02]], ["a", "b"], *XY)
    shades = np.asarray(figure.axes[0].images[0].get_array())
    np.testing.assert_allclose(shades, [[0.1, 0.1], [1.0, 0.02]])
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert texts == {"0.1", "1", "0.02"}


def test_numbers_contrast_with_their_cells():
    shares = np.linspace(0, 1, 16)[1:]
    for values in (shares, np.concatenate([-shares, shares])):
        names = [str(x) for x in range(len(values))]
        figure = matrix_figure(values[None], ["a"], names, "r", "c")
        axes = figure.axes[0]
        cells = axes.images[0].to_rgba(axes.images[0].get_array())[0, :, :3]
        for text, cell in zip(axes.texts, cells, strict=True):
            levels = [luminance(cell), luminance(to_rgb(text.get_color()))]
            assert (max(levels) + 0.05) / (min(levels) + 0.05) >= 4.5


def luminance(color):
    """That of the guidelines for content on the web (WCAG)."""
    color = np.asarray(color)
    low = color / 12.92
    high = ((color + 0.055) / 1.055) ** 2.4
    return np.where(color <= 0.04045, low, high) @ [0.2126, 0.7152, 0.0722]


def test_a_matrix_fits_a_page():
    names = [str(number) for number in range(45)]
    figure = matrix_figure(np.eye(45), names, names, "tag", "next tag")
    assert max(figure.get_size_inches()) < 12
    labels = figure.axes[0].get_yticklabels()
    assert min(label.get_fontsize() for label in labels) > 8


def test_labels_are_strings_and_differ():
    begin = "customer service department "
    names = [begin + "one", begin + "two"]
    figure = matrix_figure(np.eye(2), names, *XY)
    one, two = (x.get_text() for x in figure.axes[0].get_yticklabels())
    assert one != two and len(one) == len(two) <= 32
