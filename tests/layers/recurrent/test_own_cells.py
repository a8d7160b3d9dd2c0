"""Cells of a user's own: what they may do, and what is refused."""

import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import FastRNN
from kerasrnn.layers import Fixed
from kerasrnn.layers import GAMCell
from kerasrnn.layers import MinGRUCell
from kerasrnn.layers import RecurrentCell
from tests import helpers

X = helpers.random(2, 5, 3)


class Plain(RecurrentCell):
    """`h = tanh(x W + h U)`, which each test changes."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = self.output_size = units

    def build(self, input_shape):
        self.kernel = self.add_kernel((input_shape[-1], self.units))
        self.recurrent_kernel = self.add_recurrent_kernel(
            (self.units, self.units)
        )
        self.bias = self.add_bias((self.units,))

    def given(self, inputs):
        return self.project(inputs, self.kernel) + self.bias

    def step(self, states, given, product):
        return [ops.tanh(product(states[0], self.recurrent_kernel, given))]


class AddsInput(Plain):
    def read_out(self, states, inputs):
        return states[0] + ops.sum(inputs, axis=-1, keepdims=True)


class AddsInputToScan(MinGRUCell):
    read_out = AddsInput.read_out


class Scales(Plain):
    """An array of NumPy has float64."""

    def given(self, inputs):
        scale = Fixed(np.linspace(0.5, 1, self.units))
        return {"x": super().given(inputs), "scale": scale}

    def step(self, states, given, product):
        (new,) = super().step(states, given["x"], product)
        return [new * given["scale"]]


class Remembers(Plain):
    def given(self, inputs):
        self.shift = ops.sigmoid(self.bias)
        return super().given(inputs)


class Branches(Plain):
    def step(self, states, given, product):
        new = ops.cond(
            ops.sum(states[0]) > 0,
            lambda: product(states[0], self.recurrent_kernel, given),
            lambda: given,
        )
        return [ops.tanh(new)]


@keras.saving.register_keras_serializable("tests")
class Relu(Plain):
    fixed_arguments = ("activation",)

    def __init__(self, units, **kwargs):
        super().__init__(units, activation="relu", **kwargs)


class Around(RecurrentCell):
    """Has another cell inside."""

    def __init__(self, cell, **kwargs):
        super().__init__(**kwargs)
        self.cell = cell
        self.state_size, self.output_size = cell.state_size, cell.output_size

    def build(self, input_shape):
        self.cell.build(input_shape)

    def given(self, inputs):
        return self.cell.given(inputs)

    def step(self, states, given, product):
        return self.cell.step(states, given, product)


def of_both_loops(cell, x=X, **options):
    """What `FastRNN` and `keras.layers.RNN` return, of the same weights."""
    layers = [
        kind(cell, return_sequences=True, return_state=True)
        for kind in (FastRNN, keras.layers.RNN)
    ]
    return [layer(x, **options) for layer in layers]


@pytest.mark.parametrize("cell", [AddsInput, AddsInputToScan, Scales])
def test_it_runs_as_in_the_loop_of_keras(cell):
    unmasked = np.array([False, True, True, False, True])
    found = of_both_loops(cell(4), mask=np.stack([unmasked] * 2))
    # On JAX, Keras does not repeat an output that is not the state.
    (fast, *states), (plain, *expected) = (
        (helpers.as_numpy(outputs)[:, unmasked], *states)
        for outputs, *states in found
    )
    helpers.assert_close([fast, *states], [plain, *expected])


def test_a_masked_step_repeats_the_output_before_it():
    mask = np.array([[False, True, False, False, True]] * 2)
    layer = FastRNN(AddsInput(4), return_sequences=True)
    found = helpers.as_numpy(layer(X, mask=mask))
    assert not found[:, 0].any() and found[:, 1].any()
    helpers.assert_close(found[:, 2:4], found[:, [1, 1]])


@pytest.mark.skipif(
    keras.backend.backend() == "torch", reason="PyTorch has no XLA here"
)
def test_an_output_of_its_own_trains_under_xla_on_masked_input():
    layer = FastRNN(AddsInput(4))
    model = keras.Sequential(
        [
            keras.layers.Embedding(9, 3, mask_zero=True),
            layer,
            keras.layers.Dense(1),
        ]
    )
    model.compile("adam", "mse", jit_compile=True)
    loss = model.train_on_batch(np.array([[1, 2, 0], [1, 2, 3]]), np.ones(2))
    assert np.isfinite(loss)


def test_a_memory_is_group_by_group_inside_another_cell():
    inner = GAMCell(num_groups=3, group_size=2, head_units=4)
    states = [helpers.random(2, 3), helpers.random(2, 6)]
    fast, plain = of_both_loops(Around(inner), initial_state=states)
    for one, other in zip(fast, plain, strict=True):
        helpers.assert_close(one, other)


def test_an_output_size_is_that_of_the_first_state_by_default():
    cell = Plain(4)
    del cell.output_size
    fast, plain = of_both_loops(cell)
    helpers.assert_close(fast, plain)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (Remembers, "`Fixed.*Received: `self.shift`"),
        (Branches, "none of them in a branch"),
    ],
)
def test_what_a_step_may_not_do(cell, message):
    layer = FastRNN(cell(4))
    layer.build(X.shape)
    with pytest.raises(ValueError, match=message):
        layer(X, initial_state=[ops.full((2, 4), -1.0)], training=True)


def test_an_argument_that_a_cell_decides_is_listed():
    copy = Relu.from_config(Relu(4, dropout=0.1).get_config())
    assert copy.activation is keras.activations.relu and copy.dropout == 0.1
