import keras
import numpy as np
import pytest

from kerasrnn.layers import BahdanauAttention
from kerasrnn.layers import DotAttention
from kerasrnn.layers import GeneralAttention
from kerasrnn.layers import MultiHeadDotAttention
from kerasrnn.layers import ScaledDotAttention
from tests import helpers
from tests.reference.layers import attend

# Dot products want query and memory equally wide; the others do not.
MECHANISMS = {
    "dot": (DotAttention, (), 4),
    "scaled_dot": (ScaledDotAttention, (), 4),
    "general": (GeneralAttention, (), 6),
    "additive": (BahdanauAttention, (5,), 6),
    "additive_bias": (BahdanauAttention, (5, True), 6),
    "multi_head": (MultiHeadDotAttention, (3, 2, 7), 6),
}
MASK = np.array([[1, 1, 1, 1, 1], [1, 0, 1, 1, 0], [0, 0, 0, 1, 0]], bool)

every_mechanism = pytest.mark.parametrize("name", MECHANISMS)


def make(name, **kwargs):
    """A mechanism with random weights, and inputs for it."""
    mechanism, arguments, memory_dim = MECHANISMS[name]
    mechanism = mechanism(*arguments, **kwargs)
    inputs = {
        "query": helpers.random(3, 2, 4, seed=2),
        "memory": helpers.random(3, 5, memory_dim, seed=3),
    }
    mechanism(**inputs)
    helpers.randomize(mechanism)
    return mechanism, inputs


@pytest.mark.parametrize("mask", [None, MASK], ids=["whole", "masked"])
@every_mechanism
def test_equals_the_oracle(name, mask):
    mechanism, inputs = make(name)
    expected = attend(mechanism, **inputs, mask=mask)
    mask = {} if mask is None else {"memory_mask": mask}
    helpers.assert_close(mechanism(**inputs, **mask), expected)
    compiled = helpers.compiled(mechanism, inputs | mask)
    helpers.assert_close(compiled, expected)


@every_mechanism
def test_a_masked_place_has_weight_exactly_zero(name):
    mechanism, inputs = make(name)
    context, weights = mechanism(**inputs, memory_mask=MASK)
    weights = helpers.as_numpy(weights)
    seen = np.broadcast_to(MASK[:, None], weights.shape)
    assert np.all(weights[~seen] == 0)
    assert np.all(weights[seen] > 0)
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-5)
    inputs["memory"][~MASK] = 1e3
    helpers.assert_close(mechanism(**inputs, memory_mask=MASK)[0], context)


@every_mechanism
def test_a_wholly_masked_memory_gives_zeros_and_finite_gradients(name):
    mechanism, inputs = make(name)
    dense = {key: keras.layers.Dense(x.shape[-1]) for key, x in inputs.items()}

    def project_and_attend(query, memory, memory_mask):
        return mechanism(
            dense["query"](query), dense["memory"](memory), memory_mask
        )[0]

    inputs["memory_mask"] = MASK & np.array([[True], [False], [True]])
    model = helpers.functional(project_and_attend, inputs)
    context, weights = mechanism(**inputs)
    assert np.all(helpers.as_numpy(context)[1] == 0)
    assert np.all(helpers.as_numpy(weights)[1] == 0)
    found = helpers.gradients(model, inputs, np.ones(context.shape, "float32"))
    assert all(np.isfinite(gradient).all() for gradient in found)
    assert any(np.abs(gradient).max() > 0 for gradient in found)


def test_the_mask_of_an_embedding_is_heeded():
    ids = np.array([[3, 1, 0, 0], [2, 2, 2, 0]])
    memory = keras.layers.Embedding(4, 6, mask_zero=True)(ids)
    _, weights = DotAttention()(helpers.random(2, 1, 6), memory)
    np.testing.assert_array_equal(helpers.as_numpy(weights)[:, 0] > 0, ids > 0)


@every_mechanism
def test_attend_to_what_was_projected_is_call(name):
    mechanism, inputs = make(name)
    projected = mechanism.project(keras.ops.convert_to_tensor(inputs["memory"]))
    for i in range(2):
        query = keras.ops.convert_to_tensor(inputs["query"][:, i : i + 1])
        helpers.assert_close(
            mechanism.attend(query, projected, MASK),
            mechanism(query, inputs["memory"], MASK),
        )


@every_mechanism
def test_configuration_round_trip(name):
    mechanism, inputs = make(name)
    copy = helpers.copy_of(mechanism)
    assert copy.get_config() == mechanism.get_config()
    copy(**inputs)
    copy.set_weights(mechanism.get_weights())
    helpers.assert_close(copy(**inputs), mechanism(**inputs))


@every_mechanism
def test_saved_model_round_trip(name, tmp_path):
    mechanism, inputs = make(name)
    inputs["memory_mask"] = MASK
    model = helpers.functional(mechanism, inputs)
    loaded = helpers.reloaded(model, tmp_path)
    helpers.assert_close(loaded(inputs), mechanism(**inputs))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@every_mechanism
def test_mixed_precision(name, dtype):
    mechanism, inputs = make(name, dtype=f"mixed_{dtype}")
    context, weights = mechanism(**inputs, memory_mask=MASK)
    assert keras.backend.standardize_dtype(context.dtype) == dtype
    assert keras.backend.standardize_dtype(weights.dtype) == "float32"
    assert {w.dtype for w in mechanism.weights} <= {"float32"}
    expected = attend(mechanism, **inputs, mask=MASK)
    helpers.assert_close(
        [keras.ops.cast(context, "float32"), weights], expected, 0.05, 0.05
    )


@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16"])
@every_mechanism
def test_symbolic_shapes_are_the_real_ones(name, policy):
    mechanism, inputs = make(name, dtype=policy)
    symbols = mechanism(*(keras.Input(x.shape[1:]) for x in inputs.values()))
    for symbol, real in zip(symbols, mechanism(**inputs), strict=True):
        assert symbol.shape == (None, *real.shape[1:])
        assert symbol.dtype == keras.backend.standardize_dtype(real.dtype)


@pytest.mark.parametrize(
    "use_bias, expected", [(False, 4 * 5 + 6 * 5 + 5), (True, 55 + 5 + 5 + 1)]
)
def test_bahdanau_parameter_count(use_bias, expected):
    mechanism = BahdanauAttention(5, use_bias=use_bias)
    mechanism.build((None, None, 4), (None, None, 6))
    assert mechanism.count_params() == expected


def test_bahdanau_kernels_start_differently():
    mechanism = BahdanauAttention(5, kernel_initializer="random_normal")
    mechanism.build((None, None, 4), (None, None, 4))
    query, memory, _ = mechanism.get_weights()
    assert not np.allclose(query, memory)


@pytest.mark.parametrize("mechanism", [DotAttention, ScaledDotAttention])
def test_a_dot_product_wants_equal_widths(mechanism):
    with pytest.raises(ValueError, match="equally wide.*width 4.*width 6"):
        mechanism()(np.ones((3, 2, 4)), np.ones((3, 5, 6)))


@pytest.mark.parametrize("units", [0, -3, 2.5, True, None, "5"])
def test_bahdanau_units_must_be_a_positive_integer(units):
    with pytest.raises(ValueError, match=f"`units`.*Received: units={units!r}"):
        BahdanauAttention(units)


def test_a_mechanism_must_override_score():
    from kerasrnn.layers.attention import AttentionMechanism

    class Scoreless(AttentionMechanism):
        pass

    with pytest.raises(NotImplementedError, match="Scoreless must override"):
        Scoreless()(np.ones((3, 2, 4)), np.ones((3, 5, 4)))
