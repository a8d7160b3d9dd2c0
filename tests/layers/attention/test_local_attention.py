import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import BahdanauAttention
from kerasrnn.layers import CoverageAttention
from kerasrnn.layers import DotAttention
from kerasrnn.layers import LocalAttention
from tests import helpers

# Values, masks, saving and precision: see test_mechanism.py.


def weights_of(attention, positions=8, mask=None, queries=6):
    """What equal scores become."""
    query = np.zeros((1, queries, 4), "float32")
    memory = np.zeros((1, positions, 4), "float32")
    return helpers.as_numpy(attention(query, memory, memory_mask=mask)[1])[0]


def test_local_m_looks_around_the_number_of_the_step():
    weights = weights_of(LocalAttention(radius=1, alignment="monotonic"), 4)
    np.testing.assert_allclose(
        weights,
        [
            [1 / 2, 1 / 2, 0, 0],
            [1 / 3, 1 / 3, 1 / 3, 0],
            [0, 1 / 3, 1 / 3, 1 / 3],
            [0, 0, 1 / 2, 1 / 2],
            [0, 0, 1 / 2, 1 / 2],
            [0, 0, 1 / 2, 1 / 2],
        ],
        atol=1e-6,
    )


def test_local_p_is_a_gaussian_around_the_position_it_predicts():
    """The sigmoid of 0 is half way, with a deviation of half the radius."""
    weights = weights_of(LocalAttention(DotAttention(), radius=2), queries=1)
    expected = np.zeros(8)
    expected[2:7] = np.exp(-(np.arange(-2, 3) ** 2) / 2) / 5
    np.testing.assert_allclose(weights[0], expected, atol=1e-6)


def test_positions_are_counted_without_masked_ones():
    """Also where the mask is before them or between them."""
    attention = LocalAttention(DotAttention(), radius=2)
    whole = weights_of(attention, queries=1)
    mask = np.array([[0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0]], bool)
    weights = weights_of(attention, 12, mask, queries=1)
    np.testing.assert_allclose(weights[:, mask[0]], whole, atol=1e-6)


def test_more_than_256_steps_are_counted_in_half_precision():
    attention = LocalAttention(
        DotAttention(dtype="mixed_bfloat16"),
        radius=1,
        alignment="monotonic",
        dtype="mixed_bfloat16",
    )
    query = ops.zeros((1, 300, 4))
    memory = ops.zeros((1, 300, 4))
    weights = helpers.as_numpy(attention(query, memory)[1])[0]
    np.testing.assert_array_equal(
        weights > 0,
        np.abs(np.subtract.outer(np.arange(300), np.arange(300))) <= 1,
    )


def test_the_mechanism_inside_is_saved():
    attention = LocalAttention(BahdanauAttention(7), radius=3, units=2)
    copy = helpers.copy_of(attention)
    assert isinstance(copy.attention, BahdanauAttention)
    assert copy.attention.units == 7
    assert copy.get_config() == attention.get_config()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"attention": "dot"}, "Received: attention='dot'"),
        ({"attention": CoverageAttention(4)}, "attention=<Coverage"),
        ({"attention": DotAttention(dropout=0.1)}, "have no dropout"),
        ({"radius": 0}, "`radius`.*Received: radius=0"),
        ({"units": 0}, "`units`.*Received: units=0"),
        ({"alignment": "sharp"}, "Received: alignment='sharp'"),
        ({"alignment": "monotonic", "units": 8}, "Received: units=8, align"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        LocalAttention(**arguments)
