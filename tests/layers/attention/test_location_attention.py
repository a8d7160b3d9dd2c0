import numpy as np
import pytest

from kerasrnn.layers import LocationAttention
from tests import helpers

# Values, masks, saving and precision: see test_mechanism.py.


def test_the_query_says_where_and_the_memory_does_not():
    attention = LocationAttention(4)
    query = helpers.random(2, 3, 5)
    _, weights = attention(query, helpers.random(2, 4, 6, seed=1))
    _, same = attention(query, helpers.random(2, 4, 6, seed=2))
    helpers.assert_close(weights, same, 0, 0)


def test_positions_behind_the_last_are_never_attended_to():
    attention = LocationAttention(3)
    query, memory = helpers.random(2, 1, 5), helpers.random(2, 6, 5, seed=1)
    context, weights = helpers.as_numpy(attention(query, memory))
    assert np.all(weights[..., 3:] == 0)
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-6)
    # They begin behind a mask, not at a position of the memory.
    moved = np.concatenate([np.full((2, 2, 5), 9.0), memory], 1)
    mask = np.tile([False] * 2 + [True] * 6, (2, 1))
    helpers.assert_close(attention(query, moved, mask)[0], context)


def test_the_number_of_positions_is_a_positive_integer():
    with pytest.raises(ValueError, match="Received: max_positions=0"):
        LocationAttention(0)
