import numpy as np
import pytest

from kerasrnn.plots import save_figure
from kerasrnn.plots import word_map_figure
from tests.helpers import one_now
from tests.plots.small import WORDS
from tests.plots.small import some_states


def label_boxes(figure):
    figure.draw_without_rendering()
    axes = figure.axes[0]
    # An annotation's own extent has the line to its dot in it.
    return [super(type(text), text).get_window_extent() for text in axes.texts]


def overlapping_share(figure):
    boxes = label_boxes(figure)
    pairs = [(a, b) for i, a in enumerate(boxes) for b in boxes[:i]]
    return np.mean([a.overlaps(b) for a, b in pairs])


def test_a_word_at_each_point():
    figure = word_map_figure(some_states(), WORDS)
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.texts] == WORDS
    points = axes.collections[0].get_offsets()
    assert points.shape == (12, 2)
    np.testing.assert_array_equal([text.xy for text in axes.texts], points)
    assert axes.get_aspect() == 1.0
    assert not len(axes.get_xticks()) and not len(axes.get_yticks())


def test_words_are_coloured_by_their_position():
    figure = word_map_figure(some_states(), WORDS)
    axes = figure.axes[0]
    assert len({text.get_color().tobytes() for text in axes.texts}) == 12
    np.testing.assert_array_equal(axes.collections[0].get_array(), range(1, 13))
    assert figure.axes[1].get_ylabel() == "position in the sentence"


@pytest.mark.slow
def test_states_alike_are_near_each_other():
    generator = np.random.default_rng(0)
    centres = 5.0 * generator.normal(size=(2, 20))
    states = np.repeat(centres, 8, axis=0) + generator.normal(size=(16, 20))
    figure = word_map_figure(states, ["word"] * 16)
    points = np.asarray(figure.axes[0].collections[0].get_offsets())
    distances = np.linalg.norm(points[:, None] - points, axis=-1)
    np.fill_diagonal(distances, np.inf)
    assert (distances.argmin(axis=1) // 8 == np.arange(16) // 8).all()


def test_the_seed_decides_the_map():
    def points(seed):
        figure = word_map_figure(some_states(), WORDS, seed=seed)
        return np.asarray(figure.axes[0].collections[0].get_offsets())

    np.testing.assert_array_equal(points(1), points(1))
    assert not np.allclose(points(1), points(2))


@pytest.mark.parametrize(
    "time, word",
    one_now(
        [(40, "incomprehensible"), (100, "incomprehensible"), (12, "film")]
    ),
)
def test_words_of_a_map_neither_meet_nor_leave_it(time, word, tmp_path):
    figure = word_map_figure(some_states(time, 8), [word] * time)
    save_figure(figure, tmp_path / "map.png")  # What is drawn twice stays.
    assert overlapping_share(figure) == 0.0
    frame = figure.axes[0].get_window_extent()
    for box in label_boxes(figure):
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1
        assert frame.y0 <= box.y0 and box.y1 <= frame.y1


def test_equal_states_are_drawn(tmp_path):
    figure = word_map_figure(np.ones((4, 3)), WORDS[:4])
    save_figure(figure, tmp_path / "map.png")


def test_a_map_needs_four_words():
    with pytest.raises(ValueError, match=r"at least 4 .*Received: words=\["):
        word_map_figure(some_states(3), WORDS[:3])
