import numpy as np
import pytest

from kerasrnn.plots import attention_figure
from kerasrnn.plots import attention_grid
from kerasrnn.plots import save_figure

SOURCE = "where is the red book ? </s>".split()
TARGET = "लाल किताब कहाँ है ? क्षत्रिय विद्यार्थी हिंदी स्वास्थ्य ज्ञान </s>".split()


def sentence(targets, sources):
    weights = np.random.default_rng(0).dirichlet(np.ones(sources), targets)
    source_tokens = [f"source{i}" for i in range(sources)]
    return weights, source_tokens, [f"target{i}" for i in range(targets)]


def words(labels):
    return [label.get_text() for label in labels]


def cell_inches(axes):
    """Width and height of a cell."""
    size = axes.get_position().size * axes.figure.get_size_inches()
    targets, sources = axes.images[0].get_array().shape
    return size / (sources, targets)


def test_tokens_and_weights_are_where_they_belong():
    weights = sentence(len(TARGET), len(SOURCE))[0]
    figure = attention_figure(weights, SOURCE, TARGET, title="कर्म $1 $2")
    axes, bar = figure.axes
    assert words(axes.get_xticklabels()) == SOURCE
    assert words(axes.get_yticklabels()) == TARGET
    np.testing.assert_allclose(axes.images[0].get_array(), weights, rtol=1e-6)
    # The first target is the top row.
    assert axes.get_ylim() == (len(TARGET) - 0.5, -0.5)
    assert figure.get_suptitle() == "कर्म $1 $2"
    assert bar.get_ylabel() == "attention weight"


def test_darker_is_more_from_zero_up():
    figure = attention_figure([[0.1, 0.4]], ["a", "b"], ["c"])
    image = figure.axes[0].images[0]
    assert image.get_clim() == pytest.approx((0.0, 0.4))
    light, dark = image.cmap(image.norm([0.0, 0.4]))[:, :3].sum(axis=1)
    assert light > 2.8 > 1.0 > dark


@pytest.mark.parametrize("shape", [(1, 1), (2, 30), (30, 2), (12, 12)])
def test_the_figure_grows_with_the_tokens_and_cuts_no_label(shape):
    figure = attention_figure(*sentence(*shape), title="a long title " * 4)
    np.testing.assert_allclose(cell_inches(figure.axes[0]), 0.36)
    figure.draw_without_rendering()
    left, bottom, right, top = figure.get_tightbbox().extents
    width, height = figure.get_size_inches()
    assert 0.0 < left < right < width
    assert 0.0 < bottom < top < height


def test_panels_of_a_grid_have_equal_cells_and_scale_and_do_not_touch():
    sentences = [sentence(*s) for s in [(9, 3), (2, 7), (4, 4)]]
    sentences[1][0][0, 0] = 2.0  # the greatest is not in the first
    assert len(attention_grid(sentences[1:2], columns=2).axes) == 2
    figure = attention_grid(sentences, columns=2, title="epoch 3")
    *panels, bar = figure.axes
    assert len(panels) == 3
    figure.draw_without_rendering()
    boxes = [axes.get_tightbbox() for axes in (*panels, bar)]
    for place, box in enumerate(boxes):
        assert not box.count_overlaps(boxes[:place])
    greatest = max(weights.max() for weights, _, _ in sentences)
    for axes, (weights, source_tokens, _) in zip(
        panels, sentences, strict=True
    ):
        np.testing.assert_allclose(cell_inches(axes), 0.36)
        assert axes.images[0].get_clim() == pytest.approx((0.0, greatest))
        assert axes.images[0].get_array().shape == weights.shape
        assert words(axes.get_xticklabels()) == source_tokens
    # Row by row: the second panel is right of the first, the third below.
    first, second, third = (axes.get_position() for axes in panels)
    assert second.x0 > first.x1 and second.y1 == pytest.approx(first.y1)
    assert third.y1 < first.y0 and third.x0 == pytest.approx(first.x0)


def test_weights_of_zero_or_not_a_number_are_drawn(tmp_path):
    figure = attention_figure([[np.nan, 0.0]], ["a", "b"], ["c"])
    image = figure.axes[0].images[0]
    assert image.get_clim() == (0.0, 1.0)
    save_figure(figure, tmp_path / "attention.png")
