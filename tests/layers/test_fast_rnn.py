"""A fast layer computes what `keras.layers.RNN` of its cell does."""

import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import RHN
from kerasrnn.layers import RHNCell
from tests import helpers
from tests.layers import recurrent

FAST = [name for name, (_, layer, _) in recurrent.LAYERS.items() if layer]
DROPOUT = {"dropout": 0.4, "recurrent_dropout": 0.3, "seed": 3}
MASKS = {
    "none": None,
    "right_padded": [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]],
    "gaps": [[1, 0, 1, 1, 0], [0, 0, 1, 0, 1], [1, 1, 1, 1, 1]],
    "a_row_without_steps": [[1, 1, 1, 1, 1], [0, 0, 0, 0, 0], [1, 1, 0, 0, 0]],
}
SEQUENCE = helpers.random(3, 5, 2)

every_layer = pytest.mark.parametrize("name", FAST)


def both(name, rnn=None, **options):
    return [
        make(name, rnn, **options) for make in (recurrent.loop, recurrent.fast)
    ]


def check(loop, fast, mask=None, states=True, **kwargs):
    """Compares outputs, states, and the gradients of all there is."""
    cell = loop.cell
    arrays = [SEQUENCE]
    if states:
        arrays.append(recurrent.some_states(cell, batch_size=3))
    if mask is not None:
        kwargs["mask"] = ops.convert_to_tensor(np.array(mask, bool))
    # Both are called as often, so that both draw the same masks.
    fast(*arrays, **kwargs)
    shapes = [x.shape for x in keras.tree.flatten(loop(*arrays, **kwargs))]
    cotangents = [
        helpers.random(*shape, seed=5 + i) for i, shape in enumerate(shapes)
    ]
    found, expected = (
        recurrent.backpropagate(layer, arrays, cotangents, **kwargs)
        for layer in (fast, loop)
    )
    assert len(keras.tree.flatten(found)) > len(shapes) + 3
    helpers.assert_close(found, expected, rtol=1e-4, atol=2e-6)


@every_layer
@pytest.mark.parametrize("mask", MASKS)
def test_with_a_mask(name, mask):
    check(*both(name, {"return_state": True}), mask=MASKS[mask], states=False)


@every_layer
@pytest.mark.parametrize("go_backwards", [False, True])
def test_from_given_states_and_backwards(name, go_backwards):
    rnn = {"return_state": True, "go_backwards": go_backwards}
    check(*both(name, rnn))


@every_layer
def test_dropout(name):
    loop, fast = both(name, **DROPOUT)
    check(loop, fast, training=True, states=False)


@every_layer
def test_zero_output_for_mask(name):
    rnn = {"zero_output_for_mask": True}
    check(*both(name, rnn), mask=MASKS["gaps"], states=False)


@every_layer
@pytest.mark.parametrize("rnn", [{"unroll": True}, {}])
@pytest.mark.parametrize("options", [{"layer_norm": True}, {"zoneout": 0.3}])
def test_what_it_cannot_do_fast_it_does_as_keras(name, rnn, options):
    loop, fast = both(name, rnn, **options)
    assert not fast.cell.can_run_at_once
    helpers.assert_close(fast(SEQUENCE), loop(SEQUENCE))


def test_other_activations_are_left_to_keras():
    loop, fast = both("rhn", activation="relu", recurrent_activation="tanh")
    assert not fast.cell.can_run_at_once
    helpers.assert_close(fast(SEQUENCE), loop(SEQUENCE))


@every_layer
@pytest.mark.parametrize("depth", [1, 3])
def test_depth(name, depth):
    if name != "gam":
        check(*both(name, depth=depth), states=False)


@every_layer
def test_one_step_and_the_last_output_alone(name):
    loop, fast = both(name, {"return_sequences": False})
    for sequence in (SEQUENCE[:, :1], SEQUENCE):
        found = fast(sequence)
        assert found.shape == (3, fast.cell.output_size)
        helpers.assert_close(found, loop(sequence))


@every_layer
def test_it_does_not_see_the_future(name):
    layer = recurrent.fast(name)
    changed = SEQUENCE.copy()
    changed[:, 3] += 1
    before, after = (helpers.as_numpy(layer(x)) for x in (SEQUENCE, changed))
    np.testing.assert_array_equal(before[:, :3], after[:, :3])
    assert np.all(np.any(before[:, 3:] != after[:, 3:], axis=-1))


@every_layer
def test_two_stateful_halves_are_the_whole(name):
    whole = recurrent.fast(name)
    halves = recurrent.fast(name, {"stateful": True}, batch_size=3)
    expected = helpers.as_numpy(whole(SEQUENCE))
    for _ in range(2):
        found = [helpers.as_numpy(halves(SEQUENCE[:, :2]))]
        found.append(helpers.as_numpy(halves(SEQUENCE[:, 2:])))
        helpers.assert_close(np.concatenate(found, axis=1), expected)
        halves.reset_state()


@every_layer
def test_inside_other_layers(name):
    _, layer_class, sizes = recurrent.LAYERS[name]
    new = layer_class(**sizes, return_sequences=True)
    width = new.cell.output_size
    both_ways = keras.layers.Bidirectional(new)
    assert both_ways(SEQUENCE).shape == (3, 5, 2 * width)
    each = keras.layers.TimeDistributed(layer_class(**sizes))
    assert each(helpers.random(2, 3, 5, 2)).shape == (2, 3, width)


@every_layer
def test_a_model_learns_and_survives_its_file(name, tmp_path):
    keras.utils.set_random_seed(1)
    _, layer_class, sizes = recurrent.LAYERS[name]
    model = keras.Sequential(
        [
            keras.Input((None, 2)),
            layer_class(**sizes, **DROPOUT),
            keras.layers.Dense(1),
        ]
    )
    model.compile(keras.optimizers.Adam(0.05), "mse")
    targets = SEQUENCE[:, -1:, 0]
    before = model.test_on_batch(SEQUENCE, targets)
    for _ in range(30):
        model.train_on_batch(SEQUENCE, targets)
    assert model.test_on_batch(SEQUENCE, targets) < 0.7 * before
    # Another length and another batch size.
    other = helpers.random(2, 7, 2, seed=8)
    model.train_on_batch(other, other[:, -1:, 0])
    loaded = helpers.reloaded(model, tmp_path)
    helpers.assert_close(loaded(other), model(other))
    first, again = model.layers[0], helpers.copy_of(model.layers[0])
    assert type(again) is layer_class
    assert again.get_config() == first.get_config()


@every_layer
def test_mixed_precision(name):
    plain = recurrent.fast(name)
    mixed = recurrent.fast(name, dtype="mixed_bfloat16")
    found = mixed(SEQUENCE)
    assert keras.backend.standardize_dtype(found.dtype) == "bfloat16"
    found = ops.cast(found, "float32")
    helpers.assert_close(found, plain(SEQUENCE), rtol=0, atol=0.05)


def test_the_state_stays_in_float32_under_mixed_precision():
    # A carry so strong that each step moves the state by less than half of
    # what bfloat16 can tell apart.
    options = {"units": 4, "transform_bias": -8.0, "dtype": "mixed_bfloat16"}
    sequence = np.ones((1, 400, 2), "float32")
    start = [ops.ones((1, 4), "bfloat16")]
    layers = RHN(**options), keras.layers.RNN(RHNCell(**options))
    fast, loop = (
        helpers.as_numpy(ops.cast(layer(sequence, start), "float32"))
        for layer in layers
    )
    assert np.all(loop == 1)
    assert np.all(fast < 0.95)


@every_layer
def test_one_layer_at_two_places(name):
    loop, fast = both(name)

    def twice(layer):
        def call(sequence):
            return layer(sequence) + layer(-sequence)

        cotangents = [helpers.random(3, 5, layer.cell.output_size, seed=5)]
        return recurrent.backpropagate(layer, [SEQUENCE], cotangents, call)

    helpers.assert_close(twice(fast), twice(loop), rtol=1e-4, atol=2e-6)


@pytest.mark.parametrize("policy", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["rhn", "gam", "gam_rhn"])
def test_a_narrow_dtype_throughout(name, policy):
    layer = recurrent.fast(name, dtype=policy)
    loop = recurrent.loop(name, dtype=policy)
    x = helpers.random(2, 4, 2)
    found, expected = (
        helpers.as_numpy(ops.cast(y, "float32")) for y in (layer(x), loop(x))
    )
    np.testing.assert_allclose(found, expected, atol=0.02)


def test_sizes_may_be_integers_of_numpy():
    layer = RHN(np.int64(3), np.int32(2))
    assert layer(np.ones((2, 4, 5))).shape == (2, 3)
    assert type(layer.get_config()["units"]) is int
