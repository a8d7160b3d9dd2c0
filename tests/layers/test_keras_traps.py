"""Where Keras's recurrent layers trip a cell up, and that ours do not fall.

Each test names one of the traps K1 to K18, and would fail with a cell written
without a thought of it.
"""

import keras
import numpy as np
import pytest
from keras import ops
from keras.layers import RNN
from keras.layers import Bidirectional
from keras.layers import StackedRNNCells

from kerasrnn.layers import GAM
from kerasrnn.layers import GAMRHN
from kerasrnn.layers import RHN
from kerasrnn.layers import AttentionCell
from kerasrnn.layers import AttentionRNN
from kerasrnn.layers import FastRNN
from kerasrnn.layers import GAMCell
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import PeepholeLSTMCell
from kerasrnn.layers import ResidualBlockCell
from kerasrnn.layers import RHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.layers import SelfAttentionRNN
from kerasrnn.layers import ZoneoutCell
from tests import helpers

X = helpers.random(3, 4, 2)
MEMORY = helpers.random(3, 5, 6)


def rhn_cell(**options):
    return RHNCell(3, depth=2, **options)


def gam_cell(**options):
    return GAMCell(3, 2, 4, **options)


def gam_rhn_cell(**options):
    return GAMRHNCell(3, 1, 4, 2, 5, **options)


def peephole_cell(**options):
    return PeepholeLSTMCell(3, **options)


def attending_cell(**options):
    return SelfAttentionCell(gam_rhn_cell(**options), "general", window=2)


CELLS = {
    "rhn": rhn_cell,
    "gam": gam_cell,
    "gam_rhn": gam_rhn_cell,
    "peephole_lstm": peephole_cell,
    "self_attention": attending_cell,
}
LAYERS = {
    "RNN(rhn)": lambda **kwargs: RNN(rhn_cell(), **kwargs),
    "RNN(gam)": lambda **kwargs: RNN(gam_cell(), **kwargs),
    "RNN(gam_rhn)": lambda **kwargs: RNN(gam_rhn_cell(), **kwargs),
    "RNN(peephole_lstm)": lambda **kwargs: RNN(peephole_cell(), **kwargs),
    "RNN(self_attention)": lambda **kwargs: RNN(attending_cell(), **kwargs),
    "RHN": lambda **kwargs: RHN(3, depth=2, **kwargs),
    "GAM": lambda **kwargs: GAM(3, 2, 4, **kwargs),
    "GAMRHN": lambda **kwargs: GAMRHN(3, 1, 4, 2, 5, **kwargs),
    "SelfAttentionRNN": lambda **kwargs: SelfAttentionRNN(
        attending_cell(), **kwargs
    ),
}

# What Keras does with them does not depend on the cell.
ONE_OF_EACH_KIND = ["RNN(gam_rhn)", "GAMRHN", "SelfAttentionRNN"]

# A memory among its states, and a cell in another.
telling_cells = pytest.mark.parametrize(
    "cell", helpers.some_now(CELLS, ["gam", "self_attention"])
)
one_of_each_kind = pytest.mark.parametrize(
    "layer", helpers.some_now(LAYERS, ONE_OF_EACH_KIND)
)


def make(layer, batch_size=None, **kwargs):
    """A layer with random weights."""
    layer = LAYERS[layer](**kwargs)
    layer.build((batch_size, None, 2))
    helpers.randomize(layer)
    return layer


def values(states):
    return helpers.as_numpy([state.value for state in states])


class InTraining(keras.Model):
    """A layer that is in training, also where its model is not."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def call(self, inputs):
        return self.layer(*inputs, training=True)


@one_of_each_kind
def test_k1_symbolic_shapes_are_the_real_ones(layer):
    """A matrix as a state, or a nest, is taken for several states."""
    layer = make(layer, return_sequences=True, return_state=True)
    symbols, real = layer(keras.Input((4, 2))), layer(X)
    assert len(real) > 1
    assert [x.shape for x in symbols] == [(None, *x.shape[1:]) for x in real]


@telling_cells
def test_k2_the_output_size_is_one_integer(cell):
    """Attention weights cannot be a second output of a cell."""
    cell = CELLS[cell]()
    assert type(cell.output_size) is int
    assert RNN(cell).compute_output_shape((3, 4, 2)) == (3, 3)


def test_k2_attention_weights_are_an_output_of_the_layer():
    attending = AttentionCell(rhn_cell(), placement="after", units=7)
    assert attending.output_size == 7
    layer = AttentionRNN(attending, return_attention_scores=True)
    outputs, weights = layer(keras.Input((4, 2)), keras.Input((5, 6)))
    assert (outputs.shape, weights.shape) == ((None, 4, 7), (None, 4, 5))


@telling_cells
def test_k3_a_memory_comes_in_beside_the_states(cell):
    """`AttentionRNN` hands it to the cell, and no state carries it."""
    inner = CELLS[cell]()
    layer = AttentionRNN(AttentionCell(inner))
    layer.build(X.shape, MEMORY.shape)
    helpers.randomize(layer)
    states = keras.tree.flatten(layer.cell.get_initial_state(3))
    sizes = keras.tree.flatten(inner.state_size)
    assert [state.shape for state in states] == [(3, size) for size in sizes]
    twice = np.concatenate([X, X])
    memories = np.concatenate([MEMORY, MEMORY + 1])
    outputs = helpers.as_numpy(layer(twice, memories))
    assert np.abs(outputs[:3] - outputs[3:]).max() > 1e-3


DROPOUT = {"dropout": 0.5, "recurrent_dropout": 0.5}
DROPPED = {
    "rhn": (rhn_cell, RNN),
    "gam": (gam_cell, RNN),
    "gam_rhn": (gam_rhn_cell, RNN),
    "peephole_lstm": (peephole_cell, RNN),
    "in_self_attention": (
        rhn_cell,
        lambda cell: RNN(SelfAttentionCell(cell, "dot", 2, "before")),
    ),
    "in_fast_self_attention": (
        gam_rhn_cell,
        lambda cell: SelfAttentionRNN(SelfAttentionCell(cell, "dot", 2)),
    ),
    "in_a_stack": (
        gam_cell,
        lambda cell: RNN(StackedRNNCells([peephole_cell(), cell])),
    ),
    "in_zoneout": (rhn_cell, lambda cell: FastRNN(ZoneoutCell(cell, 0.0))),
    "in_a_residual_block": (
        rhn_cell,
        lambda cell: FastRNN([peephole_cell(), ResidualBlockCell(cell)]),
    ),
    "in_attention": (
        peephole_cell,
        lambda cell: AttentionRNN(AttentionCell(cell)),
    ),
    "in_a_stack_in_attention": (
        rhn_cell,
        lambda cell: AttentionRNN(
            AttentionCell(StackedRNNCells([gam_cell(), cell]))
        ),
    ),
}


def dropping(name):
    """A cell that drops out, a layer around it, and its inputs."""
    make_cell, make_layer = DROPPED[name]
    cell = make_cell(**DROPOUT)
    layer = make_layer(cell)
    inputs = [X, MEMORY] if isinstance(layer, AttentionRNN) else [X]
    layer.build(*(x.shape for x in inputs))
    helpers.randomize(layer)
    return cell, layer, inputs


def draws(cell):
    """How many masks a cell has drawn."""
    return int(helpers.as_numpy(cell.seed_generator.state.value)[1])


@pytest.mark.parametrize(
    "name",
    helpers.some_now(
        DROPPED, [name for name in DROPPED if "in_" in name] + ["gam_rhn"]
    ),
)
def test_k4_masks_are_drawn_once_for_every_batch(name):
    """Keras draws those of its own class of cell only, not of one inside.

    Such a cell would draw at its first step and never again.
    """
    cell, layer, inputs = dropping(name)
    found, drawn = [], []
    for _ in range(2):
        found.append(helpers.as_numpy(layer(*inputs, training=True)))
        drawn.append(draws(cell))
        assert cell._dropout_mask is cell._recurrent_dropout_mask is None
    # The dropout of Keras on PyTorch counts nothing.
    assert drawn == ([0, 0] if helpers.ON_TORCH else [2, 4])
    assert np.abs(found[0] - found[1]).max() > 1e-3


@pytest.mark.skipif(helpers.ON_TORCH, reason="no graphs")
@pytest.mark.parametrize(
    "name",
    helpers.one_now([name for name in DROPPED if name.startswith("in_")]),
)
def test_k5_a_graph_is_traced_anew_for_another_batch_size(name):
    """A mask of the first trace would be out of scope in the second.

    And one that is drawn inside of the loop is drawn at each of its steps.
    """
    cell, layer, inputs = dropping(name)
    model = InTraining(layer)
    first, second = (model.predict_on_batch(inputs) for _ in range(2))
    assert draws(cell) == 4
    assert np.abs(first - second).max() > 1e-3
    fewer = model.predict_on_batch([x[:2] for x in inputs])
    assert draws(cell) == 6
    assert fewer.shape == (2, *first.shape[1:])
    assert np.isfinite(fewer).all()


@pytest.mark.slow
def test_k6_a_stack_in_training_is_layer_upon_layer():
    """Keras runs every cell of a stack once more, to shape the masks."""
    options = DROPOUT | {"seed": 1}
    makers = [rhn_cell, attending_cell, peephole_cell]
    stack = RNN(
        StackedRNNCells([make_cell(**options) for make_cell in makers]),
        return_sequences=True,
    )
    layers = keras.Sequential(
        [RNN(make(**options), return_sequences=True) for make in makers]
    )
    for each in (stack, layers):
        each.build(X.shape)
        helpers.randomize(each)
    for _ in range(2):
        found = stack(X, training=True)
        helpers.assert_close(found, layers(X, training=True))
    helpers.assert_close(stack(X), layers(X))


@pytest.mark.slow_on_jax
def test_k7_a_stateful_stack_is_a_layer_for_every_cell():
    """So its state can be reset, which Keras fails at with a stack."""
    kwargs = {"return_sequences": True, "stateful": True}
    model = keras.Sequential(
        [
            RHN(3, **kwargs),
            RNN(attending_cell(), **kwargs),
            GAM(4, 2, 3, **kwargs),
        ]
    )
    model.build((3, None, 2))
    first, second = model(X[:, :2]), model(X[:, 2:])
    for layer in model.layers:
        layer.reset_state()
    helpers.assert_close(model(X), ops.concatenate([first, second], axis=1))


@one_of_each_kind
def test_k8_a_reset_state_is_the_initial_one(layer):
    """A reset gives zeros, whatever `get_initial_state` would say."""
    layer = make(layer, batch_size=3, stateful=True)
    layer(X)
    initial = layer.cell.get_initial_state(3)
    for state, start in zip(values(layer.states), initial, strict=True):
        assert np.any(state != helpers.as_numpy(start))
    layer.reset_state()
    helpers.assert_close(values(layer.states), initial, 0, 0)


@pytest.mark.skipif(
    keras.backend.backend() == "jax",
    reason="on JAX Keras drops the states of a compiled function",
)
@pytest.mark.parametrize(
    "layer",
    helpers.some_now(
        ["RHN", "RNN(gam_rhn)", "SelfAttentionRNN"], ["RHN", "SelfAttentionRNN"]
    ),
)
def test_k9_an_evaluation_moves_the_state_which_can_be_put_back(layer):
    """Training and evaluation go on from one another's state."""
    layer = make(layer, batch_size=3, stateful=True)
    model = keras.Sequential([keras.Input(batch_shape=X.shape), layer])
    model.compile(loss="mse")
    layer(X)
    saved = values(layer.states)
    model.evaluate(X, np.zeros((3, 3)), batch_size=3, verbose=0)
    moved = [
        np.abs(now - then).max()
        for now, then in zip(values(layer.states), saved, strict=True)
    ]
    assert max(moved) > 1e-3
    for state, value in zip(layer.states, saved, strict=True):
        state.assign(value)
    helpers.assert_close(
        layer(X), RNN(layer.cell)(X, initial_state=saved), 1e-4, 1e-5
    )


@one_of_each_kind
def test_k10_a_stateful_layer_refuses_another_batch_size(layer):
    """It was broadcast in silence once."""
    layer = make(layer, batch_size=3, stateful=True)
    with pytest.raises(ValueError, match="Expected batch size: 3"):
        layer(X[:2])


exports = pytest.mark.skipif(
    keras.backend.backend() != "tensorflow",
    reason="a SavedModel holds TensorFlow graphs",
)


@pytest.mark.slow
@exports
@pytest.mark.parametrize("layer", helpers.one_now(ONE_OF_EACH_KIND))
def test_k11_a_layer_is_exported_for_any_batch_and_time(layer, tmp_path):
    """Outputs and states side by side: Keras exports no nest of them."""
    import tensorflow as tf

    layer = make(layer, return_sequences=True, return_state=True)
    model = helpers.functional(layer, {"sequences": X})
    model.export(tmp_path / "model", verbose=False)
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    for x in (X, X[:1, :3]):
        helpers.assert_close(loaded.serve({"sequences": x}), layer(x))


@pytest.mark.slow
@exports
def test_k11_a_step_is_exported_with_its_states(tmp_path):
    """What can be served in place of a stateful layer, which cannot."""
    import tensorflow as tf

    def step_of(cell):
        def step(x, *states):
            output, states = cell(x, list(states))
            return [output, *keras.tree.flatten(states)]

        return step

    archive, cells = keras.export.ExportArchive(), {}
    for name in ("rhn", "self_attention"):
        cell = cells[name] = CELLS[name]()
        cell.build((None, 2))
        helpers.randomize(cell)
        widths = [2, *keras.tree.flatten(cell.state_size)]
        signature = [tf.TensorSpec((None, width)) for width in widths]
        archive.track(cell)
        archive.add_endpoint(name, step_of(cell), signature)
    archive.write_out(tmp_path / "steps", verbose=False)
    loaded = tf.saved_model.load(str(tmp_path / "steps"))
    for name, cell in cells.items():
        states, outputs = cell.get_initial_state(3), []
        for t in range(4):
            output, *states = getattr(loaded, name)(X[:, t], *states)
            outputs.append(output)
        layer = RNN(cell, return_sequences=True, return_state=True)
        helpers.assert_close([tf.stack(outputs, 1), *states], layer(X))


@pytest.mark.skipif(
    keras.backend.backend() == "jax",
    reason="JAX has a graph for every length",
)
@pytest.mark.parametrize("masked", [False, True], ids=["whole", "masked"])
@pytest.mark.parametrize("layer", helpers.one_now(["RHN", "SelfAttentionRNN"]))
def test_batches_of_several_lengths_train_in_one_graph(layer, masked):
    """No K: `keras.ops.scan` wants to know the length of two sequences.

    On TensorFlow a second length makes a graph that knows of none.
    """
    layer = make(layer, return_sequences=True)
    inputs = keras.Input((None, 2))
    sequences = keras.layers.Masking()(inputs) if masked else inputs
    model = keras.Model(inputs, layer(sequences))
    model.compile(keras.optimizers.SGD(0.0), loss="mse")
    for time in (4, 2, 3):
        x = X[:, :time]
        model.reset_metrics()  # Keras 3.12 goes on with the mean.
        loss = model.train_on_batch(x, np.zeros((3, time, 3)))
        outputs = helpers.as_numpy(layer(x))
        np.testing.assert_allclose(loss, np.mean(outputs**2), rtol=1e-4)


@pytest.mark.parametrize("layer", helpers.one_now(["RHN", *ONE_OF_EACH_KIND]))
def test_k16_both_directions_go_through_a_file(layer, tmp_path):
    """`Bidirectional` makes its layers anew from their configuration."""
    layer = Bidirectional(LAYERS[layer](return_sequences=True))
    layer.build(X.shape)
    helpers.randomize(layer)
    inputs = {"sequences": X}
    model = helpers.functional(layer, inputs)
    expected = model.predict_on_batch(inputs)
    assert expected.shape == (3, 4, 6)
    loaded = helpers.reloaded(model, tmp_path)
    helpers.assert_close(loaded.predict_on_batch(inputs), expected, 1e-6, 0)


WRAPPERS = {
    "self_attention": lambda: RNN(SelfAttentionCell(rhn_cell(), "additive", 2)),
    "fast_self_attention": lambda: SelfAttentionRNN(attending_cell()),
    "attention": lambda: AttentionRNN(AttentionCell(gam_rhn_cell())),
    "attention_after": lambda: AttentionRNN(
        AttentionCell(gam_cell(), placement="after")
    ),
    "stack": lambda: RNN(StackedRNNCells([attending_cell(), gam_cell()])),
    "stack_in_attention": lambda: AttentionRNN(
        AttentionCell(StackedRNNCells([rhn_cell(), peephole_cell()]))
    ),
}


@helpers.slow_on_jax
@pytest.mark.parametrize("wrapper", helpers.one_now(WRAPPERS))
def test_k17_a_wrapper_goes_through_a_file(wrapper, tmp_path):
    """One that builds the cell inside twice is saved, but not loaded."""
    layer = WRAPPERS[wrapper]()
    if isinstance(layer, AttentionRNN):
        inputs = {"sequence": X, "memory": MEMORY}
    else:
        inputs = {"sequences": X}
    layer.build(*(x.shape for x in inputs.values()))
    helpers.randomize(layer)
    model = helpers.functional(layer, inputs)
    loaded = helpers.reloaded(model, tmp_path)
    for found, weight in zip(loaded.weights, model.weights, strict=True):
        np.testing.assert_array_equal(found, weight)
    helpers.assert_close(
        loaded.predict_on_batch(inputs), model.predict_on_batch(inputs), 1e-6, 0
    )


@pytest.mark.thorough
def test_k18_an_encoder_hands_nested_states_to_a_decoder(tmp_path):
    """A list of lists of states goes from stack to stack, and to a file."""

    def stack():
        return StackedRNNCells([rhn_cell(), gam_rhn_cell()])

    source, target = keras.Input((None, 2)), keras.Input((None, 2))
    _, *states = RNN(stack(), return_state=True)(source)
    assert [len(keras.tree.flatten(state)) for state in states] == [1, 2]
    outputs = RNN(stack(), return_sequences=True)(target, initial_state=states)
    model = keras.Model([source, target], outputs)
    helpers.randomize(model)
    model.compile(keras.optimizers.SGD(0.1), loss="mse")
    pair, wanted = [X, X[:, :3]], helpers.random(3, 3, 3, seed=1)
    history = model.fit(pair, wanted, epochs=5, verbose=0).history["loss"]
    assert history[-1] < history[0]
    loaded = helpers.reloaded(model, tmp_path)
    expected = model.predict_on_batch(pair)
    helpers.assert_close(loaded.predict_on_batch(pair), expected, 1e-6, 0)
    other = model.predict_on_batch([X + 1, X[:, :3]])
    assert np.abs(other - expected).max() > 1e-3
