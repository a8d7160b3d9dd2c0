import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.decoding import tile_memory
from kerasrnn.decoding.beams import blank
from kerasrnn.decoding.beams import note
from kerasrnn.decoding.beams import top_k
from kerasrnn.decoding.beams import write_out
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


def test_beside_the_greatest_at_the_end_no_index_is_outside():
    """The last chunk of ten is padded, and chosen first."""
    x = np.full((1, 603), -np.inf, "float32")
    x[0, 602] = 0.0
    values, index = (helpers.as_numpy(y)[0] for y in top_k(ops.array(x), 5))
    assert (values[0], index[0]) == (0.0, 602)
    assert np.isneginf(values[1:]).all() and index.max() < 603


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


def test_of_fewer_all_are_the_greatest():
    values, index = top_k(ops.array([[1.0, 3.0, 2.0]]), 5)
    assert helpers.as_numpy(values).tolist() == [[3.0, 2.0, 1.0]]
    assert helpers.as_numpy(index).tolist() == [[1, 2, 0]]


def test_memory_is_repeated_for_the_hypotheses_of_a_sentence():
    memory = {"mask": None, "keys": ops.array([[[1.0]], [[2.0]]])}
    tiled = tile_memory(memory, ops.zeros((6,), "int32"))
    assert tiled["mask"] is None
    keys = helpers.as_numpy(tiled["keys"])
    assert keys.shape == (6, 1, 1)
    assert keys[:, 0, 0].tolist() == [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]


PAD, END = 0, 1


def test_hypotheses_are_read_from_their_ends_to_their_beginnings():
    """Two beams cross: each extends the other one at the second step."""
    tokens = [[[5, 6]], [[7, 8]], [[9, 9]]]
    parents = [[[0, 0]], [[1, 0]], [[0, 1]]]
    alignments = [[[[1.0], [2.0]]], [[[3.0], [4.0]]], [[[5.0], [6.0]]]]
    trace = blank((1, 4, 2), ops.zeros((1, 1)), tokens=0, parents=0)
    for t in range(3):
        trace = note(
            trace,
            t,
            tokens=ops.array(tokens[t]),
            parents=ops.array(parents[t]),
            alignments=ops.array(alignments[t]),
        )
    # One ended at the third step, behind beam 1; one never did, in beam 0.
    written = write_out(
        trace,
        3,
        ops.array([[2, 3]]),
        ops.array([[1, 0]]),
        ops.array([[True, False]]),
        END,
        PAD,
    )
    assert helpers.as_numpy(written["ids"]).tolist() == [
        [[5, 6], [8, 7], [END, 9], [PAD, PAD]]
    ]
    assert helpers.as_numpy(written["alignments"])[..., 0].tolist() == [
        [[1.0, 1.0], [3.0, 4.0], [6.0, 5.0], [0.0, 0.0]]
    ]
