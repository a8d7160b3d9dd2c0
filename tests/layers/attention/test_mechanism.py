"""What is true of every style; see the other files for their own."""

import keras
import numpy as np
import pytest
from keras import ops
from keras.layers import GRUCell

from kerasrnn.layers import AttentionCell
from kerasrnn.layers import BahdanauAttention
from kerasrnn.layers import DotAttention
from kerasrnn.layers import MonotonicAttention
from kerasrnn.layers import MultiHeadDotAttention
from kerasrnn.layers import ScaledDotAttention
from kerasrnn.layers.attention.mechanism import AttentionMechanism
from tests import helpers
from tests.layers import small_layers
from tests.layers.attention.small_mechanisms import MASK
from tests.layers.attention.small_mechanisms import MECHANISMS
from tests.layers.attention.small_mechanisms import make
from tests.layers.attention.small_mechanisms import make_all
from tests.reference.attention import attend_as as attend

every_mechanism = pytest.mark.parametrize("name", MECHANISMS)
# Others differ from one of these in a factor or a bias of their scores.
one_of_a_kind = pytest.mark.parametrize(
    "name",
    helpers.some_now(
        MECHANISMS,
        [
            *("dot", "general", "additive", "normalized", "multi_head"),
            *("multi_scale", "local_p", "local_m", "location", "coverage"),
            "monotonic",
        ],
    ),
)


class InTraining(keras.layers.Layer):
    """A mechanism that is in training, wherever it is called."""

    def __init__(self, mechanism):
        super().__init__()
        self.mechanism = mechanism

    def call(self, query, memory, memory_mask=None):
        return self.mechanism(query, memory, memory_mask, training=True)


@every_mechanism
def test_equals_the_oracle(name):
    mechanism, inputs = make(name)
    for mask in (None, MASK):
        for training in (False, True):
            found = mechanism(**inputs, memory_mask=mask, training=training)
            expected = attend(mechanism, **inputs, mask=mask, training=training)
            helpers.assert_close(found, expected)


@pytest.mark.slow
@pytest.mark.slow_on_jax
def test_all_equal_the_oracle_in_a_compiled_graph_and_after_saving(tmp_path):
    """One model of all of them: batch, queries and positions are open."""
    mechanisms, arrays, expected = {}, {"memory_mask": MASK}, {}
    for name, (mechanism, inputs) in make_all().items():
        keys = [f"{key}_{x.shape[-1]}" for key, x in inputs.items()]
        arrays |= dict(zip(keys, inputs.values(), strict=True))
        mechanisms[name] = mechanism, keys
        expected[name] = attend(mechanism, **inputs, mask=MASK)

    def call(memory_mask, **tensors):
        return {
            name: mechanism(*(tensors[key] for key in keys), memory_mask)
            for name, (mechanism, keys) in mechanisms.items()
        }

    model = helpers.functional(call, arrays)
    found = model.predict_on_batch(arrays)
    loaded = helpers.reloaded(model, tmp_path)(arrays)
    for name in MECHANISMS:
        helpers.assert_close(found[name], expected[name])
        helpers.assert_close(loaded[name], expected[name])
        context, weights = model.output[name]
        assert context.shape == (None, None, found[name][0].shape[-1]), name
        assert weights.shape == (None, None, None), name


@one_of_a_kind
def test_a_masked_position_has_no_influence(name):
    """Neither in value nor in gradient, even if NaN stands there."""
    mechanism, inputs = make(name)
    query, memory = inputs.values()
    cotangents = [
        helpers.random(*x.shape, seed=7) for x in mechanism(query, memory)
    ]
    found = []
    for behind in (0.0, np.nan, np.inf):
        hidden = np.where(MASK[..., None], memory, behind).astype("float32")
        found.append(
            small_layers.backpropagate(
                mechanism,
                [query, hidden],
                cotangents,
                call=InTraining(mechanism),
                memory_mask=MASK,
            )
        )
    helpers.assert_close(found[1:], [found[0]] * 2, 0, 0)
    (context, weights), of_weights, (_, of_memory) = found[0]
    assert np.all(np.moveaxis(weights, 1, 2)[~MASK] == 0)
    assert np.all(context[~MASK.any(1)] == 0)
    assert np.all(of_memory[~MASK] == 0)
    for gradient in (*of_weights, of_memory):
        assert np.isfinite(gradient).all()
    assert np.abs(of_memory).max() > 0


@helpers.slow_on_jax
def test_no_sentences_and_no_positions():
    for name, (mechanism, inputs) in make_all().items():
        query, memory = inputs.values()
        for training in (False, True):
            context, weights = mechanism(
                query[:0], memory[:0], MASK[:0], training=training
            )
            assert context.shape[:2] == (0, 4), name
            assert weights.shape == (0, 4, 5), name
            context, weights = mechanism(
                query, memory[:, :0], MASK[:, :0], training=training
            )
            assert not helpers.as_numpy(context).any(), name
            assert weights.shape == (4, 4, 0), name


def test_the_mask_of_an_embedding_is_heeded():
    ids = np.array([[3, 1, 0, 0], [2, 2, 2, 0]])
    memory = keras.layers.Embedding(4, 6, mask_zero=True)(ids)
    _, weights = DotAttention()(helpers.random(2, 1, 6), memory)
    np.testing.assert_array_equal(helpers.as_numpy(weights)[:, 0] > 0, ids > 0)


@one_of_a_kind
def test_step_by_step_it_is_the_call(name):
    """From what was projected once, and the state of the step before."""
    mechanism, inputs = make(name)
    query, memory = (ops.convert_to_tensor(x) for x in inputs.values())
    mask = ops.convert_to_tensor(MASK)
    projected = mechanism.project(memory, mask)
    state = mechanism.initial_state(4, projected)
    assert mechanism.stateful == bool(keras.tree.flatten(state))
    found = []
    for t in range(query.shape[1]):
        *step, after = mechanism.attend(
            query[:, t : t + 1],
            projected,
            mask,
            keras.tree.map_structure(lambda x: ops.expand_dims(x, 1), state),
        )
        found.append(step)
        state = keras.tree.map_structure(lambda x: ops.squeeze(x, 1), after)
    found = [ops.concatenate(x, 1) for x in zip(*found, strict=True)]
    helpers.assert_close(found, mechanism(query, memory, mask))
    *_, last = mechanism.attend_in_turn(
        query, projected, mask, mechanism.initial_state(4, projected), False, {}
    )
    helpers.assert_close(last, state)


@pytest.mark.slow_on_jax
def test_configuration_round_trip():
    for name, (mechanism, inputs) in make_all(dropout=0.2, seed=3).items():
        copy = helpers.copy_of(mechanism)
        assert copy.get_config() == mechanism.get_config(), name
        copy(**inputs)
        copy.set_weights(mechanism.get_weights())
        helpers.assert_close(copy(**inputs), mechanism(**inputs))
        for argument in mechanism.get_config():
            assert hasattr(mechanism, argument), (name, argument)


@pytest.mark.parametrize(
    "name",
    ["scaled_general", "additive", "multi_head", "multi_scale"]
    + ["location", "coverage", "monotonic"],
)
def test_kernels_start_as_told(name):
    mechanism = MECHANISMS[name](kernel_initializer="ones")
    options = {"placement": "after", "kernel_initializer": "ones"}
    cell = AttentionCell(GRUCell(4), mechanism, **options)
    cell.build((None, 2), (None, None, 6))
    kernels = [x.value for x in mechanism.weights if "kernel" in x.name]
    assert kernels
    kernels.append(getattr(mechanism, "scale", cell.kernel).value)
    for kernel in helpers.as_numpy([*kernels, cell.kernel.value]):
        assert np.all(kernel == 1)


@helpers.slow_on_jax
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_mixed_precision(dtype):
    for name, (mechanism, inputs) in make_all(dtype=f"mixed_{dtype}").items():
        context, weights = mechanism(**inputs, memory_mask=MASK, training=True)
        assert keras.backend.standardize_dtype(context.dtype) == dtype, name
        assert keras.backend.standardize_dtype(weights.dtype) == "float32", name
        assert {w.dtype for w in mechanism.weights} <= {"float32"}, name
        expected = attend(mechanism, **inputs, mask=MASK, training=True)
        found = [ops.cast(context, "float32"), weights]
        helpers.assert_close(found, expected, 0.08, 0.08)


@pytest.mark.parametrize(
    "name",
    ["additive", "multi_head", "multi_scale", "coverage"]
    + ["local_p", "local_m", "location"],
)
def test_dropout_of_weights(name):
    """The context is that of the weights left over, the weights are all."""
    mechanism, inputs = make(name, dropout=0.5, seed=1)
    context, weights = mechanism(**inputs)
    helpers.assert_close([context, weights], attend(mechanism, **inputs))
    dropped, same = mechanism(**inputs, training=True)
    helpers.assert_close(same, weights)
    assert np.abs(helpers.as_numpy(dropped - context)).max() > 1e-3
    again, _ = mechanism(**inputs, training=True)
    assert np.abs(helpers.as_numpy(again - dropped)).max() > 1e-3
    twin, _ = make(name, dropout=0.5, seed=1)
    helpers.assert_close(twin(**inputs, training=True)[0], dropped, 0, 0)


def test_dropout_drops_whole_weights_and_scales_the_others():
    mechanism = DotAttention(dropout=0.75, seed=1)
    query = np.zeros((20, 3, 8), "float32")
    memory = np.tile(np.eye(8, dtype="float32"), (20, 1, 1))
    # All weights are 1/8, and the context is the weights.
    context, weights = helpers.as_numpy(mechanism(query, memory, training=True))
    np.testing.assert_allclose(weights, 1 / 8)
    assert set(np.unique(context)) == {0, 0.5}
    assert 0.15 < np.mean(context > 0) < 0.35
    heads = MultiHeadDotAttention(2, 4, 8, dropout=0.75)
    heads.build(query.shape, memory.shape)
    heads.set_weights(
        [np.zeros((8, 8)), np.zeros((8, 8)), np.eye(8), np.eye(8)]
    )
    # The first head reads the first four positions, the second the others.
    context, _ = helpers.as_numpy(heads(query, memory, training=True))
    assert set(np.unique(context)) == {0, 0.5}


class Scoreless(AttentionMechanism):
    """Does not say how it scores."""


QUERY, MEMORY = np.ones((3, 2, 4)), np.ones((3, 5, 6))


@pytest.mark.parametrize(
    "call, error, message",
    [
        (
            lambda: MonotonicAttention(5, dropout=1.0),
            *(ValueError, "Received: dropout=1.0"),
        ),
        *(
            (
                lambda kind=kind: kind()(QUERY, MEMORY),
                *(ValueError, "Expected: 4, .* of width 6"),
            )
            for kind in (DotAttention, ScaledDotAttention)
        ),
        (
            lambda: Scoreless()(QUERY, MEMORY),
            *(NotImplementedError, "Scoreless must override"),
        ),
    ],
    ids=["a rate", "widths", "widths of scaled scores", "no score"],
)
def test_what_is_wrong_is_said(call, error, message):
    with pytest.raises(error, match=message):
        call()


def along(layer, arrays, loss):
    """Differences of a loss along a random direction of each weight, array."""
    weights = layer.get_weights()
    for i in range(len(weights) + len(arrays)):
        values = [np.array(x, "float64") for x in (*weights, *arrays)]
        direction = helpers.random(*values[i].shape, seed=i)
        losses = []
        for step in (1e-4, -1e-4):
            moved = [*values]
            moved[i] = values[i] + step * direction
            layer.set_weights(moved[: len(weights)])
            losses.append(loss(*moved[len(weights) :]))
        layer.set_weights(weights)
        yield direction, (losses[0] - losses[1]) / 2e-4


@pytest.mark.skipif(not small_layers.FLOAT64, reason="no float64")
@pytest.mark.parametrize(
    "name",
    ["normalized", "scaled_general", "multi_scale", "local_p", "location"]
    + ["coverage", "coverage_sum", "monotonic"],
)
def test_gradients_equal_finite_differences(name):
    """Of each weight, of the query and of the memory, by the oracle."""
    mechanism, inputs = make(name, dtype="float64")
    arrays = [x.astype("float64") for x in inputs.values()]
    cotangents = [
        helpers.random(*x.shape, seed=7).astype("float64")
        for x in mechanism(*arrays)
    ]
    _, *gradients = small_layers.backpropagate(
        mechanism,
        arrays,
        cotangents,
        call=InTraining(mechanism),
        memory_mask=MASK,
    )

    def loss(query, memory):
        outputs = attend(mechanism, query, memory, MASK, training=True)
        return sum(
            np.sum(x * y) for x, y in zip(outputs, cotangents, strict=True)
        )

    gradients = keras.tree.flatten(gradients)
    expected = list(along(mechanism, arrays, loss))
    for found, (direction, change) in zip(gradients, expected, strict=True):
        np.testing.assert_allclose(
            np.sum(found * direction), change, rtol=1e-5, atol=1e-7
        )


@pytest.mark.skipif(not small_layers.FLOAT64, reason="no float64")
@pytest.mark.parametrize(
    "mechanism_class", [BahdanauAttention, MonotonicAttention]
)
def test_noise_has_the_dtype_of_the_weights(mechanism_class):
    x = helpers.random(2, 3, 4)
    mechanism = mechanism_class(3, dropout=0.1, dtype="float64")
    context, *_ = mechanism(x, x, training=True)
    assert keras.backend.standardize_dtype(context.dtype) == "float64"
