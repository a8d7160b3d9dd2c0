import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import PeepholeLSTMCell
from kerasrnn.layers import RHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.models import PianoRollModel
from tests import helpers

KEYS = 6
ROLLS = (helpers.random(2, 7, KEYS) > 0).astype("float32")


def attending():
    cell = GAMRHNCell(4, 1, 2, 3, 5)
    return SelfAttentionCell(cell, "additive", window=3)


VARIANTS = {
    "attending": {"cell": attending(), "depth": 2},
    "tanh": {"cell": keras.layers.SimpleRNNCell(4)},
    "peepholes": {"cell": PeepholeLSTMCell(4), "depth": 2},
    "rhn": {"cell": RHNCell(4, depth=2)},
}
every_variant = pytest.mark.parametrize("variant", VARIANTS)


def piano_roll_model(variant="rhn", **options):
    model = PianoRollModel(keys=KEYS, **VARIANTS[variant] | options)
    model.build()
    helpers.randomize(model)
    return model


@every_variant
def test_two_parts_are_the_whole(variant):
    model = piano_roll_model(variant)
    states = model.initial_states(2)
    assert [s.shape for s in states] == [(2, n) for n in model.state_sizes]
    first, states = model.run(ROLLS[:, :4], states)
    second, states = model.run(ROLLS[:, 4:], states)
    assert [s.shape for s in states] == [(2, n) for n in model.state_sizes]
    helpers.assert_close(ops.concatenate([first, second], 1), model(ROLLS))


@pytest.mark.parametrize(
    "cell, expected",
    [
        (keras.layers.SimpleRNNCell(100), 100 * (88 + 100 + 1)),
        (FastGRUCell(46, reset_after=False), 3 * 46 * (88 + 46 + 1)),
        (PeepholeLSTMCell(36), 4 * 36 * (88 + 36 + 1) + 3 * 36),
    ],
)
def test_the_weights_of_chung(cell, expected):
    """About 20,000 in the recurrent layer, as in table 1 of the paper."""
    model = PianoRollModel(cell)
    model.build()
    assert 18_000 < expected < 19_000
    expected += (cell.output_size + 1) * 88
    assert model.count_params() == expected


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"cell": "gru"}, "PianoRollModel expects `cell`.*cell='gru'"),
        ({"keys": 0}, "`keys` must be an integer >= 1. Received: keys=0"),
        ({"depth": 0}, "`depth` must be an integer >= 1"),
        ({"dropout": 1.0}, r"`dropout` must be in \[0, 1\)"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        PianoRollModel(**{"cell": FastGRUCell(4)} | arguments)


def test_at_first_keys_are_as_likely_as_they_are_frequent():
    model = PianoRollModel(FastGRUCell(4), keys=KEYS)
    counts = np.array([0, 1, 4, 5, 8, 8])
    model.assign_frequencies(counts, 8)
    states = [ops.zeros_like(state) for state in model.initial_states(1)]
    model.output_projection.kernel.assign(np.zeros((4, KEYS)))
    logits, _ = model.run(ROLLS[:1, :1], states)
    found = helpers.as_numpy(ops.sigmoid(logits))[0, 0]
    helpers.assert_close(found, (counts + 1) / 10)


def test_at_first_few_keys_are_expected():
    model = PianoRollModel(FastGRUCell(4), keys=6)
    model.build()
    model.output_projection.kernel.assign(np.zeros((4, 6)))
    np.testing.assert_array_equal(model(np.zeros((1, 2, 6))), -3.0)


@pytest.mark.parametrize(
    "wrong", [[1, 2], [-1, *5 * [1]], [9, *5 * [1]], [np.nan, *5 * [1]]]
)
def test_wrong_frequencies_are_refused(wrong):
    model = piano_roll_model()
    before = helpers.as_numpy(model.output_projection.bias.value)
    with pytest.raises(ValueError, match="6 numbers from 0 to 8. Received: an"):
        model.assign_frequencies(wrong, 8)
    after = helpers.as_numpy(model.output_projection.bias.value)
    np.testing.assert_array_equal(before, after)
