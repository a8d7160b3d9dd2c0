import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.decoding.loop import advance_until_done
from tests import helpers


def count_up(targets, sizes=None):
    """Counts each row up to its target; notes how many rows a step is of."""
    targets = np.array(targets, "int32")
    rows = {
        "done": ops.array(targets == 0),
        "counts": (ops.zeros(targets.shape, "int32"),),
        "names": ops.arange(len(targets)),
    }

    def advance(t, rows, given):
        if sizes is not None:
            sizes.append(len(rows["done"]))
        left = ops.logical_not(rows["done"])
        counts = rows["counts"][0] + ops.cast(left, "int32")
        return {**rows, "counts": (counts,), "done": counts >= given}

    steps, rows = advance_until_done(advance, 0, rows, ops.array(targets))
    return int(steps), helpers.as_numpy(rows["counts"][0]), rows


@pytest.mark.parametrize("size", range(10))
def test_each_row_is_advanced_until_it_is_done(size):
    targets = np.random.default_rng(size).integers(0, 9, size)
    steps, counts, rows = count_up(targets)
    np.testing.assert_array_equal(counts, targets)
    np.testing.assert_array_equal(helpers.as_numpy(rows["names"]), range(size))
    assert helpers.as_numpy(rows["done"]).all()
    assert steps == targets.max(initial=0)


@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow",
    reason="only TensorFlow runs a loop eagerly",
)
def test_what_is_done_is_left_behind():
    sizes = []
    count_up([1, 9, 2, 3, 4, 5, 6, 7], sizes)
    # Four of eight are left behind after 4 steps, two more after 6.
    assert sizes == [8] * 4 + [4] * 2 + [2] * 3


@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow",
    reason="only TensorFlow has batches of unknown size",
)
@pytest.mark.parametrize("by_xla", [False, True])
def test_in_a_graph_for_batches_of_any_size(by_xla):
    import tensorflow as tf

    traced = []

    @tf.function(
        input_signature=[tf.TensorSpec([None], tf.int32)], jit_compile=by_xla
    )
    def count(targets):
        rows = {
            "done": targets == 0,
            "counts": tf.zeros_like(targets),
            "names": tf.range(tf.shape(targets)[0]),
        }

        def advance(t, rows, given):
            traced.append(t)
            left = tf.cast(~rows["done"], tf.int32)
            counts = rows["counts"] + left
            return {**rows, "counts": counts, "done": counts >= given}

        steps, rows = advance_until_done(
            advance, 0, rows, targets, static_sizes=by_xla
        )
        return steps, rows["counts"], rows["names"]

    for size in (1, 7) if by_xla else range(10):
        targets = np.random.default_rng(size).integers(0, 9, size, "int32")
        steps, counts, names = count(targets)
        np.testing.assert_array_equal(counts, targets)
        np.testing.assert_array_equal(names, range(size))
        assert steps == targets.max(initial=0)
    assert len(traced) == (3 if by_xla else 1)
