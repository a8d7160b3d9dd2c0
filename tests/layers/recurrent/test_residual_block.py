import keras
import numpy as np
import pytest

from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastRNN
from kerasrnn.layers import MLSTMCell
from kerasrnn.layers import ResidualBlockCell
from kerasrnn.layers import RGLRUCell
from kerasrnn.layers import SLSTMCell
from tests import helpers
from tests.layers import small_layers
from tests.reference.cells import sigmoid

X = helpers.random(3, 7, 4)
MASK = np.array([[0, 0, 1, 0, 1, 1, 0], [1, 1, 1, 1, 1, 0, 0], [0] * 7], "bool")


def make(cell, **options):
    block = ResidualBlockCell(cell, **options)
    block.build((None, 4))
    helpers.randomize(block)
    return block


def norm(x, gains):
    return x / np.sqrt(np.mean(x**2, -1, keepdims=True) + 1e-6) * gains


@pytest.mark.parametrize("gate", [True, False])
def test_equations(gate):
    cell = FastGRUCell(4)
    block = make(cell, gate=gate, hidden_dim=3)
    outputs = FastRNN(block, return_sequences=True)(X)
    first_gains, second_gains, *kernels, first, second, last = (
        helpers.as_numpy(variable)
        for variable in block.trainable_variables
        if variable.path.split("/")[-1] in ("scale", "kernel")
        and not any(variable is own for own in cell.variables)
    )
    normed = norm(X, first_gains)
    found = helpers.as_numpy(FastRNN(cell, return_sequences=True)(normed))
    if gate:
        gating, projection = kernels
        gates = helpers.as_numpy(keras.activations.gelu(normed @ gating))
        found = (found * gates) @ projection
    found = X + found
    normed = norm(found, second_gains)
    hidden = normed @ first
    hidden = hidden * sigmoid(hidden) * (normed @ second)
    helpers.assert_close(outputs, found + hidden @ last, 1e-4, 1e-4)


@pytest.mark.parametrize(
    "cell",
    [
        FastGRUCell(4, recurrent_dropout=0.5),
        SLSTMCell(4, heads=2),
        RGLRUCell(4),
        MLSTMCell(4, heads=2),
        keras.layers.LSTMCell(4),
    ],
    ids=lambda x: type(x).__name__,
)
@pytest.mark.parametrize("mask", [None, MASK], ids=["whole", "masked"])
def test_the_layer_is_the_loop_with_its_gradients(cell, mask):
    block = make(cell)
    states = small_layers.some_states(block, 3)
    # Before the first unmasked step, Keras differs on JAX.
    seen = np.ones((3, 7)) if mask is None else np.cumsum(mask, 1) > 0
    seen = np.expand_dims(seen, -1).astype("float32")
    found = []
    for layer_class in (FastRNN, keras.layers.RNN):
        layer = layer_class(block, return_sequences=True, return_state=True)
        (outputs, *last), *gradients = small_layers.backpropagate(
            layer,
            [X, states],
            [
                helpers.random(3, 7, 4) * seen,
                *(helpers.random(*x.shape, seed=9) for x in states),
            ],
            call=lambda x, states, layer=layer: layer(
                x, initial_state=states, mask=mask
            ),
        )
        found.append([outputs * seen, *last, *gradients])
    helpers.assert_close(*found, 1e-3, 1e-3)


def test_a_list_of_blocks_is_a_model_that_is_saved(tmp_path):
    blocks = [
        ResidualBlockCell(MLSTMCell(4, heads=2), gate=False),
        ResidualBlockCell(SLSTMCell(4, heads=2), hidden_dim=5),
    ]
    layer = FastRNN(blocks, return_sequences=True)
    model = keras.Sequential([keras.Input((None, 4)), layer])
    loaded = helpers.reloaded(model, tmp_path)
    helpers.assert_close(loaded(X), model(X))
    assert layer.slow_because is None
    # 8 / 3 of the width, in units of 8.
    assert (4, 16) in {tuple(weight.shape) for weight in blocks[0].weights}


def test_the_width_of_the_input_is_checked():
    with pytest.raises(ValueError, match="Expected: 3. Received: 4"):
        FastRNN(ResidualBlockCell(FastGRUCell(3)))(X)
