import inspect
import itertools

import keras
import numpy as np
import pytest
from keras import ops
from keras.layers import GRUCell
from keras.layers import LSTMCell
from keras.layers import StackedRNNCells

from kerasrnn.layers import AttentionCell
from kerasrnn.layers import BahdanauAttention
from kerasrnn.layers import DotAttention
from kerasrnn.layers import FastRNN
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import MultiHeadDotAttention
from kerasrnn.layers import RHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.layers import SelfAttentionRNN
from tests import helpers
from tests.layers import small_layers
from tests.reference.attention import attend_as as attend
from tests.reference.attention_rnn import hidden
from tests.reference.layers import step_of
from tests.reference.layers import weights_of
from tests.reference.self_attention import self_attention

X = helpers.random(3, 5, 2)


class ProjectingCell(keras.layers.Layer):
    """An output that is no state: `s = tanh(x W + s R)`, `h = s P`."""

    state_size, output_size = 4, 3

    def build(self, input_shape):
        self.kernel, self.recurrent_kernel, self.projection = (
            self.add_weight(shape=shape, name=name)
            for name, shape in {
                "kernel": (input_shape[-1], 4),
                "recurrent_kernel": (4, 4),
                "projection": (4, 3),
            }.items()
        )

    def call(self, inputs, states):
        (state,) = keras.tree.flatten(states)
        state = ops.tanh(inputs @ self.kernel + state @ self.recurrent_kernel)
        return state @ self.projection, [state]


class ResidualCells(StackedRNNCells):
    """Adds the outputs of both cells."""

    def call(self, inputs, states, training=False):
        first, *inner = self.cells[0](inputs, states[0])
        second, *outer = self.cells[1](first, states[1])
        return first + second, [inner[0], outer[0]]


CELLS = {
    "gru": lambda: GRUCell(3),
    "lstm": lambda: LSTMCell(3),
    "stacked": lambda: StackedRNNCells([GRUCell(5), GRUCell(3)]),
    "rhn": lambda: RHNCell(3, depth=2),
    "gam_rhn": lambda: GAMRHNCell(3, 1, 4, 2, 5),
    "projecting": ProjectingCell,
    "residual": lambda: ResidualCells([GRUCell(3), GRUCell(3)]),
}
LAYERS = [keras.layers.RNN, SelfAttentionRNN]
NAMES = ["dot", "scaled_dot", "general", "additive", "multi_head"]
NAMES += ["multi_scale"]

PLACEMENTS = ["before", "after"]

every_placement = pytest.mark.parametrize("placement", PLACEMENTS)


def make_cell(cell="gru", attention="additive", window=2, **kwargs):
    """A cell with random weights."""
    cell = SelfAttentionCell(CELLS[cell](), attention, window, **kwargs)
    cell.build((None, 2))
    cell.built = True
    helpers.randomize(cell)
    return cell


def whole(layer_class, cell, **kwargs):
    """A layer that returns all it can: a list of outputs and last states."""
    return layer_class(cell, return_sequences=True, return_state=True, **kwargs)


def some_states(cell, steps=0):
    """Random states of the cell inside, and what some steps make of them."""
    output, *inner, keys, values, filled = cell.get_initial_state(3)
    inner = [helpers.random(*x.shape, seed=4) for x in inner]
    states = [output, *inner, keys, values, filled]
    for x in helpers.random(steps, 3, 2, seed=5):
        _, states = cell(ops.convert_to_tensor(x), states)
    return helpers.as_numpy(states)


def ours(cell):
    return type(cell).__module__.startswith("kerasrnn")


def output_and_state(cell):
    """`step(x, state) -> (h, state)` of a cell."""
    if isinstance(cell, ProjectingCell):
        kernel, recurrent_kernel, projection = weights_of(cell)

        def project(x, state):
            state = np.tanh(x @ kernel + state @ recurrent_kernel)
            return state @ projection, state

        return project
    step = step_of(cell)

    def first_is_output(x, state):
        state = step(x, state)
        return hidden(state), state

    return first_is_output


def oracle(cell, sequence, states):
    """Outputs and last states of a cell whose window is still empty."""
    batch_size, window = len(sequence), cell.window
    step = output_and_state(cell.cell)

    def context(query, memory):
        context, _ = attend(cell.attention, query[:, None], memory)
        return context[:, 0]

    # The oracle's states begin with the output.
    order = -1 if isinstance(cell.cell, StackedRNNCells) else 1
    inner = tuple(states[1:-3][::order])
    after = cell.placement == "after"
    outputs, taken, inner = self_attention(
        sequence,
        inner[0] if len(inner) == 1 and not ours(cell.cell) else inner,
        step,
        context,
        helpers.as_numpy(cell.attending.kernel.value) if after else None,
        window=window,
        context_dim=cell.attention.context_dim(cell.cell.output_size),
    )
    last = taken[:, -window:].astype("float32")
    missing = window - last.shape[1]
    history = [
        np.pad(x, [(0, 0)] * (x.ndim - 2) + [(missing, 0), (0, 0)])
        for x in helpers.as_numpy(cell.attention.project(last))
    ]
    return [
        outputs,
        outputs[:, -1],
        *keras.tree.flatten(inner)[::order],
        *(x.reshape(batch_size, -1) for x in history),
        np.tile(np.arange(window) >= missing, (batch_size, 1)),
    ]


def in_turn(values):
    """Each at once in one of both placements; thoroughly, in the other, too."""
    pairs = [*itertools.product(values, PLACEMENTS)]
    return helpers.some_now(pairs, pairs[::4] + pairs[3::4])


@pytest.mark.parametrize(("cell", "placement"), in_turn([*CELLS][:-1]))
def test_every_cell_equals_the_oracle(cell, placement):
    cell = make_cell(cell, placement=placement)
    states = some_states(cell)
    found = whole(keras.layers.RNN, cell)(X, initial_state=states)
    helpers.assert_close(found, oracle(cell, X, states))


@pytest.mark.parametrize(
    ("attention", "placement"), in_turn([*NAMES, "wide_context"])
)
def test_every_attention_equals_the_oracle(attention, placement):
    if attention == "wide_context":
        attention = MultiHeadDotAttention(2, 3, units=7)
    cell = make_cell("lstm", attention, placement=placement)
    states = some_states(cell)
    found = whole(keras.layers.RNN, cell)(X, initial_state=states)
    helpers.assert_close(found, oracle(cell, X, states))


@pytest.mark.parametrize(
    "window, placement", [(1, "before"), (5, "after"), (7, "before")]
)
def test_every_window_equals_the_oracle_in_a_compiled_graph(window, placement):
    cell = make_cell("rhn", "multi_head", window, placement=placement)
    zeros = helpers.as_numpy(cell.get_initial_state(3))
    found = helpers.compiled(whole(keras.layers.RNN, cell), {"sequences": X})
    helpers.assert_close(found, oracle(cell, X, zeros))


@pytest.mark.parametrize(
    "cell, window", [("stacked", 1), ("lstm", 5), ("gam_rhn", 7)]
)
def test_the_layer_equals_the_oracle_in_a_compiled_graph(cell, window):
    cell = make_cell(cell, "general", window, units=4)
    zeros = helpers.as_numpy(cell.get_initial_state(3))
    found = helpers.compiled(whole(SelfAttentionRNN, cell), {"sequences": X})
    helpers.assert_close(found, oracle(cell, X, zeros))


def assert_same_with_gradients(cell, arrays, mask=None, **kwargs):
    """The fast layer is the loop: of weights, inputs and states as well."""
    loop, fast = (whole(c, cell, **kwargs) for c in LAYERS)
    for layer in (loop, fast):
        layer.build(arrays[0].shape)
    cotangents = [
        helpers.random(*shape, seed=6)
        for shape in fast.compute_output_shape(arrays[0].shape)
    ]
    mask = None if mask is None else ops.convert_to_tensor(mask)
    found, expected = (
        small_layers.backpropagate(layer, arrays, cotangents, mask=mask)
        for layer in (fast, loop)
    )
    helpers.assert_close(found, expected)


AFTER, BEFORE = {"window": 4, "units": 6}, {"placement": "before"}


@pytest.mark.parametrize(
    "cell, options",
    [
        *((name, AFTER) for name in ("gru", "stacked", "gam_rhn")),
        *((name, AFTER) for name in ("projecting", "residual")),
        ("lstm", BEFORE),
    ],
)
def test_the_layer_is_the_loop(cell, options):
    """From the midst of a sequence, where some of the window is filled."""
    cell = make_cell(cell, **options)
    assert_same_with_gradients(cell, [X, some_states(cell, steps=2)])


@pytest.mark.parametrize(
    "attention, window, steps",
    [
        ("dot", 1, 9),
        ("scaled_dot", 2, 9),
        ("general", 3, 9),
        ("additive", 5, 9),
        ("multi_head", 4, 9),
        ("additive", 1, 1),
        ("additive", 7, 1),
    ],
)
def test_blocks_are_the_loop(attention, window, steps):
    """A block is half a window, and the last one may have empty positions."""
    cell = make_cell("rhn", attention, window)
    sequence = helpers.random(3, steps, 2)
    assert_same_with_gradients(cell, [sequence, some_states(cell, steps=2)])


@pytest.mark.parametrize("go_backwards", [False, True])
def test_the_layer_is_the_loop_with_any_mask(go_backwards):
    """Also where no step of a row is there."""
    # On JAX the loop of Keras takes the first state for the output before a
    # masked step.
    last_row = [helpers.ON_JAX, 0, 0, 0, helpers.ON_JAX]
    cell = make_cell("rhn", "multi_head", window=3)
    mask = np.array([[1, 0, 1, 0, 1], [1, 1, 0, 0, 1], last_row], bool)
    arrays = [X, some_states(cell, steps=1)]
    assert_same_with_gradients(cell, arrays, mask, go_backwards=go_backwards)


def test_an_output_is_projected_once(monkeypatch):
    cell = make_cell("gru")
    project, shapes = cell.attention.project, []

    def count(memory):
        shapes.append(tuple(memory.shape))
        return project(memory)

    monkeypatch.setattr(cell.attention, "project", count)
    states = cell.get_initial_state(3)
    for t in range(5):
        _, states = cell(ops.convert_to_tensor(X[:, t]), states)
    assert shapes == [(3, 1, 3)] * 5
    del shapes[:]
    SelfAttentionRNN(cell)(X)
    assert shapes == [(3, 5, 3)]


@pytest.mark.parametrize(
    "cell_class, sizes",
    helpers.one_now([(LSTMCell, (3,)), (GAMRHNCell, (3, 2, 4, 2, 5))]),
)
def test_the_layer_is_the_loop_in_training(cell_class, sizes):
    """Cells of one seed draw the same masks, and drop nothing afterwards."""
    found = []
    for layer_class in LAYERS:
        inner = cell_class(*sizes, dropout=0.5, recurrent_dropout=0.5, seed=1)
        layer = layer_class(SelfAttentionCell(inner, window=2))
        layer.build((None, None, 2))
        helpers.randomize(layer)
        found.append([layer(X, training=True), layer(X), layer(X)])
    loop, fast = found
    helpers.assert_close(fast, loop)
    training, inference, again = helpers.as_numpy(fast)
    np.testing.assert_array_equal(inference, again)
    assert np.abs(training - inference).max() > 1e-3


@every_placement
def test_an_empty_batch(placement):
    cell = make_cell("gru", placement=placement)
    outputs, *states = whole(SelfAttentionRNN, cell)(X[:0])
    assert outputs.shape == (0, 5, 3)
    assert [x.shape[0] for x in states] == [0] * 5


def test_every_argument_is_seen():
    cell = SelfAttentionCell(GRUCell(3), "dot", 2)
    for each in (cell, SelfAttentionRNN(cell)):
        for name in inspect.signature(type(each)).parameters:
            assert name == "kwargs" or hasattr(each, name)
    arguments = inspect.signature(SelfAttentionRNN).parameters
    assert {*inspect.signature(keras.layers.RNN).parameters} == {*arguments}


@pytest.mark.parametrize(
    "attention", ["multi_head", BahdanauAttention(7, use_bias=True)]
)
def test_configuration_round_trip(attention):
    cell = SelfAttentionCell(
        GAMRHNCell(6, 1, 2, 2, 3, dropout=0.1),
        attention,
        window=3,
        units=5,
        kernel_initializer="ones",
        name="attending",
    )
    layer = SelfAttentionRNN(
        cell, return_sequences=True, go_backwards=True, name="layer"
    )
    copy = helpers.copy_of(layer)
    assert copy.get_config() == layer.get_config()
    for each in (layer, copy):
        each.build((None, None, 2))
    assert [(w.name, w.shape) for w in copy.weights] == [
        (w.name, w.shape) for w in layer.weights
    ]
    assert np.all(helpers.as_numpy(copy.cell.attending.kernel.value) == 1)


@every_placement
def test_mixed_precision(placement):
    exact = make_cell("rhn", placement=placement)
    keras.config.set_dtype_policy("mixed_bfloat16")
    layer = whole(SelfAttentionRNN, make_cell("rhn", placement=placement))
    assert {w.dtype for w in layer.weights} == {"float32"}
    found = layer(X)
    for tensor in found:
        assert keras.backend.standardize_dtype(tensor.dtype) == "bfloat16"
    found = [ops.cast(x, "float32") for x in found]
    expected = whole(SelfAttentionRNN, exact)(X)
    helpers.assert_close(found, expected, rtol=0.1, atol=0.1)


def test_the_state_inside_stays_in_float32_from_window_to_window():
    inner = RHNCell(3, transform_bias=-7.0, dtype="mixed_bfloat16")
    layer = FastRNN(SelfAttentionCell(inner, "dot", 2), return_sequences=True)
    x = ops.ones((1, 30, 3))
    layer.build(x.shape)
    output, _, *window = layer.get_initial_state(1)
    first = [output, ops.ones((1, 3)), *window]
    _, [_, whole, *_] = layer.carry_on(x, first)
    states = first
    for t in range(0, 30, 10):
        _, states = layer.carry_on(x[:, t : t + 10], states)
    assert np.all(helpers.as_numpy(whole) < 0.99)
    helpers.assert_close(states[1], whole)


@pytest.mark.parametrize(
    "kwargs, message",
    [
        ({"cell": "gru"}, "SelfAttentionCell expects `cell`.*cell='gru'"),
        ({"cell": AttentionCell(GRUCell(3))}, "`state_size`.*<AttentionCell"),
        ({"attention": "tensor"}, "'multi_head'.*Received: attention='tensor'"),
        (
            {"attention": "coverage"},
            "a sliding window.*Received: attention=<Cov",
        ),
        (
            {"attention": DotAttention(dropout=0.1)},
            "have no dropout.*Received: attention=<Dot",
        ),
        ({"window": 0}, "`window` must be.*Received: window=0"),
        ({"placement": "beside"}, "Received: placement='beside'"),
        ({"placement": "before", "units": 4}, "`units`.*Received: units=4"),
        ({"units": 0}, "`units` must be.*Received: units=0"),
    ],
)
def test_bad_arguments(kwargs, message):
    with pytest.raises(ValueError, match=message):
        SelfAttentionCell(**{"cell": GRUCell(3)} | kwargs)
    with pytest.raises(ValueError, match="SelfAttentionCell.*cell=<GRUCell"):
        SelfAttentionRNN(GRUCell(3))
