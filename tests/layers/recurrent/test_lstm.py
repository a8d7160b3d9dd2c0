"""`FastLSTM` computes what `keras.layers.RNN` of Keras's cell does."""

import itertools

import keras
import pytest
from keras import ops

from kerasrnn.layers import FastLSTM
from kerasrnn.layers import FastLSTMCell
from kerasrnn.layers import FastRNN
from kerasrnn.layers import ZoneoutCell
from tests import helpers
from tests.layers import small_layers
from tests.layers.fast_keras_layers import FastKerasLayerTests
from tests.reference.layers import step_with


class TestFastLSTM(FastKerasLayerTests):
    keras_cell = keras.layers.LSTMCell
    keras_layer = keras.layers.LSTM
    fast_cell = FastLSTMCell
    fast_layer = FastLSTM


@pytest.mark.parametrize("training", [False, True])
def test_zoneout_of_h_and_c_equals_the_oracle(training):
    """Values and gradients: at inference the rates, in training the noise."""
    rates = [0.05, 0.5]
    noise = [helpers.random(3, 2, 4, seed=seed) < 0.5 for seed in (1, 2)]
    cell = ZoneoutCell(FastLSTMCell(4, dtype=small_layers.WIDEST), rates)
    cell._noise = lambda shape, rate, seed, index: ops.array(noise[index])
    layer = FastRNN(cell, return_sequences=True, return_state=True)
    layer.build((2, None, 2))
    helpers.randomize(layer)

    def zoned_step(cell, weights):
        step = step_with(cell.cell, weights)
        times = itertools.count()

        def zoned(x, states):
            kept = rates
            if training:
                time = next(times)
                kept = [of_state[time] for of_state in noise]
            return tuple(
                share * old + (1 - share) * new
                for share, old, new in zip(
                    kept, states, step(x, states), strict=True
                )
            )

        return zoned

    small_layers.check_gradients(layer, zoned_step, training=training)


def test_kernels_whose_rows_are_a_page_long():
    # Products on a CPU get some more columns than the 2,048 in float32, and
    # the 512 of the transposed kernel.
    cell = FastLSTMCell(512, recurrent_initializer="glorot_uniform")
    x, cotangents = helpers.random(2, 3, 4), helpers.random(2, 3, 512, seed=1)
    layers = [
        kind(cell, return_sequences=True)
        for kind in (FastRNN, keras.layers.RNN)
    ]
    for layer in layers:
        layer.build(x.shape)
    found, expected = (
        small_layers.backpropagate(layer, [x], [cotangents], training=True)
        for layer in layers
    )
    helpers.assert_close(found, expected, atol=1e-5)
