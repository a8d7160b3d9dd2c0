"""What is asked of the fast layers of Keras's own cells."""

import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import cells
from tests import helpers
from tests.layers import recurrent

SEQUENCE = helpers.random(3, 5, 2)
MASK = np.array([[1, 1, 1, 1, 1], [1, 0, 1, 0, 0], [0, 0, 0, 0, 0]], bool)


class FastKerasLayerTests:
    """The layer computes what `keras.layers.RNN` of Keras's cell does.

    A class of tests names the cell of Keras, what is in the place of it and
    of its layer here, and options that leave them to the loop.
    """

    keras_cell = None
    fast_cell = None
    fast_layer = None

    def loop_and_fast(self, rnn=None, **options):
        """A layer of each kind, with the same random weights."""
        rnn = {"return_sequences": True, "return_state": True} | (rnn or {})
        cell = self.keras_cell(4, **options)
        loop = keras.layers.RNN(cell, dtype=cell.dtype_policy, **rnn)
        fast = self.fast_layer(4, **options, **rnn)
        for layer in (loop, fast):
            layer.build((3, None, 2))
            helpers.randomize(layer)
        return loop, fast

    def check(self, loop, fast, **kwargs):
        """Compares outputs, states and all gradients."""
        assert fast.cell.can_run_at_once
        arrays = [SEQUENCE]
        states = len(keras.tree.flatten(fast.cell.state_size))
        # Keras gives 0, not the state it was given, before the first real
        # step.
        if kwargs.get("mask") is None:
            initial = [helpers.random(3, 4, seed=4 + i) for i in range(states)]
            arrays.append(initial)
        outputs = keras.tree.flatten(loop(*arrays, **kwargs))
        assert len(outputs) == 1 + states
        fast(*arrays, **kwargs)
        cotangents = [
            helpers.random(*output.shape, seed=6 + i)
            for i, output in enumerate(outputs)
        ]
        found, expected = (
            recurrent.backpropagate(layer, arrays, cotangents, **kwargs)
            for layer in (fast, loop)
        )
        _, weights, _ = found
        assert len(weights) == 2 + fast.cell.use_bias
        helpers.assert_close(found, expected, rtol=1e-4, atol=2e-6)

    @pytest.mark.parametrize("use_bias", [True, False])
    @pytest.mark.parametrize("mask", [None, MASK], ids=["whole", "masked"])
    def test_values_and_gradients(self, mask, use_bias):
        if mask is not None:
            mask = ops.convert_to_tensor(mask)
        self.check(*self.loop_and_fast(use_bias=use_bias), mask=mask)

    def test_backwards_and_with_zeros_for_what_is_masked(self):
        rnn = {"go_backwards": True, "zero_output_for_mask": True}
        layers = self.loop_and_fast(rnn)
        self.check(*layers, mask=ops.convert_to_tensor(MASK))

    def test_dropout_of_the_input_is_the_same_at_every_step(self):
        loop, fast = self.loop_and_fast(dropout=0.5, seed=3)
        self.check(loop, fast, training=True)
        rested = fast(SEQUENCE, training=False)[0]
        assert np.abs(fast(SEQUENCE, training=True)[0] - rested).max() > 1e-3

    def test_products_are_in_bfloat16_and_the_state_is_not(self):
        _, fast = self.loop_and_fast(dtype="mixed_bfloat16")
        loop, _ = self.loop_and_fast()
        outputs = fast(SEQUENCE)[0]
        assert "bfloat16" in str(outputs.dtype)
        expected = loop(SEQUENCE)[0]
        found = ops.cast(outputs, "float32")
        helpers.assert_close(found, expected, rtol=0.05, atol=0.02)

    def check_that_it_falls_back(self, **options):
        loop, fast = self.loop_and_fast(**options)
        assert not fast.cell.can_run_at_once
        found, expected = (
            keras.tree.flatten(layer(SEQUENCE, training=True))
            for layer in (fast, loop)
        )
        helpers.assert_close(found, expected)

    @pytest.mark.parametrize(
        "options",
        [
            {"recurrent_dropout": 0.3, "seed": 3},
            {"activation": "relu"},
            {"recurrent_activation": "hard_sigmoid"},
        ],
        ids=lambda options: next(iter(options)),
    )
    def test_what_it_cannot_do_at_once_it_does_in_the_loop(self, options):
        self.check_that_it_falls_back(**options)

    def test_a_clone_of_keras_own_cell_is_the_fast_one(self):
        cell = self.keras_cell(4, use_bias=False, dropout=0.2)
        copy = cells.clone_cell(cell)
        assert type(copy) is self.fast_cell
        ignored = {"name": None, "seed": None}
        assert copy.get_config() | ignored == cell.get_config() | ignored

    def test_it_can_be_saved(self, tmp_path):
        layer = self.fast_layer(4, return_sequences=True)
        model = keras.Sequential([keras.Input((5, 2)), layer])
        model.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        assert type(loaded.layers[0]) is self.fast_layer
        helpers.assert_close(loaded(SEQUENCE), model(SEQUENCE))
