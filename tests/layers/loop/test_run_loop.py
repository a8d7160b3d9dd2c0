"""A step that is written once, against the backend's own gradients."""

import itertools

import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import FastLSTM
from kerasrnn.layers import FastRNN
from kerasrnn.layers import Fixed
from kerasrnn.layers import Kernel
from kerasrnn.layers import RecurrentCell
from kerasrnn.layers import _backend
from tests import helpers
from tests.layers import small_layers

SEQUENCE = helpers.random(3, 5, 2)
MASK = np.array([[1, 1, 1, 1, 1], [1, 0, 1, 0, 0], [0, 0, 1, 1, 0]], bool)
ON_TENSORFLOW = not (helpers.ON_JAX or helpers.ON_TORCH)


class Everything(RecurrentCell):
    """Uses each thing that a step may use, and some of them twice."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = self.output_size = units
        self.state_size = [units, units]

    def build(self, input_shape):
        square = (self.units, self.units)
        self.kernel = self.add_kernel((input_shape[-1], self.units))
        self.recurrent_kernel = self.add_recurrent_kernel(square)
        self.other = self.add_recurrent_kernel(square, "other")
        self.bias = self.add_bias((self.units,))
        self.scale = self.add_weight((self.units,), "ones", name="scale")
        self.dense = keras.layers.Dense(self.units, dtype=self.dtype_policy)
        self.dense.build((None, self.units))

    def given(self, inputs):
        return {
            "x": self.project(inputs, self.kernel),
            "turned": Kernel(ops.transpose(self.other)),
            "shift": Fixed(self.bias + 1),
            "order": ops.cast(ops.sign(inputs[..., :1]), "int32"),
            "power": 2,
        }

    def step(self, states, given, product):
        a, b = states
        first = product(a, self.recurrent_kernel, given["x"], drop=True)
        # A kernel for the second time; a sum that is no part of `given`.
        second = product(self.activation(first), self.recurrent_kernel, a * b)
        # Two kernels side by side, one of them made of weights.
        both = product(b, [given["turned"], self.other], drop=True)
        left, right = ops.split(both, 2, axis=-1)
        a = self.activation(second + given["x"] + given["shift"] * left)
        b = b + product(a, self.other, self.bias) * self.scale
        b = self.activation(self.dense(b) + right ** given["power"])
        return [a, b * ops.cast(given["order"], b.dtype)]


class Outside(Everything):
    """Its output is narrower than its state, and also depends on the input."""

    def __init__(self, units, **kwargs):
        super().__init__(units, **kwargs)
        self.output_size = 1

    def read_out(self, states, inputs):
        a, b = states
        return ops.sum(a * b, axis=-1, keepdims=True) + inputs[..., :1]


class OneState(RecurrentCell):
    """Its state is its output."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = self.output_size = units
        self.state_size = [units]


class OneTensorTwice(OneState):
    """Has one tensor of all steps in two places."""

    def build(self, input_shape):
        self.kernel = self.add_kernel((input_shape[-1], self.units))
        self.scale = self.add_weight((self.units,), "ones", name="scale")

    def given(self, inputs):
        scale = ops.tanh(self.scale)
        return [self.project(inputs, self.kernel), Fixed(scale), Fixed(scale)]

    def step(self, states, given, product):
        x, key, value = given
        return [ops.tanh(x + states[0] * key) * value]


class Compared(OneState):
    """Has a product that is only compared, which has no gradient."""

    def build(self, input_shape):
        square = (self.units, self.units)
        self.kernel = self.add_kernel((input_shape[-1], self.units))
        self.recurrent_kernel = self.add_recurrent_kernel(square)
        self.gate = self.add_recurrent_kernel(square, "gate")

    def given(self, inputs):
        return self.project(inputs, self.kernel)

    def step(self, states, given, product):
        new = ops.tanh(given + product(states[0], self.recurrent_kernel))
        is_open = product(states[0], self.gate) > 0
        return [ops.where(is_open, new, states[0])]


CELLS = {"everything": Everything, "outside": Outside}
OPTIONS = {
    "whole": {},
    "dropped": {"dropout": 0.4, "recurrent_dropout": 0.4, "seed": 3},
}


def both(cell, **options):
    """`FastRNN` and `keras.layers.RNN` of one cell with random weights."""
    options = {"return_sequences": True, "return_state": True} | options
    layers = FastRNN(cell, **options), keras.layers.RNN(cell, **options)
    for layer in layers:
        layer.build(SEQUENCE.shape)
    helpers.randomize(cell)
    assert layers[0].slow_because is None
    return layers


def check(cell, masked=False, **kwargs):
    layers = both(cell)
    if masked:
        kwargs["mask"] = ops.convert_to_tensor(MASK)
    arrays = [SEQUENCE, small_layers.some_states(cell, batch_size=3)]
    shapes = [x.shape for x in keras.tree.flatten(layers[1](*arrays))]
    cotangents = [
        helpers.random(*shape, seed=5 + i) for i, shape in enumerate(shapes)
    ]
    found = []
    for layer in layers:
        # Both draw the same masks.
        cell.seed_generator.state.assign([7, 0])
        found.append(
            small_layers.backpropagate(layer, arrays, cotangents, **kwargs)
        )
    helpers.assert_close(*found, rtol=1e-4, atol=5e-6)
    assert all(np.any(gradient) for gradient in found[0][1])


# On JAX, Keras takes the first state for the output of a masked step.
MASKED = [False] if helpers.ON_JAX else [False, True]
FACTORS = [*itertools.product(CELLS, [False, True], MASKED, OPTIONS)]
# Half of them, in which any three factors meet in each way.
HALF = [
    (name, training, masked, options)
    for name, training, masked, options in FACTORS
    if (name == "everything") ^ training ^ masked ^ (options == "whole")
]


@pytest.mark.parametrize(
    ("name", "training", "masked", "options"), helpers.some_now(FACTORS, HALF)
)
def test_values_and_gradients(name, training, masked, options):
    check(CELLS[name](4, **OPTIONS[options]), masked, training=training)


def test_one_tensor_in_two_places_has_the_gradient_of_both():
    check(OneTensorTwice(4))


def test_a_product_may_have_no_gradient():
    layers = both(Compared(4))
    cotangents = [helpers.random(3, 5, 4), helpers.random(3, 4, seed=6)]
    arrays = [SEQUENCE, small_layers.some_states(layers[0].cell, batch_size=3)]
    found, expected = (
        small_layers.backpropagate(layer, arrays, cotangents)
        for layer in layers
    )
    helpers.assert_close(found, expected, rtol=1e-4, atol=5e-6)


def second_gradients(layer):
    """Gradients of a sum over the squared gradient of the sequence."""
    if helpers.ON_JAX:
        import jax

        def of_sequence(values, x):
            with keras.StatelessScope(
                zip(layer.trainable_weights, values, strict=True)
            ):
                return ops.sum(layer(x, training=True)[0] ** 2)

        def squared(values, x):
            return ops.sum(jax.grad(of_sequence, argnums=1)(values, x) ** 2)

        values = [weight.value for weight in layer.trainable_weights]
        return jax.grad(squared, argnums=(0, 1))(values, SEQUENCE)
    import tensorflow as tf

    x = tf.constant(SEQUENCE)
    weights = [weight.value for weight in layer.trainable_weights]
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            total = tf.reduce_sum(layer(x, training=True)[0] ** 2)
        squared = tf.reduce_sum(inner.gradient(total, x) ** 2)
    return outer.gradient(squared, [weights, x])


@pytest.mark.slow_on_jax
def test_second_derivatives():
    found, expected = map(second_gradients, both(Everything(4)))
    found, expected = map(keras.tree.flatten, (found, expected))
    helpers.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    assert all(np.any(x) for x in helpers.as_numpy(found))


def compiled_gradients(function, *arrays):
    """The gradients of the sum of a function, by XLA and without it."""
    import tensorflow as tf

    def gradients(*tensors):
        with tf.GradientTape() as tape:
            tape.watch(tensors)
            total = tf.reduce_sum(function(*tensors) ** 2)
        return tape.gradient(total, tensors)

    tensors = [tf.constant(x) for x in arrays]
    compiled = tf.function(gradients, jit_compile=True)
    return compiled(*tensors), gradients(*tensors)


@pytest.mark.skipif(not ON_TENSORFLOW, reason="loops of TensorFlow")
def test_xla_differentiates_a_loop():
    def products(x, start):
        def step(carry, index):
            carry = carry * x[index]
            return carry, carry

        last, kept = _backend.scan(step, start, 4)
        return last + ops.sum(kept, axis=0)

    arrays = helpers.random(4, 2), helpers.random(2, seed=1)
    helpers.assert_close(*compiled_gradients(products, *arrays))


@pytest.mark.slow
@pytest.mark.skipif(not ON_TENSORFLOW, reason="loops of TensorFlow")
@pytest.mark.parametrize("masked", [False, True], ids=["", "masked"])
def test_xla_differentiates_a_layer_in_inference(masked):
    layer = FastLSTM(3)
    x = helpers.random(3, 11, 2)
    mask = helpers.random(3, 11, seed=1) > 0 if masked else None
    layer.build(x.shape)
    helpers.assert_close(*compiled_gradients(lambda x: layer(x, mask=mask), x))


@pytest.mark.parametrize("time", [1, 5, 60])
def test_a_length_that_is_known_is_known_of_the_outputs(time):
    outputs = FastRNN(Everything(4), return_sequences=True)(
        keras.Input((time, 2))
    )
    assert outputs.shape == (None, time, 4)


def run(**methods):
    """Runs a cell some of whose methods are at fault."""
    broken = type("Broken", (Everything,), methods)
    return FastRNN(broken(4, recurrent_dropout=0.5))(SEQUENCE, training=True)


class Forgetful(Everything):
    def __init__(self, units, slope=1.0, **kwargs):
        super().__init__(units, **kwargs)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: run(
                step=lambda self, states, given, product: [
                    x + self.bias.assign(self.bias + 1) * 0 for x in states
                ]
            ),
            "counts its steps must do so in a state.*update of .*bias",
        ),
        (
            lambda: run(
                step=lambda self, states, given, product: [
                    product(x, ops.transpose(self.other)) for x in states
                ]
            ),
            "return `Kernel",
        ),
        (
            lambda: run(
                step=lambda self, states, given, product: [
                    product(x, self.other) if next(self.calls) < 1 else x
                    for x in states
                ],
                calls=itertools.count(),
            ),
            "the same products",
        ),
        (
            lambda: run(
                step=lambda self, states, given, product: (states[0], states)
            ),
            "must return only the list of new states",
        ),
        (
            lambda: run(
                step=lambda self, states, given, product: [
                    x[:, :3] for x in states
                ]
            ),
            r"Expected: shapes \[\(3, 4\), \(3, 4\)\]. Received: \[\(3, 3\)",
        ),
        (
            lambda: run(given=lambda self, inputs: Fixed(self.bias)),
            "must return at least one tensor computed from its inputs",
        ),
        # As long as there are steps, so that it could be taken for a sequence.
        (
            lambda: run(given=lambda self, inputs: (inputs, ops.ones((5,)))),
            r"Wrap a tensor .* in `Fixed\(...\)`.*Received: shape \(5,\)",
        ),
        *(
            (
                lambda layer=layer: layer(Everything(3, layer_norm=True))(
                    SEQUENCE
                ),
                "Everything has `layer_norm` but no",
            )
            for layer in (FastRNN, keras.layers.RNN)
        ),
        (
            lambda: FastLSTM(1, layer_norm=True)(SEQUENCE),
            "a single unit.*two units or more",
        ),
        (
            lambda: Forgetful(3).get_config(),
            "Forgetful.*no attribute 'slope'",
        ),
    ],
)
def test_a_fault_of_a_cell_is_told(call, message):
    with pytest.raises((ValueError, TypeError, AttributeError), match=message):
        call()


class Noisy(Everything):
    """Draws noise for all steps, or at each step."""

    in_given = True

    def noise(self, x):
        shape = (*ops.shape(x)[:-1], 4)
        return keras.random.normal(shape, seed=self.seed_generator)

    def given(self, inputs):
        given = super().given(inputs)
        return (
            {**given, "noise": self.noise(inputs)} if self.in_given else given
        )

    def step(self, states, given, product):
        new = super().step(states, given, product)
        noise = given["noise"] if self.in_given else self.noise(states[0])
        return [x + noise for x in new]


@pytest.mark.parametrize("in_given", [True, False])
def test_noise_is_another_one_at_each_step_and_call(in_given):
    cell = Noisy(4)
    cell.in_given = in_given
    layer = FastRNN(cell, return_sequences=True)
    x = np.zeros_like(SEQUENCE)
    cell.build(x.shape[1:])
    for weight in cell.trainable_weights:
        weight.assign(np.zeros(weight.shape))
    found = np.concatenate(
        [helpers.as_numpy(layer(x)) for _ in range(2)], axis=1
    )
    assert np.unique(found).size == found.size


def test_back_through_time_noise_is_that_of_the_step():
    """What all draws multiply has their product as its gradient."""

    class Scaled(OneState):
        def build(self, input_shape):
            self.scale = self.add_weight((self.units,), "ones", name="scale")

        def given(self, inputs):
            return inputs

        def step(self, states, given, product):
            drawn = keras.random.uniform(
                ops.shape(states[0]), 1, 2, seed=self.seed_generator
            )
            return [states[0] * drawn + 0 * given + 0 * self.scale]

    layer = FastRNN(Scaled(2))
    layer.build(SEQUENCE.shape)
    start = np.ones((3, 2), "float32")
    (last,), _, gradients = small_layers.backpropagate(
        layer, [SEQUENCE, [start]], [start], training=True
    )
    helpers.assert_close(keras.tree.flatten(gradients)[1], last)
    assert np.unique(helpers.as_numpy(last)).size == 6


@pytest.mark.parametrize("method", ["given", "step"])
# In a graph of JAX, the first call builds the layer, once.
@pytest.mark.parametrize("graph", [False] if helpers.ON_JAX else [False, True])
def test_a_layer_inside_must_have_been_built(method, graph):
    """It would have drawn another kernel at each step."""

    class WithLayer(RecurrentCell):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.state_size = self.output_size = 2
            self.inner = keras.layers.Dense(2)

        def build(self, input_shape):
            self.kernel = self.add_kernel((input_shape[-1], 2))

        def given(self, inputs):
            return self.inner(inputs) if method == "given" else inputs

        def step(self, states, given, product):
            return [given + self.inner(states[0])]

    text = "`build` of a cell must .*build all layers.*dense.*kernel"
    layer, inputs = FastRNN(WithLayer()), {"sequences": SEQUENCE}
    with pytest.raises(ValueError, match=text):
        helpers.compiled(layer, inputs) if graph else layer(**inputs)
    with pytest.raises(ValueError, match=text):  # now it is built
        layer(**inputs)
    with pytest.raises(ValueError, match=text):
        WithLayer()(SEQUENCE[:, 0], [helpers.random(3, 2)])


class Plain(RecurrentCell):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = self.output_size = self.state_size = units

    def build(self, input_shape):
        self.kernel = self.add_kernel((input_shape[-1], self.units))
        self.recurrent_kernel = self.add_kernel((self.units, self.units))

    def given(self, inputs):
        return self.project(inputs, self.kernel)


def test_a_product_may_be_of_matrices():
    class Pairs(Plain):
        def step(self, states, given, product):
            both = ops.stack([states[0], 1 - states[0]], axis=1)
            both = product(both, self.recurrent_kernel, given[:, None])
            return [self.activation(both[:, 0]) * both[:, 1]]

    cell = Pairs(4)
    layers = FastRNN(cell), keras.layers.RNN(cell)
    helpers.assert_close(*(layer(SEQUENCE) for layer in layers))


def test_a_state_may_be_a_matrix():
    class Matrix(RecurrentCell):
        def __init__(self, units, **kwargs):
            super().__init__(**kwargs)
            self.units = self.output_size = units
            self.state_size = [units, (3, units)]

        def build(self, input_shape):
            self.kernel = self.add_kernel((input_shape[-1], self.units))

        def given(self, inputs):
            return self.project(inputs, self.kernel)

        def step(self, states, given, product):
            _, rows = states
            rows = ops.concatenate(
                [rows[:, 1:], ops.expand_dims(given, 1)], axis=1
            )
            return [self.activation(ops.mean(rows, axis=1)), rows]

    cell = Matrix(4)
    options = {"return_sequences": True, "return_state": True}
    fast, loop = (kind(cell, **options) for kind in (FastRNN, keras.layers.RNN))
    helpers.assert_close(fast(SEQUENCE), loop(SEQUENCE))
    if not helpers.ON_JAX:  # There Keras gets such a mask wrong.
        mask = ops.convert_to_tensor(MASK[:2])
        found, expected = (x(SEQUENCE[:2], mask=mask) for x in (fast, loop))
        helpers.assert_close(found, expected)


@pytest.mark.skipif(keras.backend.backend() != "jax", reason="JAX's own")
@small_layers.one_of_a_kind
def test_rows_and_steps_may_have_symbols(name):
    """As in what Keras exports of a model with any batch and time."""
    import jax

    layer = small_layers.fast(name)
    layer.build((None, None, 2))
    rows, steps = jax.export.symbolic_shape("rows, steps")
    x = jax.ShapeDtypeStruct((rows, steps, 2), "float32")
    exported = jax.export.export(jax.jit(layer))(x)
    helpers.assert_close(exported.call(SEQUENCE), layer(SEQUENCE))
