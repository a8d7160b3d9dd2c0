"""Zoneout: what it keeps, in the loop of Keras and at once."""

import itertools

import keras
import numpy as np
import pytest
from keras import ops
from keras.layers import RNN

from kerasrnn.layers import FastLSTMCell
from kerasrnn.layers import FastRNN
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import RHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.layers import ZoneoutCell
from tests import helpers
from tests.layers import small_layers

CELLS = {
    "rhn": lambda: RHNCell(4, 2),
    "gam_rhn": lambda: GAMRHNCell(4, 1, 3, 2, 5),
    "lstm": lambda: FastLSTMCell(4),
    "simple": lambda: keras.layers.SimpleRNNCell(4),
}
LAYERS = {"keras": RNN, "fast": FastRNN}

# On JAX, cells in Keras's layer cannot draw random numbers.
NOISY = {"fast": FastRNN} if helpers.ON_JAX else LAYERS

every_cell = pytest.mark.parametrize("name", CELLS)
every_layer = pytest.mark.parametrize(
    "layer_class", LAYERS.values(), ids=LAYERS
)


def zoned(name, rates, **kwargs):
    cell = ZoneoutCell(CELLS[name](), rates, **kwargs)
    cell.build((None, 3))
    cell.built = True
    helpers.randomize(cell)
    return cell


def kept(outputs):
    """Which units a step left as they were, `(batch, time - 1, units)`."""
    outputs = helpers.as_numpy(outputs)
    return outputs[:, 1:] == outputs[:, :-1]


@helpers.slow_on_jax
@every_cell
def test_in_inference_states_move_by_the_expectation(name):
    cell = zoned(name, 0.3)
    x = helpers.random(2, 5, 3)
    states = [
        helpers.random(2, size, seed=index)
        for index, size in enumerate(keras.tree.flatten(cell.state_size))
    ]
    expected, before = [], states
    for step in range(5):
        _, after = cell.cell(x[:, step], [ops.array(s) for s in before])
        before = [
            0.3 * old + 0.7 * new
            for old, new in zip(before, helpers.as_numpy(after), strict=True)
        ]
        expected.append(before[0])
    for layer_class in LAYERS.values():
        layer = layer_class(cell, return_sequences=True, return_state=True)
        outputs, *last = layer(x, initial_state=states)
        helpers.assert_close(outputs, np.stack(expected, axis=1))
        helpers.assert_close(last, before)


@pytest.mark.parametrize(
    ("name", "layer"),
    helpers.some_now(
        itertools.product(["rhn", "lstm", "simple"], NOISY),
        [("rhn", "fast"), ("lstm", max(NOISY)), ("simple", "fast")],
    ),
)
def test_in_training_noise_is_new_for_each_unit_row_step_and_batch(name, layer):
    layer, twin = (
        LAYERS[layer](zoned(name, 0.3, seed=1), return_sequences=True)
        for _ in range(2)
    )
    x = helpers.random(16, 40, 3)
    first, second, same = (
        kept(each(x, training=True)) for each in (layer, layer, twin)
    )
    np.testing.assert_array_equal(first, same)
    # Independent draws agree with probability 0.3² + 0.7² = 0.58.
    assert 0.26 < first.mean() < 0.34
    for one, other in [
        (first, second),
        (first[1:], first[:-1]),
        (first[:, 1:], first[:, :-1]),
        (first[..., 1:], first[..., :-1]),
    ]:
        assert 0.52 < (one == other).mean() < 0.64


@pytest.mark.thorough
def test_noise_does_not_repeat_over_a_long_sequence():
    """It once began anew every 256 steps."""
    x = helpers.random(1, 600, 3)
    for layer_class in NOISY.values():
        layer = layer_class(zoned("rhn", 0.5, seed=1), return_sequences=True)
        noise = kept(layer(x, training=True))[0]
        later = noise[256:] == noise[:-256]
        assert 0.4 < later.mean() < 0.6


def test_rows_of_which_some_are_masked_have_noise_of_their_own():
    mask = np.ones((2, 200), bool)
    mask[0, ::2] = False
    layer = FastRNN(zoned("rhn", 0.5, seed=1), return_sequences=True)
    x = np.broadcast_to(helpers.random(1, 200, 3), (2, 200, 3))
    first, second = kept(layer(x, mask=mask, training=True))
    assert first[1::2].all()
    assert 0.3 < (first[::2] == second[::2]).mean() < 0.7


def test_each_state_has_its_rate():
    cell = zoned("lstm", [0.0, 0.5], seed=1)
    for layer_class in LAYERS.values():
        layer = layer_class(cell, return_state=True)
        x, states = helpers.random(64, 1, 3), [helpers.random(64, 4)] * 2
        _, h, c = helpers.as_numpy(
            layer(x, initial_state=states, training=True)
        )
        assert np.all(h != states[0])
        assert 0.4 < (c == states[1]).mean() < 0.6


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("name", ["gam_rhn", "lstm"])
def test_gradients_at_once_are_those_of_the_loop(name):
    """With the same noise, which is given to both."""
    cell = zoned(name, [0.3, 0.4], seed=1)
    x = helpers.random(2, 6, 3)
    noise = [
        helpers.random(6, 2, size, seed=2) > 0.3 for size in cell.state_size
    ]
    steps = iter([])
    cell._noise = lambda inputs: (
        list(map(ops.array, noise)) if len(inputs.shape) == 3 else next(steps)
    )
    loop = RNN(cell, return_sequences=True, unroll=True)
    fast = FastRNN(cell, return_sequences=True)

    def of(layer):
        nonlocal steps
        steps = ([ops.array(x[t]) for x in noise] for t in range(6))
        return small_layers.backpropagate(
            layer, [x], [helpers.random(2, 6, 4, seed=3)], training=True
        )

    helpers.assert_close(of(fast), of(loop))


@pytest.mark.slow
@every_layer
def test_a_model_trains_and_survives_its_file(layer_class, tmp_path):
    cell = ZoneoutCell(
        RHNCell(3, 2, dropout=0.1, recurrent_dropout=0.1), [0.3], seed=1
    )
    model = keras.Sequential(
        [keras.Input((None, 2)), layer_class(cell), keras.layers.Dense(1)]
    )
    model.compile("adam", "mse")
    x = helpers.random(3, 9, 2)
    losses = [
        model.train_on_batch(x[:size], np.zeros((size, 1)))
        for size in (3, 2, 3)
    ]
    assert np.all(np.isfinite(losses))
    helpers.assert_close(helpers.reloaded(model, tmp_path)(x), model(x))


@pytest.mark.parametrize(
    "cell, rates, message",
    [
        (RHNCell(3), 1.0, r"`rates` must be in \[0, 1\)"),
        (FastLSTMCell(3), [0.1], "Expected: 2 rates. Received: rates="),
        (keras.layers.Dense(3), 0.1, "ZoneoutCell expects `cell`"),
        (keras.layers.StackedRNNCells([RHNCell(3)]), 0.1, "wrap each"),
        # It has a window of earlier steps.
        (
            SelfAttentionCell(keras.layers.GRUCell(4), window=3),
            0.0,
            "wrap the inner cell",
        ),
    ],
)
def test_bad_arguments(cell, rates, message):
    with pytest.raises(ValueError, match=message):
        ZoneoutCell(cell, rates)


@every_layer
def test_noise_is_another_one_for_each_state(layer_class):
    layer = layer_class(zoned("lstm", 0.5, seed=1), return_state=True)
    x, states = helpers.random(64, 1, 3), [helpers.random(64, 4)] * 2
    _, h, c = helpers.as_numpy(layer(x, initial_state=states, training=True))
    assert 0.4 < ((h == states[0]) == (c == states[1])).mean() < 0.6


def test_an_output_that_is_computed_anew_is_still_the_state():
    """A cast, say, or any function that changes nothing."""

    class Copying(keras.layers.SimpleRNNCell):
        def call(self, inputs, states, training=False):
            output, states = super().call(inputs, states, training)
            return output + 0, states

    for cell in (Copying(4), keras.layers.SimpleRNNCell(4)):
        layer = RNN(ZoneoutCell(cell, 0.3), return_state=True)
        output, state = layer(helpers.random(2, 5, 3))
        helpers.assert_close(output, state, 0, 0)


def test_a_wrapper_may_have_another_dtype_than_its_cell():
    cell = ZoneoutCell(keras.layers.GRUCell(4), 0.1, dtype="mixed_bfloat16")
    found = FastRNN(cell)(helpers.random(2, 3, 4))
    assert keras.backend.standardize_dtype(found.dtype) == "bfloat16"
