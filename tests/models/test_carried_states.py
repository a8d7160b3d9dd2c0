import keras
import numpy as np

from kerasrnn.models.language_model import CarriedStates
from tests import helpers

ONE_FRESH = np.array([False, True])
ZEROS = [np.zeros((2, 3), "float32"), np.zeros((2, 1), "float32")]
STATES = [helpers.random(2, 3), helpers.random(2, 1, seed=1)]


def carried_states():
    carried = CarriedStates(2, [3, 1])
    carried.build()
    return carried


def test_a_row_continues_unless_it_is_fresh():
    carried = carried_states()
    carried.keep(STATES)
    initial = [x + 5 for x in ZEROS]
    states = carried(initial, ONE_FRESH)
    expected = [
        np.stack([x[0], i[1]]) for x, i in zip(STATES, initial, strict=True)
    ]
    helpers.assert_close(states, expected, 0, 0)
    # Asking changes nothing.
    helpers.assert_close(carried(initial, ONE_FRESH), expected, 0, 0)


def test_a_replica_with_fewer_rows_leaves_the_others():
    carried = carried_states()
    carried.keep(STATES)
    first, fresh = [x[:1] for x in ZEROS], np.array([False])
    helpers.assert_close(carried(first, fresh), [x[:1] for x in STATES], 0, 0)
    carried.keep(first)
    expected = [
        np.concatenate([x[:1], y[1:]])
        for x, y in zip(ZEROS, STATES, strict=True)
    ]
    old = np.array([False, False])
    helpers.assert_close(carried(ZEROS, old), expected, 0, 0)


def test_training_and_evaluation_are_apart():
    carried = carried_states()
    old = np.array([False, False])
    carried.keep(STATES, training=True)
    # The others are still the first ones.
    helpers.assert_close(carried(STATES, old), ZEROS, 0, 0)
    helpers.assert_close(carried(ZEROS, old, training=True), STATES, 0, 0)
    carried.keep(ZEROS)
    helpers.assert_close(carried(ZEROS, old, training=True), STATES, 0, 0)


def test_half_precision_is_kept_in_float32():
    carried = CarriedStates(2, [3, 1], dtype="mixed_bfloat16")
    carried.build()
    half = [keras.ops.cast(x, "bfloat16") for x in STATES]
    carried.keep(half)
    assert {w.dtype for w in carried.weights} == {"float32"}
    states = carried(half, np.array([False, False]))
    assert {
        keras.backend.standardize_dtype(state.dtype) for state in states
    } == {"bfloat16"}
    helpers.assert_close(
        [keras.ops.cast(x, "float32") for x in states],
        [keras.ops.cast(x, "float32") for x in half],
        0,
        0,
    )
