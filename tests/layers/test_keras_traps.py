"""Where Keras's recurrent layers trip a cell up, and that ours do not fall.

Each test names one of the traps K1 to K16, and would fail with a cell written
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


def make(layer, **kwargs):
    """A layer with random weights."""
    layer = LAYERS[layer](**kwargs)
    layer.build((None, None, 2))
    helpers.randomize(layer)
    return layer


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


@pytest.mark.slow
@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow",
    reason="a SavedModel holds TensorFlow graphs",
)
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


@pytest.mark.parametrize(
    "layer",
    helpers.some_now(["RHN", *ONE_OF_EACH_KIND], ["RHN", "SelfAttentionRNN"]),
)
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
