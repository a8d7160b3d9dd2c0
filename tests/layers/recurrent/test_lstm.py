"""`FastLSTM` computes what `keras.layers.RNN` of Keras's cell does."""

import keras
import numpy as np
import pytest
from keras.initializers import Constant
from keras.layers import LSTMCell

from kerasrnn.layers import FastLSTM
from kerasrnn.layers import FastLSTMCell
from kerasrnn.layers import FastRNN
from kerasrnn.layers import PeepholeLSTM
from kerasrnn.layers import PeepholeLSTMCell
from tests import helpers
from tests.layers import small_layers
from tests.layers.fast_keras_layers import FastKerasLayerTests


class TestFastLSTM(FastKerasLayerTests):
    keras_cell = keras.layers.LSTMCell
    keras_layer = keras.layers.LSTM
    fast_cell = FastLSTMCell
    fast_layer = FastLSTM


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


def test_golden():
    cell = small_layers.with_weights(
        PeepholeLSTMCell(1),
        kernel=[[0.5, -0.5, 1.0, 0.25]],
        recurrent_kernel=[[-0.5, 1.0, 0.5, -1.0]],
        bias=[0.1, 0.2, -0.3, -0.1],
        peepholes=[[2.0], [-1.0], [3.0]],
    )
    h, c = small_layers.step(cell, [[1.0]], [[[0.5]], [[-0.25]]])
    np.testing.assert_allclose(h, [[0.1038488041]], rtol=1e-6)
    np.testing.assert_allclose(c, [[0.1895417520]], rtol=1e-6)


def test_without_peepholes_it_is_the_cell_of_keras():
    ours, keras_cell = PeepholeLSTMCell(4), LSTMCell(4)
    for cell in (ours, keras_cell):
        cell.build((None, 2))
        cell.built = True
    weights = ours.get_weights()[:3]
    assert [w.shape for w in weights] == [
        w.shape for w in keras_cell.get_weights()
    ]
    weights[2] = helpers.random(16)
    keras_cell.set_weights(weights)
    ours.set_weights([*weights, np.zeros((3, 4))])
    x, states = helpers.random(2, 2), small_layers.some_states(ours)
    helpers.assert_close(
        small_layers.step(ours, x, states),
        small_layers.step(keras_cell, x, states),
        rtol=1e-6,
    )


@pytest.mark.parametrize("unit_forget_bias", [True, False])
def test_it_starts_as_the_cell_of_keras(unit_forget_bias):
    ours, keras_cell = (
        make(3, unit_forget_bias=unit_forget_bias)
        for make in (PeepholeLSTMCell, LSTMCell)
    )
    ours.build((None, 2))
    keras_cell.build((None, 2))
    helpers.assert_close(ours.bias.value, keras_cell.bias.value, 0, 0)
    assert np.all(helpers.as_numpy(ours.peepholes.value) == 0)
    recurrent_kernel = helpers.as_numpy(ours.recurrent_kernel.value)
    np.testing.assert_allclose(
        recurrent_kernel @ recurrent_kernel.T, np.eye(3), atol=1e-5
    )


def test_the_forget_gate_starts_at_one_whatever_the_initializer():
    options = {"bias_initializer": Constant(3), "peephole_initializer": "ones"}
    cell = PeepholeLSTMCell(2, **options)
    cell.build((None, 2))
    assert np.all(helpers.as_numpy(cell.peepholes.value) == 1)
    bias = helpers.as_numpy(cell.bias.value)
    np.testing.assert_array_equal(bias, [3, 3, 1, 1, 3, 3, 3, 3])


@pytest.mark.parametrize("layer_norm", [True, False])
def test_without_biases_it_is_the_one_whose_biases_are_0(layer_norm):
    options = {"layer_norm": layer_norm, "return_sequences": True}
    layer = PeepholeLSTM(3, use_bias=False, **options)
    other = PeepholeLSTM(3, unit_forget_bias=False, **options)
    x = helpers.random(2, 5, 2)
    layer.build(x.shape)
    other.build(x.shape)
    assert layer.cell.bias is None
    for weight in layer.weights:
        (same,) = [x for x in other.weights if x.name == weight.name]
        same.assign(weight)
    helpers.assert_close(layer(x), other(x))
