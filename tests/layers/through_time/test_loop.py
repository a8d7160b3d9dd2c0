import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import RHN
from kerasrnn.layers.through_time.loop import scan_and_save
from tests import helpers


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_saves_what_differs_from_its_state(reverse):
    xs = helpers.random(4, 2, 3), helpers.random(4, 2, 1, seed=1)

    def step(state, inputs):
        state = state + inputs[0] * inputs[1]
        return state, (ops.sum(state, axis=-1), [2 * inputs[1]])

    state, (sums, (doubled,)) = scan_and_save(
        step, ops.zeros((2, 3)), xs, reverse=reverse
    )
    order = slice(None, None, -1 if reverse else 1)
    sofar = np.cumsum((xs[0] * xs[1])[order], axis=0)
    helpers.assert_close(state, sofar[-1])
    helpers.assert_close(sums, sofar.sum(-1)[order])
    helpers.assert_close(doubled, 2 * xs[1])


def test_a_scan_of_open_length():
    def total(x):
        time_major = ops.swapaxes(x, 0, 1)

        def step(state, inputs):
            return state + inputs[0] + inputs[1], ops.ones_like(state[:, :1])

        state, ones = scan_and_save(
            step, ops.zeros_like(x[:, 0]), (time_major, time_major)
        )
        return ops.concatenate([state, ops.sum(ones, axis=0)], axis=-1)

    inputs = keras.Input((None, 3))
    model = keras.Model(inputs, keras.layers.Lambda(total)(inputs))
    for time in (1, 5, 3):
        x = helpers.random(2, time, 3)
        expected = np.concatenate([2 * x.sum(1), np.full((2, 1), time)], 1)
        helpers.assert_close(model.predict_on_batch(x), expected)


def test_what_is_skipped_may_be_no_number():
    x = helpers.random(2, 4, 3)
    mask = np.array([[1, 1, 0, 1], [0, 1, 1, 0]], bool)
    layer = RHN(5, return_sequences=True)
    expected = helpers.as_numpy(layer(x, mask=mask))
    x[~mask] = np.nan
    np.testing.assert_array_equal(
        helpers.as_numpy(layer(x, mask=mask)), expected
    )
