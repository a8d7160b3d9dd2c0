"""What the cells share: dropout, zoneout, initializers of several layers."""

import keras
import numpy as np
import pytest
from keras import ops
from keras.layers import RNN

from kerasrnn.layers import RHNCell
from kerasrnn.layers._keras import DropoutRNNCell
from kerasrnn.layers.recurrent_cell import initializer_of_layer
from tests import helpers
from tests.layers import recurrent
from tests.reference.recurrent_cells import zoneout

SEQUENCE = helpers.random(3, 40, 2)
CELLS = list(recurrent.LAYERS)

every_cell = pytest.mark.parametrize("name", CELLS)


def states_of(layer, sequence, **kwargs):
    return helpers.as_numpy(layer(sequence, **kwargs))


@every_cell
def test_in_inference_zoneout_moves_by_the_expectation(name):
    plain = recurrent.cell(name)
    zoned = recurrent.cell(name, zoneout=0.3)
    x, states = helpers.random(2, 2), recurrent.some_states(plain)
    new, *_ = recurrent.step(plain, x, states)
    clock = np.zeros((2, 1), "float32")
    found, *_ = recurrent.step(zoned, x, [*states, clock])
    helpers.assert_close(found, zoneout(new, states[0], 0.3))


@every_cell
def test_in_training_zoneout_keeps_units_as_they_were(name):
    plain = recurrent.cell(name)
    zoned = recurrent.cell(name, zoneout=0.4, seed=1)
    x, states = helpers.random(64, 2), recurrent.some_states(plain, 64)
    new, *_ = recurrent.step(plain, x, states)
    clock = np.zeros((64, 1), "float32")
    found, *_, clock = recurrent.step(zoned, x, [*states, clock], training=True)
    kept = found == states[0]
    np.testing.assert_allclose(found[~kept], new[~kept], rtol=1e-5, atol=1e-6)
    assert 0.25 < kept.mean() < 0.55
    assert np.all(clock == 1)


def test_zoneout_is_drawn_anew_at_each_step_and_in_each_batch():
    layer = recurrent.loop("rhn", zoneout=0.3, seed=1)
    first, second = (
        np.diff(states_of(layer, SEQUENCE, training=True), axis=1) == 0
        for _ in range(2)
    )
    assert 0.2 < first.mean() < 0.4
    # Independent draws agree with probability 0.3² + 0.7².
    assert 0.45 < (first == second).mean() < 0.7
    assert 0.45 < (first[:, 1:] == first[:, :-1]).mean() < 0.7
    assert 0.45 < (first[1:] == first[:-1]).mean() < 0.7


def test_the_clock_of_zoneout_starts_over():
    cell = recurrent.cell("rhn", zoneout=0.3)
    x, states = helpers.random(2, 2), recurrent.some_states(cell)
    *_, clock = recurrent.step(
        cell, x, [states[0], np.full((2, 1), 255, "float32")], training=True
    )
    assert np.all(clock == 0)


def test_zoneout_trains_in_a_compiled_model():
    layer = RNN(RHNCell(3, 2, zoneout=0.3, dropout=0.1, recurrent_dropout=0.1))
    model = keras.Sequential(
        [keras.Input((None, 2)), layer, keras.layers.Dense(1)]
    )
    model.compile("adam", "mse")
    losses = [
        model.train_on_batch(SEQUENCE[:size], np.zeros((size, 1)))
        for size in (3, 2, 3)
    ]
    assert np.all(np.isfinite(losses))


@every_cell
def test_dropout_is_constant_over_time_and_new_for_each_batch(name):
    cell = recurrent.new_cell(name, dropout=0.5, recurrent_dropout=0.5, seed=1)
    masks = []
    get = cell.drop_input

    def spy(inputs, training=False):
        masks.append(cell.get_dropout_mask(inputs))
        return get(inputs, training)

    cell.drop_input = spy
    layer = RNN(cell, unroll=True)
    for _ in range(2):
        layer(helpers.random(8, 4, 2), training=True)
    masks = helpers.as_numpy(masks)
    assert len(masks) == 8
    for mask in masks:
        assert set(np.unique(mask)) == {0, 2}
    for first in (0, 4):
        for mask in masks[first : first + 4]:
            np.testing.assert_array_equal(mask, masks[first])
    assert np.any(masks[0] != masks[4])


@every_cell
def test_nothing_is_dropped_in_inference(name):
    options = {"dropout": 0.5, "recurrent_dropout": 0.5}
    dropped, plain = recurrent.loop(name, **options), recurrent.loop(name)
    helpers.assert_close(dropped(SEQUENCE), plain(SEQUENCE))


def test_keras_draws_and_resets_the_masks_of_our_cells():
    cell = RHNCell(3, dropout=0.5, recurrent_dropout=0.5)
    assert isinstance(cell, DropoutRNNCell)
    calls = []
    for name in (
        "get_dropout_mask",
        "get_recurrent_dropout_mask",
        "reset_dropout_mask",
        "reset_recurrent_dropout_mask",
    ):
        assert hasattr(DropoutRNNCell, name)

        def spy(*args, name=name):
            calls.append(name)
            return getattr(RHNCell, name)(cell, *args)

        setattr(cell, name, spy)
    RNN(cell)(SEQUENCE)
    assert calls[:2] == ["get_dropout_mask", "get_recurrent_dropout_mask"]
    assert calls[-2:] == ["reset_dropout_mask", "reset_recurrent_dropout_mask"]


@pytest.mark.parametrize("seed", [None, 5])
def test_each_layer_has_an_initializer_of_its_own(seed):
    initializer = keras.initializers.GlorotNormal(seed)
    first, second, again = (
        ops.convert_to_numpy(initializer_of_layer(initializer, layer)((4, 3)))
        for layer in (0, 1, 0)
    )
    assert np.all(first != second)
    assert np.array_equal(first, again) == (seed is not None)


@pytest.mark.parametrize("name", ["dropout", "recurrent_dropout", "zoneout"])
@pytest.mark.parametrize("bad", [-0.1, 1.0])
def test_rates_are_checked(name, bad):
    with pytest.raises(ValueError, match=f"`{name}`.*Received: {name}={bad}"):
        RHNCell(3, **{name: bad})


def test_zoneout_is_drawn_anew_where_the_first_row_is_masked():
    layer = recurrent.loop("rhn", zoneout=0.5, seed=1)
    mask = np.ones((2, 7), bool)
    mask[0, 2:] = False
    outputs = layer(helpers.random(2, 7, 2) * 3, mask=mask, training=True)
    kept = np.diff(helpers.as_numpy(outputs)[1], axis=0) == 0
    assert len({tuple(step) for step in kept}) > 1
    assert not kept.all(axis=0).any()
