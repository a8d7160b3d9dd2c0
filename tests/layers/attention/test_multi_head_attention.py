import keras
import numpy as np
import pytest

from kerasrnn.layers import MultiHeadDotAttention
from tests import helpers

# Values, masks, saving and precision: see test_attention.py.


@pytest.mark.parametrize("units, width", [(None, 4), (7, 7)])
def test_the_context_is_as_wide_as_the_query_or_as_told(units, width):
    mechanism = MultiHeadDotAttention(2, 3, units)
    context, weights = mechanism(np.ones((3, 2, 4)), np.ones((3, 5, 6)))
    assert context.shape == (3, 2, width)
    assert weights.shape == (3, 2, 5)
    assert mechanism.context_dim(6) == width


def test_one_head_with_identity_kernels_is_scaled_dot_product():
    mechanism = MultiHeadDotAttention(1, 4)
    query, memory = helpers.random(3, 2, 4), helpers.random(3, 5, 4, seed=1)
    mechanism(query, memory)
    mechanism.set_weights([np.eye(4)] * 4)
    scores = query @ memory.swapaxes(1, 2) / 2.0
    weights = keras.ops.softmax(scores)
    expected = (keras.ops.matmul(weights, memory), weights)
    helpers.assert_close(mechanism(query, memory), expected)


@pytest.mark.parametrize("argument", ["num_heads", "head_dim", "units"])
def test_sizes_must_be_positive_integers(argument):
    sizes = {"num_heads": 2, "head_dim": 3, argument: 0}
    with pytest.raises(ValueError, match=f"Received: {argument}=0"):
        MultiHeadDotAttention(**sizes)
