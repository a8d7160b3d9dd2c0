"""`TransformerCell` and `SHACell`: blocks whose state is their memory."""

import itertools

import keras
import numpy as np
import pytest
from keras import ops
from keras.layers import GRUCell
from keras.layers import LSTMCell

from kerasrnn.layers import FastRNN
from kerasrnn.layers import MultiHeadDotAttention
from kerasrnn.layers import RHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.layers import SHACell
from kerasrnn.layers import TransformerCell
from kerasrnn.layers.attention.attention_blocks import MemoryMultiHeadAttention
from tests import helpers
from tests.layers import small_layers
from tests.reference import memory_cells as reference

X = helpers.random(3, 9, 4)
CELLS = {
    "transformer": lambda **options: TransformerCell(4, 2, 6, **options),
    "sha": lambda **options: SHACell(RHNCell(4, depth=2), 2, **options),
    "sha_lstm": lambda **options: SHACell(LSTMCell(4), 2, **options),
}
every_cell = pytest.mark.parametrize("name", CELLS)
both = pytest.mark.parametrize("name", ["transformer", "sha"])


def make_cell(name, memory=3, **options):
    """A cell with random weights."""
    cell = CELLS[name](memory=memory, **options)
    cell.build((None, 4))
    cell.built = True
    helpers.randomize(cell)
    return cell


def whole(layer_class, cell, **kwargs):
    """A layer that returns all it can: a list of outputs and last states."""
    return layer_class(cell, return_sequences=True, return_state=True, **kwargs)


def some_states(cell, steps=2):
    """The states after some steps: some of the memory is filled."""
    states = cell.get_initial_state(3)
    for x in helpers.random(steps, 3, 4, seed=5):
        _, states = cell(ops.convert_to_tensor(x), states)
    return helpers.as_numpy(states)


def weights_of(layer):
    return [np.array(w.value, "float64") for w in layer.weights]


def oracle(cell, sequence, **masks):
    if isinstance(cell, TransformerCell):
        heads = [
            np.reshape(kernel, (-1, 2, 2))
            for kernel in weights_of(cell.attention)
        ]
        heads[3] = np.reshape(heads[3], (2, 2, -1))
        return reference.transformer(
            sequence,
            cell.memory,
            [
                weights_of(cell.attention_norm),
                weights_of(cell.feedforward_norm),
            ],
            heads,
            weights_of(cell.hidden_layer),
            weights_of(cell.output_layer),
            **masks,
        )
    norms = {name: weights_of(norm) for name, norm in cell.norms.items()}
    sequence = reference.layer_norm(sequence, *norms["input"])
    hidden = keras.layers.RNN(cell.cell, return_sequences=True)(sequence)
    attention = cell.attention
    return reference.sha(
        helpers.as_numpy(hidden),
        cell.memory,
        [norms[name] for name in ("memory", "query", "residual", "boom")],
        weights_of(cell.boom_layer),
        weights_of(attention.query_projection),
        weights_of(attention.query_norm),
        weights_of(attention.value_gate),
        np.array(attention.gates.value, "float64"),
        **masks,
    )


@pytest.mark.parametrize(
    ("name", "memory"),
    helpers.some_now(
        itertools.product(CELLS, [3, 1, 20]),
        [("transformer", 3), ("transformer", 20), ("sha", 1), ("sha_lstm", 3)],
    ),
)
def test_equals_the_oracle_in_a_compiled_graph(name, memory):
    cell = make_cell(name, memory)
    layer = FastRNN(cell, return_sequences=True)
    found = helpers.compiled(layer, {"sequences": X})
    helpers.assert_close(found, oracle(cell, X))


@both
def test_the_layer_is_the_loop_with_its_gradients(name):
    """From the midst of a text, and with a mask as well."""
    cell = make_cell(name)
    arrays = [X, some_states(cell)]
    loop, fast = (whole(c, cell) for c in (keras.layers.RNN, FastRNN))
    for layer in (loop, fast):
        layer.build(X.shape)
    cotangents = [
        helpers.random(*shape, seed=6)
        for shape in fast.compute_output_shape(X.shape)
    ]
    gaps = [[1] * 9, [1, 1, 0, 1, 1, 0, 0, 1, 0], [helpers.ON_JAX] + [0] * 8]
    for mask in (None, ops.convert_to_tensor(np.array(gaps, bool))):
        found, expected = (
            small_layers.backpropagate(layer, arrays, cotangents, mask=mask)
            for layer in (fast, loop)
        )
        helpers.assert_close(found, expected)


@pytest.mark.slow_on_jax
@every_cell
def test_windows_and_steps_are_the_whole(name):
    cell = make_cell(name)
    layer = whole(FastRNN, cell)
    outputs, *last = layer(X)
    for sizes in ([1] * 9, [4, 5]):
        layer = whole(FastRNN, cell, unroll=sizes == [4, 5])
        parts, states = [], None
        for window in np.split(X, np.cumsum(sizes)[:-1], axis=1):
            part, *states = layer(window, initial_state=states)
            parts.append(part)
        helpers.assert_close(ops.concatenate(parts, axis=1), outputs)
        helpers.assert_close(states, last)


@both
def test_the_weights_fit_a_longer_memory(name):
    short, long = (make_cell(name, memory) for memory in (2, 8))
    long.set_weights(short.get_weights())
    found = [FastRNN(cell, return_sequences=True)(X) for cell in (short, long)]
    helpers.assert_close(found[1][:, :3], found[0][:, :3])
    assert np.abs(helpers.as_numpy(found[1] - found[0])[:, 3:]).max() > 1e-3


def test_they_stack_on_any_cell():
    cells = [GRUCell(4), make_cell("transformer"), make_cell("sha")]
    outputs = FastRNN(cells, return_sequences=True)(X)
    x = keras.layers.RNN(cells[0], return_sequences=True)(X)
    for cell in cells[1:]:
        x = oracle(cell, helpers.as_numpy(x))
    helpers.assert_close(outputs, x)


@both
def test_every_branch_has_its_own_dropout_mask(name):
    cell = make_cell(name, dropout=0.5, seed=1)
    ones = ops.ones((3, 1, 4))
    masks = [
        helpers.as_numpy(cell.drop(ones, branch, training=True))
        for branch in range(cell.branches)
    ]
    for mask, other in itertools.combinations(masks, 2):
        assert set(np.unique(mask)) == {0, 2}
        assert np.any(mask != other)
    expected = oracle(cell, X, masks=masks)
    for layer_class in (FastRNN, keras.layers.RNN):
        cell = make_cell(name, dropout=0.5, seed=1)
        layer = layer_class(cell, return_sequences=True)
        helpers.assert_close(layer(X, training=True), expected)
        helpers.assert_close(layer(X), oracle(cell, X))


def test_the_inner_cell_keeps_its_dropout():
    inner = LSTMCell(4, dropout=0.5, recurrent_dropout=0.5, seed=1)
    layer = FastRNN(SHACell(inner, memory=3))
    training, again, inference = (
        helpers.as_numpy(layer(X, training=training))
        for training in (True, True, False)
    )
    assert np.abs(training - inference).max() > 1e-4
    assert np.abs(training - again).max() > 1e-4
    np.testing.assert_array_equal(inference, layer(X))


@both
def test_configuration_and_file_round_trip(name, tmp_path):
    cell = make_cell(name, dropout=0.1, seed=3)
    copy = helpers.copy_of(cell)
    assert copy.get_config() == cell.get_config()
    assert copy.state_size == cell.state_size
    inputs = {"sequences": X}
    model = helpers.functional(whole(FastRNN, cell), inputs)
    loaded = helpers.reloaded(model, tmp_path)
    helpers.assert_close(loaded(inputs), model(inputs), 0, 0)


@helpers.slow_on_jax
@both
def test_mixed_precision(name):
    exact = whole(FastRNN, make_cell(name))(X)
    keras.config.set_dtype_policy("mixed_bfloat16")
    layer = whole(FastRNN, make_cell(name, dropout=0.5))
    found = layer(X)
    assert {w.dtype for w in layer.trainable_weights} == {"float32"}
    for tensor in (*found, layer(X, training=True)[0]):
        assert keras.backend.standardize_dtype(tensor.dtype) == "bfloat16"
    # Models carry states on, which no layer around them casts.
    start = layer.get_initial_state(X.shape[0])
    outputs, _ = layer.carry_on(ops.convert_to_tensor(X), start)
    helpers.assert_close(
        *(ops.cast(x, "float32") for x in (outputs, found[0])), atol=0.02
    )
    found = [ops.cast(x, "float32") for x in found]
    helpers.assert_close(found, exact, rtol=0.2, atol=0.2)


@pytest.mark.skipif(not small_layers.FLOAT64, reason="no float64")
@pytest.mark.parametrize("name", ["self-attention", *CELLS])
def test_float64_may_be_the_default(name):
    """Also with a mask, whose counts are integers."""
    keras.config.set_floatx("float64")
    keras.config.set_dtype_policy("float64")
    try:
        if name == "self-attention":
            cell = SelfAttentionCell(RHNCell(4), "additive", window=3)
        else:
            cell = make_cell(name)
        layers = FastRNN(cell), keras.layers.RNN(cell)
        mask = ops.convert_to_tensor(np.arange(9) % 4 != [[0], [1], [2]])
        found = [layer(X.astype("float64"), mask=mask) for layer in layers]
    finally:
        keras.config.set_floatx("float32")
    helpers.assert_close(*found, 1e-9, 1e-9)


def test_widths_and_kernels_by_default():
    block = TransformerCell(8, num_heads=2)
    assert (block.hidden_dim, block.attention.head_dim) == (32, 4)
    assert block.memory == 128
    cell = SHACell(GRUCell(64))
    cell.build((None, 4))
    attention = cell.attention
    assert not np.any(attention.gates)
    for layer, factor in (
        (cell.boom_layer, 4),
        (attention.query_projection, 1),
        (attention.value_gate, 2),
    ):
        kernel, _ = layer.get_weights()
        assert kernel.shape == (64, factor * 64)
        assert kernel.std() == pytest.approx(0.1 / 8, rel=0.05)


def test_projected_queries_are_multi_head_attention():
    """Keys and values need no projection then, and may be NaN where masked."""
    kept = MemoryMultiHeadAttention(2, 3, 5)
    plain = MultiHeadDotAttention(2, 3, 5)
    query, memory = helpers.random(3, 2, 4), helpers.random(3, 5, 6, seed=1)
    mask = np.array([[1, 1, 1, 1, 1], [1, 0, 1, 1, 0], [0, 0, 0, 0, 0]], bool)
    memory[~mask] = np.nan
    kept(query, memory, mask)
    plain(query, memory, mask)
    helpers.randomize(plain)
    kept.set_weights(plain.get_weights())
    helpers.assert_close(kept(query, memory, mask), plain(query, memory, mask))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: SHACell("gru"), "SHACell expects `cell`.*cell='gru'"),
        (lambda: SHACell(GRUCell(3), boom=0), "`boom` must.*Received: boom=0"),
        (lambda: TransformerCell(4, memory=0), "`memory` must.*memory=0"),
        (lambda: TransformerCell(4, dropout=1.0), r"`dropout`.*dropout=1.0"),
        (lambda: TransformerCell(4, 0), "`num_heads` must.*num_heads=0"),
        (lambda: TransformerCell(4, 2, 0), "`hidden_dim` must.*hidden_dim=0"),
        (
            lambda: FastRNN(TransformerCell(6))(X),
            "the width `units`.*units=6 and an input of width 4",
        ),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    helpers.one_now(
        [
            lambda: TransformerCell(4, 2, 6, memory=3),
            lambda: SHACell(RHNCell(4, depth=2), 2, memory=3),
            # Around a cell that has to loop.
            lambda: SelfAttentionCell(GRUCell(4), "multi_head", window=3),
        ]
    ),
    ids=["transformer", "sha", "self-attention"],
)
def test_it_is_compiled_by_xla(make):
    model = keras.Sequential([FastRNN(make())])
    model.compile("sgd", "mse", jit_compile=True)
    loss = model.train_on_batch(X, np.ones((3, 4)))
    assert np.isfinite(loss)
