"""`FastLSTM` computes what `keras.layers.RNN` of Keras's cell does."""

import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import FastLSTM
from kerasrnn.layers import FastLSTMCell
from kerasrnn.layers import cells
from tests import helpers
from tests.layers import recurrent

SEQUENCE = helpers.random(3, 5, 2)
MASK = np.array([[1, 1, 1, 1, 1], [1, 0, 1, 0, 0], [0, 0, 0, 0, 0]], bool)


def loop_and_fast(rnn=None, **options):
    """A layer of each kind, with the same random weights."""
    rnn = {"return_sequences": True, "return_state": True} | (rnn or {})
    cell = keras.layers.LSTMCell(4, **options)
    loop = keras.layers.RNN(cell, dtype=cell.dtype_policy, **rnn)
    fast = FastLSTM(4, **options, **rnn)
    for layer in (loop, fast):
        layer.build((3, None, 2))
        helpers.randomize(layer)
    assert fast.cell.can_run_at_once
    return loop, fast


def check(loop, fast, rtol=1e-4, atol=2e-6, **kwargs):
    """Compares outputs, states and all gradients."""
    arrays = [SEQUENCE]
    # Keras gives 0, not the state it was given, before the first real step.
    if kwargs.get("mask") is None:
        arrays.append([helpers.random(3, 4, seed=i) for i in (4, 5)])
    shapes = [x.shape for x in keras.tree.flatten(loop(*arrays, **kwargs))]
    fast(*arrays, **kwargs)
    cotangents = [
        helpers.random(*shape, seed=6 + i) for i, shape in enumerate(shapes)
    ]
    found, expected = (
        recurrent.backpropagate(layer, arrays, cotangents, **kwargs)
        for layer in (fast, loop)
    )
    assert len(keras.tree.flatten(found)) >= 3 + 2 + 1
    helpers.assert_close(found, expected, rtol=rtol, atol=atol)


@pytest.mark.parametrize("use_bias", [True, False])
@pytest.mark.parametrize("mask", [None, MASK], ids=["whole", "masked"])
def test_values_and_gradients(mask, use_bias):
    if mask is not None:
        mask = ops.convert_to_tensor(mask)
    check(*loop_and_fast(use_bias=use_bias), mask=mask)


def test_backwards_and_with_zeros_for_what_is_masked():
    rnn = {"go_backwards": True, "zero_output_for_mask": True}
    check(*loop_and_fast(rnn), mask=ops.convert_to_tensor(MASK))


def test_dropout_of_the_input_is_the_same_at_every_step():
    loop, fast = loop_and_fast(dropout=0.5, seed=3)
    check(loop, fast, training=True)
    rested = fast(SEQUENCE, training=False)[0]
    assert np.abs(fast(SEQUENCE, training=True)[0] - rested).max() > 1e-3


def test_products_are_in_bfloat16_and_the_state_is_not():
    _, fast = loop_and_fast(dtype="mixed_bfloat16")
    loop, _ = loop_and_fast()
    outputs, *states = fast(SEQUENCE)
    assert outputs.dtype == "bfloat16" or "bfloat16" in str(outputs.dtype)
    expected = loop(SEQUENCE)[0]
    found = ops.cast(outputs, "float32")
    helpers.assert_close(found, expected, rtol=0.05, atol=0.02)


@pytest.mark.parametrize(
    "option",
    [
        {"recurrent_dropout": 0.3, "seed": 3},
        {"activation": "relu"},
        {"recurrent_activation": "hard_sigmoid"},
    ],
    ids=lambda option: next(iter(option)),
)
def test_what_it_cannot_do_at_once_it_does_in_the_loop(option):
    loop = keras.layers.RNN(keras.layers.LSTMCell(4, **option))
    fast = FastLSTM(4, **option)
    for layer in (loop, fast):
        layer.build((3, None, 2))
        helpers.randomize(layer)
    assert not fast.cell.can_run_at_once
    found, expected = (x(SEQUENCE, training=True) for x in (fast, loop))
    helpers.assert_close(found, expected)


def test_a_clone_of_keras_own_cell_is_the_fast_one():
    cell = keras.layers.LSTMCell(4, unit_forget_bias=False, dropout=0.2)
    copy = cells.clone_cell(cell)
    assert type(copy) is FastLSTMCell
    ignored = {"name": None, "seed": None}
    assert copy.get_config() | ignored == cell.get_config() | ignored


def test_stacked_cells_run_one_after_the_other():
    """As in the loop over time that runs all of them at each step."""
    stacked = keras.layers.StackedRNNCells(
        [FastLSTMCell(4), keras.layers.GRUCell(3), FastLSTMCell(5)]
    )
    layer = keras.layers.RNN(stacked, return_sequences=True, return_state=True)
    layer.build(SEQUENCE.shape)
    helpers.randomize(layer)
    expected = layer(SEQUENCE)
    outputs, states = cells.run(
        stacked,
        ops.convert_to_tensor(np.swapaxes(SEQUENCE, 0, 1)),
        cells.initial_state(stacked, 3),
    )
    found = [ops.swapaxes(outputs, 0, 1), *states]
    helpers.assert_close(
        keras.tree.flatten(found), keras.tree.flatten(expected)
    )


def test_it_can_be_saved(tmp_path):
    layer = FastLSTM(4, return_sequences=True, name="lstm")
    model = keras.Sequential([keras.Input((5, 2)), layer])
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert type(loaded.layers[0]) is FastLSTM
    helpers.assert_close(loaded(SEQUENCE), model(SEQUENCE))
