import itertools
import re

import keras
import numpy as np
import pytest
from keras import ops
from keras.layers import GRUCell
from keras.layers import LSTMCell
from keras.layers import StackedRNNCells

from kerasrnn.layers import AttentionCell
from kerasrnn.layers import AttentionRNN
from kerasrnn.layers import BahdanauAttention
from kerasrnn.layers import DotAttention
from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastLSTMCell
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import GeneralAttention
from kerasrnn.layers import RHNCell
from kerasrnn.layers import _backend
from kerasrnn.layers.attention.attention_rnn import attend_in_a_loop
from tests import helpers
from tests.layers import small_layers
from tests.layers.attention.small_mechanisms import MECHANISMS
from tests.layers.attention.small_mechanisms import WIDTHS
from tests.reference import attention_rnn as reference
from tests.reference.attention import attend_as as attend
from tests.reference.layers import step_of

INPUTS = {
    "sequence": helpers.random(3, 4, 2, seed=2),
    "memory": helpers.random(3, 5, 6, seed=3),
    "memory_mask": np.array(
        [[1, 1, 1, 1, 1], [1, 0, 1, 1, 0], [0, 0, 0, 1, 0]], bool
    ),
}
CELLS = {
    "gru": lambda: GRUCell(3),
    "gru_before": lambda: GRUCell(3, reset_after=False),
    "lstm": lambda: FastLSTMCell(3),
    "stacked": lambda: StackedRNNCells([GRUCell(5), GRUCell(3)]),
}
PLACEMENTS = {
    "before": {"placement": "before"},
    "after": {"placement": "after", "units": 7},
    "fed": {"placement": "after", "units": 7, "input_feeding": True},
}

every_placement = pytest.mark.parametrize("placement", PLACEMENTS)
# Each cell and each placement, and all placements of two states.
each_pair = pytest.mark.parametrize(
    ("cell", "placement"),
    helpers.some_now(
        itertools.product(CELLS, PLACEMENTS),
        [
            ("gru", "fed"),
            ("gru_before", "before"),
            *[("lstm", placement) for placement in PLACEMENTS],
            ("stacked", "before"),
            ("stacked", "fed"),
        ],
    ),
)


def make(cell="gru", placement="before", attention="additive", **kwargs):
    """A layer with random weights that returns all it can."""
    layer = AttentionRNN(
        AttentionCell(CELLS[cell](), attention, **PLACEMENTS[placement]),
        return_state=True,
        return_attention_scores=True,
        **kwargs,
    )
    layer.build((None, None, 2), (None, None, 6))
    helpers.randomize(layer)
    return layer


def some_states(layer, batch_size=3):
    """Random states of the right structure."""
    return keras.tree.map_structure(
        lambda x: helpers.random(*x.shape, seed=4),
        layer.cell.get_initial_state(batch_size),
    )


def oracle(layer, sequence, memory, memory_mask, states):
    """Outputs, states in the order of `flatten`, and attention weights."""
    cell = layer.cell
    fed = None
    if cell.input_feeding:
        fed, states = states
    # The oracle's states begin with the output.
    order = -1 if hasattr(cell.cell, "cells") else 1
    states = keras.tree.flatten(states)[::order]
    states = states[0] if len(states) == 1 else tuple(states)

    def attend_with(query):
        found = attend(cell.attention, query[:, None], memory, memory_mask)
        return [x[:, 0] for x in found]

    arguments = (sequence, states, memory, memory_mask, attend_with)
    if cell.placement == "before":
        found = reference.attention_before(*arguments, step_of(cell.cell))
    else:
        found = reference.attention_after(
            *arguments,
            step_of(cell.cell),
            helpers.as_numpy(cell.kernel.value),
            cell.input_feeding,
            fed,
        )
    outputs, states, weights = found
    states = keras.tree.flatten(states)[::order]
    if cell.input_feeding:
        states = [outputs[:, -1], *states]
    return outputs, states, weights


@each_pair
def test_equals_the_oracle(cell, placement):
    layer = make(cell, placement)
    states = some_states(layer)
    expected = oracle(layer, **INPUTS, states=states)
    helpers.assert_close(layer(**INPUTS, initial_state=states), expected)


@pytest.mark.slow
@pytest.mark.slow_on_jax
def test_all_equal_the_oracle_in_a_compiled_graph_and_after_saving(tmp_path):
    """One model of two cells in all placements, of open batch and time."""
    layers = {
        f"{cell}_{placement}": make(cell, placement)
        for cell in ("lstm", "stacked")
        for placement in PLACEMENTS
    }

    def run(**inputs):
        return {name: layer(**inputs)[::2] for name, layer in layers.items()}

    model = helpers.functional(run, INPUTS)
    loaded = helpers.reloaded(model, tmp_path)
    for inputs in (INPUTS, {key: x[:2, :3] for key, x in INPUTS.items()}):
        found = model.predict_on_batch(inputs)
        for name, layer in layers.items():
            zeros = layer.cell.get_initial_state(len(inputs["memory"]))
            zeros = helpers.as_numpy(zeros)
            expected = oracle(layer, **inputs, states=zeros)[::2]
            helpers.assert_close(found[name], expected)
    again = loaded(inputs)
    helpers.assert_close([again[name] for name in found], list(found.values()))


@pytest.mark.parametrize("name", ["additive", "location", "local_p"])
def test_a_mask_of_one_row_stands_for_all_rows(name):
    layer = AttentionRNN(AttentionCell(GRUCell(4), name))
    sequence, memory = helpers.random(3, 2, 3), helpers.random(3, 5, 6, seed=1)
    mask = np.array([[True, True, False, True, False]])
    found = layer(sequence, memory, mask)
    expected = layer(sequence, memory, np.repeat(mask, 3, 0))
    helpers.assert_close(found, expected)


@pytest.mark.parametrize("return_state", [False, True])
@pytest.mark.parametrize("return_attention", [False, True])
def test_returns_what_is_asked_for(return_state, return_attention):
    whole = make("lstm")
    layer = AttentionRNN(whole.cell, return_state, return_attention)
    outputs, states, weights = whole(**INPUTS)
    expected = [outputs]
    if return_state:
        expected.append(states)
    if return_attention:
        expected.append(weights)
    found = layer(**INPUTS)
    assert isinstance(found, tuple) == (len(expected) > 1)
    helpers.assert_close(found, expected)


@every_placement
def test_symbolic_shapes_are_the_real_ones(placement):
    layer = make("lstm", placement)
    symbols = layer(
        keras.Input((4, 2)), keras.Input((5, 6)), keras.Input((5,), dtype=bool)
    )
    real = layer(**INPUTS)
    assert keras.tree.map_structure(lambda x: x.shape, symbols) == (
        keras.tree.map_structure(lambda x: (None, *x.shape[1:]), real)
    )


@pytest.mark.parametrize("placement", ["before", "after"])
def test_gradients_equal_finite_differences(placement):
    """Along a random direction of each weight, by the float64 oracle."""
    layer = make("lstm", placement, attention="general")
    zeros = helpers.as_numpy(layer.cell.get_initial_state(3))
    cotangents = helpers.random(3, 4, layer.cell.output_size, seed=5)

    def loss():
        return np.sum(oracle(layer, **INPUTS, states=zeros)[0] * cotangents)

    weights = layer.get_weights()
    model = helpers.functional(lambda **inputs: layer(**inputs)[0], INPUTS)
    found = helpers.gradients(model, INPUTS, cotangents)
    layer.set_weights(weights)
    for i, gradient in enumerate(found):
        direction = helpers.random(*gradient.shape, seed=i)
        differences = []
        for step in (0.01, -0.01):
            moved = list(weights)
            moved[i] = weights[i] + step * direction
            layer.set_weights(moved)
            differences.append(loss())
        expected = (differences[0] - differences[1]) / 0.02
        np.testing.assert_allclose(
            np.sum(gradient * direction), expected, rtol=5e-3, atol=5e-3
        )


@pytest.mark.parametrize("cell", [GRUCell, LSTMCell])
def test_dropout_is_off_at_inference(cell):
    dropping = AttentionRNN(
        AttentionCell(cell(3, dropout=0.5, recurrent_dropout=0.5))
    )
    layer = AttentionRNN(AttentionCell(cell(3)))
    expected = layer(**INPUTS)
    dropping(**INPUTS, training=True)
    dropping.set_weights(layer.get_weights())
    helpers.assert_close(dropping(**INPUTS), expected)
    difference = dropping(**INPUTS, training=True) - expected
    assert np.abs(helpers.as_numpy(difference)).max() > 1e-3


@pytest.mark.parametrize(
    "attention",
    ["dot", "scaled_dot", "additive", "multi_head", GeneralAttention()],
)
def test_configuration_round_trip(attention):
    layer = AttentionRNN(
        AttentionCell(
            LSTMCell(6, dropout=0.1),
            attention,
            placement="after",
            units=5,
            input_feeding=True,
            kernel_initializer="he_normal",
        ),
        return_state=True,
        return_attention_scores=True,
        name="attend",
    )
    copy = helpers.copy_of(layer)
    assert copy.get_config() == layer.get_config()
    for each in layer, copy:
        each(**INPUTS)
    copy.set_weights(layer.get_weights())
    helpers.assert_close(copy(**INPUTS), layer(**INPUTS))


@every_placement
def test_mixed_precision(placement):
    exact = make("lstm", placement)
    keras.config.set_dtype_policy("mixed_bfloat16")
    layer = make("lstm", placement)
    assert {w.dtype for w in layer.weights} == {"float32"}
    outputs, states, weights = layer(**INPUTS)
    fed, _, own = layer.cell.unpack(states)
    for tensor in (outputs, *fed):
        assert keras.backend.standardize_dtype(tensor.dtype) == "bfloat16"
    for tensor in own:
        assert keras.backend.standardize_dtype(tensor.dtype) == "float32"
    assert keras.backend.standardize_dtype(weights.dtype) == "float32"
    found = keras.tree.map_structure(
        lambda x: ops.cast(x, "float32"), (outputs, states, weights)
    )
    helpers.assert_close(found, exact(**INPUTS), rtol=0.1, atol=0.1)


@pytest.mark.parametrize("cell_class", [FastGRUCell, GRUCell])
@pytest.mark.parametrize("dtypes", [("bfloat16", None), (None, "bfloat16")])
def test_a_mechanism_may_have_another_dtype_than_its_cell(cell_class, dtypes):
    cell, attention = (d and f"mixed_{d}" for d in dtypes)
    mixed, exact = (
        AttentionRNN(
            AttentionCell(
                cell_class(4, dtype=of_cell),
                BahdanauAttention(3, dtype=of_attention),
            )
        )
        for of_cell, of_attention in ((cell, attention), (None, None))
    )
    x = helpers.random(2, 3, 4)
    for layer in mixed, exact:
        layer(x, x)
    mixed.set_weights(exact.get_weights())
    found = ops.cast(mixed(x, x), "float32")
    helpers.assert_close(found, exact(x, x), rtol=0, atol=0.05)


@pytest.mark.parametrize("placement", ["before", "after"])
def test_a_state_that_moves_little_moves_step_by_step(placement):
    """In half precision, by less than it can tell apart in each step."""
    dtype = "mixed_bfloat16"
    leaky = [RHNCell(3, transform_bias=-7.0, dtype=dtype) for _ in range(2)]
    cell = AttentionCell(
        StackedRNNCells(leaky, dtype=dtype), "dot", placement=placement
    )
    layer = AttentionRNN(cell, return_state=True)
    x, memory = np.ones((1, 30, 3), "float32"), ops.ones((1, 2, 3), "bfloat16")
    first = [[ops.ones((1, 3))], [ops.ones((1, 3))]]
    _, whole = layer(x, memory, initial_state=first)
    windows = first
    for part in np.split(x, 2, axis=1):
        _, windows = layer(part, memory, initial_state=windows)
    projected = cell.project(memory)
    steps = cell.get_initial_state(1, projected, first)
    for t in range(30):
        _, steps, _ = cell(x[:, t], steps, projected)
    assert all(
        np.all(s < 0.99) for s in helpers.as_numpy(keras.tree.flatten(whole))
    )
    helpers.assert_close(windows, whole)
    helpers.assert_close(steps, whole)


def test_a_memory_is_projected_once(monkeypatch):
    for placement in PLACEMENTS:
        layer = make(placement=placement)
        mechanism, shapes = layer.cell.attention, []
        project = mechanism.project

        def count(memory, mask, shapes=shapes, project=project):
            shapes.append(memory.shape)
            return project(memory, mask)

        monkeypatch.setattr(mechanism, "project", count)
        layer(**INPUTS)
        assert shapes == [(3, 5, 6)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: AttentionCell("gru"),
            "AttentionCell.*`cell`.*Received: cell='gru'",
        ),
        (
            lambda: AttentionCell(GRUCell(3), "sharp"),
            "'multi_head'.* Received: attention='sharp'",
        ),
        (
            lambda: AttentionCell(GRUCell(3), None, "after", units=4),
            "Received: units=4.*attention=None",
        ),
        (
            lambda: AttentionCell(GRUCell(3), placement="beside"),
            "Received: placement='beside'",
        ),
        (
            lambda: AttentionCell(GRUCell(3), input_feeding=True),
            "Received: units=None, input_feeding=True",
        ),
        (
            lambda: AttentionCell(GRUCell(3), units=4),
            "Received: units=4, input_feeding=False",
        ),
        (
            lambda: AttentionCell(GRUCell(3), placement="after", units=0),
            "`units`.*Received: units=0",
        ),
        (
            lambda: AttentionCell(GRUCell(3), placement="after", readout=True),
            "readout=True",
        ),
        (
            lambda: AttentionCell(GRUCell(3), attention=None, readout=True),
            "readout=True.*attention=None",
        ),
        (
            lambda: AttentionRNN(GRUCell(3)),
            "AttentionCell.*Received: cell=<GRU",
        ),
        *(
            (
                lambda shape=shape: AttentionRNN(AttentionCell(GRUCell(4)))(
                    helpers.random(3, 4, 6), helpers.random(*shape)
                ),
                rf"height \* width.*memory.shape={re.escape(str(shape))}",
            )
            for shape in [(3, 2, 4, 6), (2, 5, 6), (5, 6)]
        ),
        (
            lambda: DotAttention()(
                helpers.random(3, 4, 6), helpers.random(2, 5, 6)
            ),
            r"height \* width.*memory.shape=\(2, 5, 6\)",
        ),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("cell", [GRUCell(3), LSTMCell(3)])
def test_without_attention_it_runs_the_cell(cell):
    layer = AttentionRNN(
        AttentionCell(cell, None),
        return_state=True,
        return_attention_scores=True,
    )
    outputs, states, weights = layer(**INPUTS)
    loop = keras.layers.RNN(
        type(cell).from_config(cell.get_config()),
        return_sequences=True,
        return_state=True,
    )
    loop.build(INPUTS["sequence"].shape)
    loop.set_weights(layer.get_weights())
    expected, *last = loop(INPUTS["sequence"])
    helpers.assert_close(outputs, expected)
    helpers.assert_close(keras.tree.flatten(states), keras.tree.flatten(last))
    assert not helpers.as_numpy(weights).any()
    assert weights.shape == (*outputs.shape[:2], INPUTS["memory"].shape[1])
    copy = AttentionRNN.from_config(layer.get_config())
    assert copy.cell.attention is None


@every_placement
def test_it_has_the_dtype_of_its_cell(placement):
    cell = AttentionCell(
        GRUCell(3, dtype="mixed_bfloat16"), "additive", **PLACEMENTS[placement]
    )
    assert cell.attention.compute_dtype == "bfloat16"
    outputs = AttentionRNN(cell)(INPUTS["sequence"], INPUTS["memory"])
    assert keras.backend.standardize_dtype(outputs.dtype) == "bfloat16"


@pytest.mark.skipif(helpers.ON_TORCH, reason="no XLA")
@pytest.mark.parametrize(
    ("options", "can"),
    [
        ({}, True),
        ({"placement": "before"}, helpers.ON_JAX),
        ({"input_feeding": True}, helpers.ON_JAX),
        ({"attention": "coverage"}, helpers.ON_JAX),
    ],
)
def test_it_is_compiled_by_xla_where_that_can_train_it(options, can):
    options = {"attention": "general", "placement": "after"} | options
    layer = AttentionRNN(AttentionCell(RHNCell(3), **options))
    assert layer.supports_jit == can
    if not can:
        return
    model_inputs = [keras.Input((4, 2)), keras.Input((5, 6))]
    model = keras.Model(model_inputs, layer(*model_inputs))
    model.compile("sgd", "mse", jit_compile=True)
    x = [INPUTS["sequence"], INPUTS["memory"]]
    loss = model.train_on_batch(x, np.ones((3, 4, 3), "float32"))
    assert np.isfinite(loss)


@pytest.mark.parametrize("readout", [False, True], ids=["", "readout"])
@every_placement
def test_a_masked_step_of_the_sequence_is_skipped(placement, readout):
    """Wherever it is; before the first real one, the output is 0."""
    if readout and placement != "before":
        return
    layer = make("lstm", placement)
    if readout:
        cell = AttentionCell(LSTMCell(3), "additive", readout=True)
        layer = AttentionRNN(
            cell, return_state=True, return_attention_scores=True
        )
        layer.build((None, None, 2), (None, None, 6))
        helpers.randomize(layer)
    sequence = INPUTS["sequence"][:2].copy()
    others = {"memory": INPUTS["memory"][:2]}
    mask = np.array([[0, 1, 1, 0], [1, 0, 1, 1]], bool)
    sequence[~mask] = np.nan
    outputs, states, weights = layer(sequence, sequence_mask=mask, **others)
    outputs, weights = helpers.as_numpy((outputs, weights))
    for row, steps in enumerate(mask):
        alone, last, of_alone = layer(
            sequence[row : row + 1, steps],
            memory=others["memory"][row : row + 1],
        )
        helpers.assert_close(outputs[row, steps], alone[0])
        helpers.assert_close(weights[row, steps], of_alone[0])
        for state, expected in zip(
            *map(keras.tree.flatten, (states, last)), strict=True
        ):
            helpers.assert_close(state[row], expected[0])
    assert np.all(outputs[0, 0] == 0)
    helpers.assert_close(outputs[0, 3], outputs[0, 2])
    helpers.assert_close(outputs[1, 1], outputs[1, 0])


@pytest.mark.parametrize("attention", ["general", "coverage_sum", "local_m"])
def test_with_a_mask_it_equals_the_loop_over_steps(attention):
    """All steps attend at once only where no step needs the one before it."""
    mechanism = MECHANISMS[attention]()  # local: near the number of the step
    cell = AttentionCell(FastGRUCell(3), mechanism, placement="after")
    layer = AttentionRNN(cell, return_attention_scores=True)
    layer.build((None, None, 2), (None, None, 6))
    helpers.randomize(layer)
    sequence, memory = INPUTS["sequence"], INPUTS["memory"]
    mask = np.array([[0, 1, 1, 0], [1, 0, 1, 1], [0, 0, 0, 0]], bool)
    projected = cell.project(memory)
    states = cell.get_initial_state(3, projected)
    expected, _, expected_weights = attend_in_a_loop(
        cell, sequence, states, projected, sequence_mask=mask
    )
    outputs, weights = layer(sequence, memory, sequence_mask=mask)
    helpers.assert_close(outputs, expected)
    helpers.assert_close(weights, expected_weights)


def test_the_mask_of_the_sequence_comes_by_itself():
    layer = make()
    masked = keras.layers.Masking()
    sequence = INPUTS["sequence"].copy()
    sequence[:, 2:] = 0
    *_, states, _ = layer(masked(sequence), INPUTS["memory"])
    *_, expected, _ = layer(sequence[:, :2], INPUTS["memory"])
    helpers.assert_close(states, expected)


FAST = {
    "gru": lambda: FastGRUCell(4, recurrent_dropout=0.5, seed=1),
    "gru_of_masked_inputs": lambda: FastGRUCell(4, dropout=0.5, seed=1),
    "lstm": lambda: FastLSTMCell(4, layer_norm=True),
    "stacked": lambda: StackedRNNCells(
        [RHNCell(5, 2, recurrent_dropout=0.5, seed=2), FastGRUCell(4)]
    ),
    # Its kernels are made of its weights.
    "gam_rhn": lambda: GAMRHNCell(
        4, 1, num_groups=3, group_size=2, head_units=2
    ),
}


@pytest.mark.parametrize(
    "cell, attention, placement",
    [
        *[
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ("gru", "general", "before"),
                ("stacked", "additive_bias", "before"),
                ("gru", "local_p", "before"),
                ("lstm", "coverage", "fed"),
                ("gam_rhn", "multi_head", "fed"),
            )
        ],
        *[
            pytest.param(*case, marks=pytest.mark.thorough)
            for case in (
                ("gru", "multi_scale", "before"),
                ("lstm", "monotonic", "fed"),
                *[(name, "multi_head", "fed") for name in FAST],
            )
        ],
    ],
)
def test_the_loop_of_a_cell_that_defines_its_step_is_the_plain_one(
    cell, attention, placement, monkeypatch
):
    readout = {"placement": "before", "readout": True, "units": 7}
    options = readout if placement == "before" else PLACEMENTS[placement]
    memory_dim = 4 if attention in WIDTHS else 6
    inputs = {
        "sequence": helpers.random(3, 4, 2, seed=2),
        "memory": helpers.random(3, 5, memory_dim, seed=3),
        "memory_mask": INPUTS["memory_mask"],
        "sequence_mask": np.array(
            [[0, 1, 1, 0], [1, 0, 1, 1], [1, 1, 1, 1]], bool
        ),
    }
    cotangents = [helpers.random(3, 4, 7, seed=5), helpers.random(3, 4, 5)]

    def found():
        mechanism = MECHANISMS[attention](dropout=0.3, seed=3)
        layer = AttentionRNN(
            AttentionCell(FAST[cell](), mechanism, **options),
            return_attention_scores=True,
        )
        layer.build((None, None, 2), (None, None, memory_dim))
        helpers.randomize(layer)
        model = helpers.functional(layer, inputs, training=True)
        return helpers.gradients(model, inputs, cotangents)

    fast = found()
    # The backend differentiates all.
    monkeypatch.setattr(
        _backend, "custom_gradient", lambda f, **_: lambda *x: f(*x)[0]
    )
    helpers.assert_close(fast, found())


@pytest.mark.parametrize("mechanism", ["dot", "scaled_dot", "monotonic"])
def test_a_fast_cell_has_the_gradients_of_one_of_keras(mechanism):
    """Also where the memory is both keys and values."""
    arrays = [helpers.random(3, 4, 3), helpers.random(3, 5, 3, seed=3)]
    cotangents = [helpers.random(3, 4, 3, seed=5)]
    found = []
    for inner in (FastGRUCell(3), GRUCell(3)):
        layer = AttentionRNN(AttentionCell(inner, mechanism))
        layer(*arrays)
        helpers.randomize(layer)
        found.append(small_layers.backpropagate(layer, arrays, cotangents))
    helpers.assert_close(*found)
