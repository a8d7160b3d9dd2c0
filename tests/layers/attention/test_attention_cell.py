"""Styles with a state, hypotheses of one memory, noise, readout, faults."""

import keras
import numpy as np
import pytest
from keras import ops
from keras.layers import GRUCell
from keras.layers import LSTMCell
from keras.layers import SimpleRNNCell

from kerasrnn.layers import AttentionCell
from kerasrnn.layers import AttentionRNN
from kerasrnn.layers import CoverageAttention
from kerasrnn.layers import DotAttention
from kerasrnn.layers import FastRNN
from kerasrnn.layers import MonotonicAttention
from kerasrnn.layers import SelfAttentionCell
from tests import helpers
from tests.layers.attention.small_mechanisms import MECHANISMS
from tests.layers.attention.small_mechanisms import NEW_STYLES
from tests.layers.own_cells import ProjectedCell
from tests.reference.attention import attend_as as attend

INPUTS = {
    "sequence": helpers.random(3, 4, 2, seed=2),
    "memory": helpers.random(3, 5, 6, seed=3),
    "memory_mask": np.array(
        [[1, 1, 1, 1, 1], [1, 0, 1, 1, 0], [0, 0, 0, 1, 0]], bool
    ),
}
PLACEMENTS = {
    "before": {},
    "readout": {"readout": True, "units": 5},
    "after": {"placement": "after", "units": 7},
    "fed": {"placement": "after", "units": 7, "input_feeding": True},
}

every_placement = pytest.mark.parametrize("placement", PLACEMENTS)


def make(attention, placement="before", cell=None, **kwargs):
    """A layer with random weights that returns all it can."""
    if attention in MECHANISMS:
        attention = MECHANISMS[attention]()
    layer = AttentionRNN(
        AttentionCell(cell or GRUCell(4), attention, **PLACEMENTS[placement]),
        return_state=True,
        return_attention_scores=True,
        **kwargs,
    )
    layer.build((None, None, 2), (None, None, 6))
    helpers.randomize(layer)
    return layer


def step_by_step(layer, sequence, memory, memory_mask):
    """What the cell makes of a sequence, one step after another."""
    sequence, memory = (ops.convert_to_tensor(x) for x in (sequence, memory))
    mask = ops.convert_to_tensor(memory_mask)
    projected = layer.cell.project(memory, mask)
    states = layer.cell.get_initial_state(projected=projected)
    outputs, weights = [], []
    for t in range(sequence.shape[1]):
        output, states, attended = layer.cell(
            sequence[:, t], states, projected, mask
        )
        outputs.append(output)
        weights.append(attended)
    return ops.stack(outputs, 1), states, ops.stack(weights, 1)


@pytest.mark.parametrize("placement", ["before", "after"])
def test_it_attends_as_in_training(placement):
    """Where it does not stop at one position for sure."""
    layer = make("monotonic", placement)
    for training in (False, True):
        *_, weights = layer(**INPUTS, training=training)
        weights = helpers.as_numpy(weights)
        unsure = (weights > 0.001) & (weights < 0.999)
        assert unsure[0].any() == training


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("attention", ["additive", *NEW_STYLES])
def test_the_sequence_is_step_by_step_and_its_two_halves(attention):
    sequence, memory, mask = INPUTS.values()
    for placement in PLACEMENTS if attention == "additive" else ("fed",):
        layer = make(attention, placement)
        whole = outputs, states, weights = layer(**INPUTS)
        helpers.assert_close(step_by_step(layer, **INPUTS), whole)
        first, middle, first_weights = layer(sequence[:, :1], memory, mask)
        second, end, second_weights = layer(
            sequence[:, 1:], memory, mask, middle
        )
        helpers.assert_close(
            [
                ops.concatenate([first, second], 1),
                ops.concatenate([first_weights, second_weights], 1),
                end,
            ],
            [outputs, weights, states],
        )


@helpers.slow_on_jax
def test_rows_of_a_sentence_share_its_memory():
    """As if each of them had a copy of it."""
    memory = ops.convert_to_tensor(INPUTS["memory"])
    mask = ops.convert_to_tensor(INPUTS["memory_mask"])
    inputs = ops.convert_to_tensor(helpers.random(6, 2, seed=6))
    for name in MECHANISMS:
        if "dot" in name:
            continue  # of other widths, and the same else
        for placement in ("before", "fed") if name == "coverage" else ("fed",):
            layer = make(name, placement)
            copies = [ops.repeat(x, 2, axis=0) for x in (memory, mask)]
            found = []
            for memory_, mask_ in ([memory, mask], copies):
                projected = layer.cell.project(memory_, mask_)
                states = layer.cell.get_initial_state(
                    6, layer.cell.project(*copies)
                )
                for _ in range(2):
                    output, states, weights = layer.cell(
                        inputs, states, projected, mask_
                    )
                found.append([output, states, weights])
            helpers.assert_close(*found)


@every_placement
def test_an_unknown_cell_is_asked_for_its_state_and_its_output(placement):
    """Its output of width 3 is no state; the query before it is of width 4."""
    layer = make("additive", placement, cell=ProjectedCell(4, 3))
    cell, found = layer.cell, []
    sequence, memory, mask = INPUTS.values()
    state, fed = ops.zeros((3, 4)), ops.zeros((3, 7))

    def context(query):
        query = helpers.as_numpy(query)[:, None]
        context, _ = attend(cell.attention, query, memory, mask)
        return ops.cast(context[:, 0], "float32")

    for t in range(4):
        x = ops.convert_to_tensor(sequence[:, t])
        if placement in ("before", "readout"):
            x = ops.concatenate([x, context(state)], -1)
        elif placement == "fed":
            x = ops.concatenate([x, fed], -1)
        h, (state,) = cell.cell(x, [state])
        output = h
        if placement == "readout":
            both = ops.concatenate([h, x], -1) @ cell.kernel
            output = ops.maximum(both[:, ::2], both[:, 1::2])
        elif placement != "before":
            both = ops.concatenate([context(h), h], -1)
            output = fed = ops.tanh(both @ cell.kernel)
        found.append(output)
    outputs, *_ = layer(**INPUTS)
    helpers.assert_close(outputs, ops.stack(found, 1))


@helpers.slow_on_jax
@every_placement
def test_no_sentences_and_no_positions(placement):
    for attention in ("additive", "coverage", None):
        if attention is None and placement != "before":
            continue
        layer = make(attention, placement)
        outputs, _, weights = layer(**{k: x[:0] for k, x in INPUTS.items()})
        assert outputs.shape == (0, 4, layer.cell.output_size)
        assert weights.shape == (0, 4, 5)
        memory, mask = INPUTS["memory"], INPUTS["memory_mask"]
        outputs, _, weights = layer(
            INPUTS["sequence"], memory[:, :0], mask[:, :0]
        )
        assert weights.shape == (3, 4, 0)
        # There is a context of 0, as where all positions are masked.
        expected, _, _ = layer(**INPUTS | {"memory_mask": mask & False})
        helpers.assert_close(outputs, expected)


def test_it_starts_from_the_states_of_the_cell_or_from_all():
    layer = make("coverage", "fed", cell=LSTMCell(4))
    given = [helpers.random(3, 4, seed=i) for i in range(2)]
    outputs, states, _ = layer(**INPUTS, initial_state=given)
    assert [x.shape for x in keras.tree.flatten(states)] == [
        (3, 7),  # h~
        (3, 5),  # coverage
        (3, 4),
        (3, 4),
    ]
    nothing = [np.zeros((3, 7)), np.zeros((3, 5)), given]
    helpers.assert_close(layer(**INPUTS, initial_state=nothing)[0], outputs)


def test_a_state_of_the_attention_is_not_rounded():
    """A sum of a hundred weights of a hundredth, which bfloat16 would lose."""
    cell = AttentionCell(
        SimpleRNNCell(4, dtype="mixed_bfloat16"), CoverageAttention(3, None)
    )
    layer = AttentionRNN(cell, return_state=True, dtype="mixed_bfloat16")
    sequence, memory = np.zeros((1, 100, 2)), np.zeros((1, 100, 6))
    # Nor is it where a call starts from the states of another.
    _, states = layer(sequence[:, :37], memory)
    _, (coverage, _) = layer(sequence[:, 37:], memory, initial_state=states)
    assert keras.backend.standardize_dtype(coverage.dtype) == "float32"
    np.testing.assert_allclose(helpers.as_numpy(coverage), 1, rtol=1e-4)


@pytest.mark.parametrize("placement", ["before", "after"])
def test_dropout_of_weights_is_drawn_for_each_step(placement):
    """The output is the context, and that the weights that are left."""
    layer = AttentionRNN(
        AttentionCell(
            SimpleRNNCell(8, activation="linear"),
            DotAttention(dropout=0.5, dtype="float32"),
            placement,
        )
    )
    layer.build((None, None, 8), (None, None, 8))
    eye, nothing = np.eye(8), np.zeros((8, 8))
    after = placement == "after"
    layer.cell.cell.kernel.assign(
        nothing if after else np.concatenate([nothing, eye])
    )
    layer.cell.cell.recurrent_kernel.assign(nothing)
    if after:
        layer.cell.kernel.assign(np.concatenate([eye, nothing]))
    sequence = np.zeros((4, 5, 8), "float32")
    memory = np.tile(8 * np.eye(8, dtype="float32"), (4, 1, 1))
    # The cell says 0 in each step, or what it has read, so weights differ.
    outputs = helpers.as_numpy(layer(sequence, memory, training=True))
    dropped = outputs == 0
    assert 0.2 < dropped.mean() < 0.8
    assert np.any(dropped[:, 0] != dropped[:, 1])
    assert np.any(dropped[0] != dropped[1])
    again = helpers.as_numpy(layer(sequence, memory, training=True))
    assert np.any(outputs != again)
    assert np.all(helpers.as_numpy(layer(sequence, memory)) > 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("placement", "width"), helpers.one_now([("before", 4), ("after", 7)])
)
def test_what_is_random_is_drawn_before_the_loop(placement, width):
    """Else JAX would not train it, in the loop of the cell or behind it."""
    layer = make(MonotonicAttention(5, dropout=0.3), placement)
    model = helpers.functional(lambda **x: layer(**x)[0], INPUTS)
    zeros = np.zeros((3, 4, width))
    before = model.get_weights()
    model.compile("sgd", "mse")
    assert np.isfinite(model.train_on_batch(INPUTS, zeros))
    for new, old in zip(model.get_weights(), before, strict=True):
        assert np.abs(new - old).max() > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (
                lambda owner=owner: owner(AttentionCell(GRUCell(3))),
                "`state_size`.*<AttentionCell",
            )
            for owner in (keras.layers.RNN, FastRNN, SelfAttentionCell)
        ),
        (
            lambda: make("coverage", "fed", LSTMCell(4))(
                **INPUTS, initial_state=[helpers.random(3, 4)] * 3
            ),
            "Expected: 2 or 4.*Received: 3",
        ),
    ],
)
def test_wrong_cells_and_states(call, message):
    with pytest.raises(ValueError, match=message):
        call()
