"""What is asked of the fast layers of Keras's own cells."""

import inspect

import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import _backend
from tests import helpers
from tests.layers import small_layers
from tests.reference.layers import step_of

SEQUENCE = helpers.random(3, 5, 2)
MASK = np.array([[1, 1, 1, 1, 1], [1, 0, 1, 0, 0], [0, 0, 0, 0, 0]], bool)
DROPOUT = {"dropout": 0.5, "recurrent_dropout": 0.4, "seed": 3}
# None of them is the default.
ARGUMENTS = {
    **small_layers.ARGUMENTS,
    **{"activation": "relu", "recurrent_activation": "hard_sigmoid"},
    **{"return_sequences": True, "return_state": True, "unroll": True},
    **{"go_backwards": True, "stateful": True, "zero_output_for_mask": True},
    **DROPOUT,
}


class FastKerasLayerTests:
    """The layer computes what `keras.layers.RNN` of Keras's cell does.

    A class of tests names the cell and the layer of Keras, and those that
    are in the place of them here.
    """

    keras_cell = None
    keras_layer = None
    fast_cell = None
    fast_layer = None

    @pytest.fixture(autouse=True)
    def not_by_keras(self, monkeypatch):
        """Or else it would be compared with itself."""
        monkeypatch.setattr(_backend, "is_eager", lambda: False)

    def loop_and_fast(self, rnn=None, **options):
        """A layer of each kind, with the same random weights."""
        rnn = {"return_sequences": True, "return_state": True} | (rnn or {})
        # Keras's cell knows no layer normalization, and drops each gate's state
        # with a mask of its own.
        ours = {"layer_norm", "recurrent_dropout"} & options.keys()
        cell_class = self.fast_cell if ours else self.keras_cell
        cell = cell_class(4, **options)
        loop = keras.layers.RNN(cell, dtype=cell.dtype_policy, **rnn)
        fast = self.fast_layer(4, **options, **rnn)
        for layer in (loop, fast):
            layer.build((3, None, 2))
            helpers.randomize(layer)
        return loop, fast

    def check(self, loop, fast, **kwargs):
        """Compares outputs, states and all gradients."""
        assert fast.slow_because is None
        arrays = [SEQUENCE]
        states = len(keras.tree.flatten(fast.cell.state_size))
        initial = [helpers.random(3, 4, seed=4 + i) for i in range(states)]
        arrays.append(initial)
        # Both are called as often, so that both draw the same masks.
        outputs = keras.tree.flatten(loop(*arrays, **kwargs))
        assert len(outputs) == 1 + states
        fast(*arrays, **kwargs)
        cotangents = [
            helpers.random(*output.shape, seed=6 + i)
            for i, output in enumerate(outputs)
        ]
        found, expected = (
            small_layers.backpropagate(layer, arrays, cotangents, **kwargs)
            for layer in (fast, loop)
        )
        _, weights, _ = found
        assert len(weights) == 2 + fast.use_bias + fast.layer_norm
        helpers.assert_close(found, expected, rtol=1e-4, atol=2e-6)

    @pytest.mark.parametrize("use_bias", [True, False])
    @pytest.mark.parametrize("mask", [None, MASK], ids=["whole", "masked"])
    def test_values_and_gradients(self, mask, use_bias):
        if mask is not None:
            # On JAX, a loop of Keras returns the first state, not zeros, for
            # the masked steps before the first real one.
            rows = [0, 1, 1] if helpers.ON_JAX else [0, 1, 2]
            mask = ops.convert_to_tensor(mask[rows])
        self.check(*self.loop_and_fast(use_bias=use_bias), mask=mask)

    def test_backwards_and_with_zeros_for_what_is_masked(self):
        rnn = {"go_backwards": True, "zero_output_for_mask": True}
        layers = self.loop_and_fast(rnn)
        self.check(*layers, mask=ops.convert_to_tensor(MASK))

    @pytest.mark.parametrize(
        "options",
        [{"dropout": 0.5, "seed": 3}, DROPOUT],
        ids=["of_the_input", "of_the_state_too"],
    )
    def test_dropout_is_the_same_at_every_step(self, options):
        loop, fast = self.loop_and_fast(**options)
        self.check(loop, fast, training=True)
        rested = fast(SEQUENCE, training=False)[0]
        assert np.abs(fast(SEQUENCE, training=True)[0] - rested).max() > 1e-3

    def test_layer_normalization_with_dropout_but_no_bias(self):
        layers = self.loop_and_fast(layer_norm=True, use_bias=False, **DROPOUT)
        self.check(*layers, training=True)

    def test_a_normalized_step_equals_the_oracle(self):
        cell = self.fast_cell(4, layer_norm=True)
        cell.build((None, 2))
        helpers.randomize(cell)
        x, states = SEQUENCE[:, 0], small_layers.some_states(cell, 3)
        expected = step_of(cell)(x, states)
        helpers.assert_close(small_layers.step(cell, x, states), expected)

    @pytest.mark.parametrize("layer_norm", [False, True])
    def test_gradients_equal_finite_differences(self, layer_norm):
        _, fast = self.loop_and_fast(
            layer_norm=layer_norm, dtype=small_layers.WIDEST
        )
        assert fast.slow_because is None
        small_layers.check_gradients(fast)

    def test_products_are_in_bfloat16(self):
        for options in ({}, {"layer_norm": True}):
            _, fast = self.loop_and_fast(dtype="mixed_bfloat16", **options)
            step_by_step = keras.layers.RNN(
                fast.cell, return_sequences=True, dtype=fast.dtype_policy
            )
            loop, _ = self.loop_and_fast(**options)
            expected = loop(SEQUENCE)[0]
            for outputs in (fast(SEQUENCE)[0], step_by_step(SEQUENCE)):
                assert "bfloat16" in str(outputs.dtype)
                found = ops.cast(outputs, "float32")
                helpers.assert_close(found, expected, rtol=0.05, atol=0.03)

    def test_dropout_in_bfloat16(self):
        _, fast = self.loop_and_fast(dtype="mixed_bfloat16", **DROPOUT)
        outputs, *states = fast(SEQUENCE, training=True)
        for x in (outputs, *states):
            x = helpers.as_numpy(ops.cast(x, "float32"))
            assert np.all(np.isfinite(x))

    @pytest.mark.parametrize(
        ("device", "training", "options", "by_keras"),
        [
            ("gpu", True, {}, not helpers.ON_JAX),
            ("gpu", True, {"dropout": 0.5}, not helpers.ON_JAX),
            ("gpu", False, {}, helpers.ON_TORCH),
            ("gpu", True, {"mask": MASK}, False),
            ("gpu", True, {"activation": "relu"}, helpers.ON_TORCH),
            (
                *("gpu", True, {"recurrent_activation": "hard_sigmoid"}),
                helpers.ON_TORCH,
            ),
            ("gpu", True, {"use_bias": False}, helpers.ON_TORCH),
            ("gpu", True, {"layer_norm": True}, False),
            ("gpu", True, {"recurrent_dropout": 0.5}, False),
            ("gpu", True, {"unroll": True}, False),
            ("gpu", True, {"dtype": "mixed_bfloat16"}, False),
            ("eager", True, {}, not helpers.ON_JAX),
            ("eager", False, {"go_backwards": True}, not helpers.ON_JAX),
            ("cpu", True, {}, helpers.ON_TORCH),
        ],
    )
    def test_keras_computes_what_it_is_faster_at(
        self, device, training, options, by_keras, monkeypatch
    ):
        """Here, without a GPU, Keras computes the same by a loop."""
        options = dict(options)
        kwargs = {"mask": options.pop("mask", None), "training": training}
        on_jax = helpers.ON_JAX
        calls = []
        inner_loop = self.keras_layer.inner_loop
        monkeypatch.setattr(
            self.keras_layer,
            "inner_loop",
            lambda *args: calls.append(args) or inner_loop(*args),
        )

        def run(device):
            monkeypatch.setattr(_backend, "on_gpu", lambda: device == "gpu")
            eager = device == "eager" and not on_jax
            monkeypatch.setattr(_backend, "is_eager", lambda: eager)
            layer = self.fast_layer(
                4, return_sequences=True, return_state=True, **options
            )
            layer.build((3, None, 2))
            helpers.randomize(layer)
            layer.cell.seed_generator.state.assign([7, 0])
            states = small_layers.some_states(layer.cell, 3)
            found = layer(SEQUENCE, initial_state=states, **kwargs)
            found = [ops.cast(x, "float32") for x in found]
            return found, len(layer.trainable_weights), layer.supports_jit

        outputs, weights, supports_jit = run(device)
        assert len(calls) == by_keras
        cuda = device == "gpu" and not helpers.ON_TORCH
        assert supports_jit or (cuda and not on_jax)
        expected, count, _ = run("cpu")
        assert weights == count
        helpers.assert_close(outputs, expected)

    def test_what_keras_computes_is_saved_once(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_backend, "is_eager", lambda: not helpers.ON_JAX)
        layer = self.fast_layer(4)
        model = keras.Sequential([keras.Input((5, 2)), layer])
        before = helpers.as_numpy(model(SEQUENCE, training=True))
        layer(ops.convert_to_tensor(SEQUENCE), training=True)
        assert len(layer.weights) == 3
        loaded = helpers.reloaded(model, tmp_path)
        helpers.assert_close(loaded(SEQUENCE), before)
        for weight in layer.weights:  # Keras reads the same variables.
            weight.assign(np.zeros(weight.shape))
        found = layer(ops.convert_to_tensor(SEQUENCE), training=True)
        assert not np.any(helpers.as_numpy(found))

    @pytest.mark.parametrize("name", ["activation", "recurrent_activation"])
    def test_other_activations(self, name):
        self.check(*self.loop_and_fast(**{name: "hard_sigmoid"}))

    def test_it_shows_every_argument_that_keras_has(self):
        ours = inspect.signature(self.fast_layer).parameters
        theirs = inspect.signature(self.keras_layer).parameters
        # One is of every layer, the other says how it is computed.
        theirs = set(theirs) - {"activity_regularizer", "use_cudnn"}
        assert theirs - set(ours) == set()
        for *both, options in (
            (self.fast_layer, self.keras_layer, ARGUMENTS),
            (self.fast_layer, self.keras_layer, {}),
            (self.fast_cell, self.keras_cell, {}),
        ):
            found, config = (make(4, **options).get_config() for make in both)
            for name in theirs & found.keys() & config.keys() - {"name"}:
                assert found[name] == config[name], name
        for argument in ours.keys() - {"kwargs"}:
            assert hasattr(self.fast_layer(4), argument), argument

    def test_it_starts_as_in_keras(self):
        ours, theirs = self.fast_cell(4), self.keras_cell(4)
        for cell in (ours, theirs):
            cell.build((None, 2))
        helpers.assert_close(ours.bias.value, theirs.bias.value, 0, 0)
        kernel = helpers.as_numpy(ours.recurrent_kernel.value)
        helpers.assert_close(kernel @ kernel.T, np.eye(4), atol=1e-5)

    def test_it_can_be_saved(self, tmp_path):
        layer = self.fast_layer(4, layer_norm=True, return_sequences=True)
        model = keras.Sequential([keras.Input((5, 2)), layer])
        helpers.randomize(model)
        loaded = helpers.reloaded(model, tmp_path)
        assert type(loaded.layers[0]) is self.fast_layer
        helpers.assert_close(loaded(SEQUENCE), model(SEQUENCE))
