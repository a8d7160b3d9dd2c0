import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import SLSTM
from kerasrnn.layers import FastRNN
from kerasrnn.layers import SLSTMCell
from tests import helpers
from tests.layers import small_layers


def test_golden():
    cell = small_layers.with_weights(
        SLSTMCell(1),
        kernel=[[0.5, -0.25, 1.0, 0.75]],
        recurrent_kernel=[[-0.5, 0.5, 0.25, 1.0]],
        bias=[0.1, 1.0, -0.2, 0.3],
    )
    states = small_layers.step(cell, [[1.0]], 4 * [[[0.0]]])
    # sigmoid(1.05) tanh(0.8), tanh(0.8), 1, 0.6
    np.testing.assert_allclose(
        np.ravel(states), [0.491902, 0.664037, 1.0, 0.6], rtol=1e-5
    )
    states = small_layers.step(cell, [[2.0]], states)
    # The log of the forget gate, and m, are less than a_i.
    np.testing.assert_allclose(
        np.ravel(states), [0.778116, 1.307527, 1.526123, 0.854049], rtol=1e-5
    )


def test_the_first_output_knows_no_stabilizer():
    """However small or large the input gate."""
    cell = small_layers.with_weights(
        SLSTMCell(1),
        kernel=[[1.0, 0.0, 0.0, 0.0]],
        recurrent_kernel=np.zeros((1, 4)),
        bias=[0.0, 1.0, 0.5, 0.0],
    )
    for x in (-500.0, 0.0, 500.0):
        h, _, n, _ = small_layers.step(cell, [[x]], 4 * [[[0.0]]])
        np.testing.assert_allclose(h, 0.5 * np.tanh([[0.5]]), rtol=1e-6)
        assert n == 1


@pytest.mark.parametrize("forget_gate", ["sigmoid", "exp"])
def test_large_gates_over_many_steps(forget_gate):
    options = {"return_sequences": True, "return_state": True}
    layer = SLSTM(4, forget_gate=forget_gate, **options)
    sequence = 100 * helpers.random(2, 2000, 3)
    outputs, _, _, n, _ = helpers.compiled(layer, {"sequences": sequence})
    assert np.all(np.abs(outputs) <= 1) and np.abs(outputs).max() > 0.1
    assert np.all(n >= 0.999) and np.all(n <= 2000)


def test_gradients_of_large_gates():
    layer = SLSTM(4, return_sequences=True)
    layer.build((None, None, 2))
    sequence = 200 * helpers.random(2, 30, 2)
    _, weights, arrays = small_layers.backpropagate(
        layer, [sequence], [np.ones((2, 30, 4), "float32")]
    )
    assert all(np.all(np.isfinite(x)) for x in (*weights, *arrays))


def test_it_has_the_weights_of_an_lstm():
    layers = SLSTM(8), keras.layers.LSTM(8)
    for layer in layers:
        layer.build((None, None, 5))
    ours, keras_ = (layer.count_params() for layer in layers)
    assert ours == keras_ == 4 * 8 * (5 + 8 + 1)
    helpers.assert_close(layers[0].cell.bias, layers[1].cell.bias)


def test_heads_start_differently():
    layer = SLSTM(
        8,
        heads=2,
        recurrent_initializer=keras.initializers.GlorotUniform(seed=1),
    )
    layer.build((None, None, 5))
    one, other = helpers.as_numpy(layer.cell.recurrent_kernel)
    assert (one != other).all()


@pytest.mark.parametrize("layer_class", [FastRNN, keras.layers.RNN])
def test_heads_are_blocks_of_the_kernel(layer_class):
    """Values and gradients, with dropout of the state."""
    options = {"recurrent_dropout": 0.4, "seed": 3}
    parted, whole = (SLSTMCell(6, heads=n, **options) for n in (3, 1))
    for cell in (parted, whole):
        cell.build((None, 2))
    helpers.randomize(parted)
    assert parted.recurrent_kernel.shape == (3, 2, 4, 2)
    kernel, blocks, bias = parted.get_weights()[:3]
    # Rows and columns by head, and columns by gate.
    matrix, on_the_diagonal = np.zeros((3, 2, 4, 3, 2)), np.arange(3)
    matrix[on_the_diagonal, :, :, on_the_diagonal] = blocks
    for name, value in (
        ("kernel", kernel),
        ("recurrent_kernel", matrix.reshape(6, 24)),
        ("bias", bias),
    ):
        getattr(whole, name).assign(value)
    arrays = [helpers.random(3, 5, 2)]
    cotangents = [helpers.random(3, 5, 6, seed=5)]
    found, expected = (
        small_layers.backpropagate(
            layer_class(cell, return_sequences=True),
            arrays,
            cotangents,
            training=True,
        )
        for cell in (parted, whole)
    )
    helpers.assert_close(found[0], expected[0])
    helpers.assert_close(found[2], expected[2])
    of_blocks, of_matrix = (
        helpers.as_numpy(x[1][1]) for x in (found, expected)
    )
    of_matrix = of_matrix.reshape(matrix.shape)
    of_matrix = of_matrix[on_the_diagonal, :, :, on_the_diagonal]
    helpers.assert_close(of_blocks, of_matrix)


def test_each_head_starts_as_a_matrix_of_its_own():
    cell = SLSTMCell(12, heads=3)
    cell.build((None, 2))
    for block in helpers.as_numpy(cell.recurrent_kernel.value).reshape(
        3, 4, 16
    ):
        np.testing.assert_allclose(block @ block.T, np.eye(4), atol=1e-5)


def test_an_exponential_gate_starts_at_one():
    cell = SLSTMCell(3, forget_gate="exp")
    cell.build((None, 2))
    assert np.all(ops.convert_to_numpy(cell.bias) == 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"forget_gate": "tanh"}, "`forget_gate`.*Received.*'tanh'"),
        ({"heads": 5}, "must divide `units`.*heads=5"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        SLSTMCell(12, **arguments)
