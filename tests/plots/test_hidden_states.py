import numpy as np
import pytest

from kerasrnn.plots import hidden_state_figure
from kerasrnn.plots import save_figure
from kerasrnn.plots import word_map_figure
from tests.helpers import one_now
from tests.plots.small import WORDS
from tests.plots.small import some_states


def unit_numbers(figure):
    labels = figure.axes[0].get_yticklabels()
    return [int(label.get_text()) for label in labels]


def test_a_column_for_each_word_and_a_row_for_each_unit():
    states = some_states()
    figure = hidden_state_figure(states, WORDS)
    image = figure.axes[0].images[0].get_array()
    assert image.shape == (50, 12)
    labels = figure.axes[0].get_xticklabels()
    assert [label.get_text() for label in labels] == WORDS
    assert all(label.get_rotation() for label in labels)
    order = unit_numbers(figure)
    assert sorted(order) == list(range(50))
    np.testing.assert_array_equal(image, states[:, order].T)


def test_units_alike_stand_together():
    order = unit_numbers(hidden_state_figure(some_states(), WORDS))
    changes = np.count_nonzero(np.diff(np.array(order) % 2))
    assert changes == 1  # All of one course, then all of the other.


def test_opposite_units_stand_apart():
    course = np.linspace(0.5, 1.0, 12)[:, None]
    states = course * [1.0, -1.0, 1.0, -1.0, 1.0]
    order = unit_numbers(hidden_state_figure(states, WORDS))
    assert np.count_nonzero(np.diff(np.array(order) % 2)) == 1


def test_the_order_does_not_depend_on_signs():
    states = some_states(units=20)
    order = unit_numbers(hidden_state_figure(states, WORDS))
    for same in (-states, states[::-1], -states[::-1]):
        assert unit_numbers(hidden_state_figure(same, WORDS)) == order


def test_the_colours_are_symmetric_around_0():
    states = np.array([[0.1, -0.7], [0.3, 0.2]])
    figure = hidden_state_figure(states, ["a", "b"])
    image = figure.axes[0].images[0]
    assert image.get_clim() == (-0.7, 0.7)
    np.testing.assert_allclose(image.cmap(0.5), 1.0, atol=0.05)  # White.
    # As in every figure.
    red, _, blue, _ = image.cmap(0.9)
    assert red < blue
    assert figure.axes[1].get_ylabel() == "hidden state"


@pytest.mark.parametrize("time, units", [(1, 1), (1, 5), (5, 1), (60, 30)])
def test_any_shape_is_drawn(time, units, tmp_path):
    states = some_states(time, units)
    figure = hidden_state_figure(states, ["word"] * time)
    assert figure.axes[0].images[0].get_array().shape == (units, time)
    assert max(figure.get_size_inches()) <= 36.0
    save_figure(figure, tmp_path / "states.png")


def test_many_units_have_no_numbers():
    assert len(unit_numbers(hidden_state_figure(some_states(), WORDS))) == 50
    many = hidden_state_figure(some_states(units=200), WORDS)
    assert unit_numbers(many) == []
    assert "unit" in many.axes[0].get_ylabel()


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
    assert {text.get_color() for text in axes.texts} == {"black"}
    assert axes.collections[0].get_array().tolist() == [*range(1, 13)]
    assert figure.axes[1].get_ylabel() == "position in the sentence"
    assert not len(axes.get_xticks()) and not len(axes.get_yticks())


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
