import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.decoding.beams import top_k
from tests import helpers


@pytest.mark.parametrize("k", [1, 5, 20])
@pytest.mark.parametrize("size", [20, 97, 7709])
@pytest.mark.parametrize("possible", [5, 10**6])
def test_the_greatest_and_where_they_are(k, size, possible):
    x = np.random.default_rng(k * size).normal(size=(6, size))
    x = x.astype("float32")
    # Of many an impossible one, no index is outside.
    x[:, possible:] = -np.inf
    values, index = (helpers.as_numpy(y) for y in top_k(ops.array(x), k))
    expected = np.sort(x, axis=1)[:, ::-1][:, :k]
    np.testing.assert_array_equal(values, expected)
    assert index.min() >= 0 and index.max() < size
    np.testing.assert_array_equal(np.take_along_axis(x, index, 1), expected)


@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="graphs of TensorFlow"
)
def test_the_size_may_be_unknown_in_a_graph():
    import tensorflow as tf

    function = tf.function(
        lambda x: top_k(x, 1), [tf.TensorSpec((None, None), tf.float32)]
    )
    values, index = function(tf.constant([[1.0, 3.0, 2.0], [0.0, 0.0, 0.5]]))
    assert values.numpy().tolist() == [[3.0], [0.5]]
    assert index.numpy().tolist() == [[1], [2]]
