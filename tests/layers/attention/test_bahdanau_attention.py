import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import BahdanauAttention
from kerasrnn.layers.attention import bahdanau_attention
from tests import helpers
from tests.layers import small_layers

# Values, masks, saving and precision: see test_mechanism.py.


def test_the_length_of_v_does_not_count_where_it_is_normalized():
    mechanism = BahdanauAttention(4, normalize=True)
    inputs = helpers.random(2, 3, 4), helpers.random(2, 5, 6)
    expected = mechanism(*inputs)
    assert mechanism.gain == 0.5  # 1 / sqrt(units)
    kernel = mechanism.score_projection.kernel
    kernel.assign(7 * kernel)
    helpers.assert_close(mechanism(*inputs), expected)


@pytest.mark.skipif(not small_layers.FLOAT64, reason="no float64")
def test_the_normalized_score_has_all_digits_of_float64():
    mechanism = BahdanauAttention(4, normalize=True, dtype="float64")
    mechanism.build((None, None, 4), (None, None, 6))
    helpers.randomize(mechanism)
    preactivation = helpers.random(2, 3, 5, 4).astype("float64")
    v = helpers.as_numpy(mechanism.score_projection.kernel.value)[:, 0]
    v = helpers.as_numpy(mechanism.gain.value) * v / np.linalg.norm(v)
    energy = mechanism.energy(ops.convert_to_tensor(preactivation))
    helpers.assert_close(energy, np.tanh(preactivation) @ v, 1e-12, 0)


def test_units_must_be_a_positive_integer():
    with pytest.raises(ValueError, match="Received: units=0"):
        BahdanauAttention(0)


def test_the_normalized_score_is_quantized():
    """Packed integers without their scales are another vector."""
    layer = BahdanauAttention(300, normalize=True)
    inputs = helpers.random(2, 3, 8), helpers.random(2, 5, 6)
    layer(*inputs)
    layer.gain.assign(3.0)
    kernel = 1 + helpers.random(300, 1) * np.linspace(0, 1, 300)[:, None]
    layer.score_projection.kernel.assign(kernel)
    _, expected = layer(*inputs)
    layer.score_projection.quantize("int4")
    _, weights = layer(*inputs)
    helpers.assert_close(weights, expected, 0, 0.02)


@helpers.slow_on_jax
@pytest.mark.parametrize(
    "dtype", helpers.one_now(["float32", "mixed_bfloat16"])
)
@pytest.mark.parametrize("known", helpers.one_now([True, False]))
@pytest.mark.parametrize(
    "options", helpers.one_now([{"normalize": True}, {"use_bias": True}])
)
def test_many_queries_are_scored_in_blocks(options, known, dtype, monkeypatch):
    """Values and gradients are those of all at once."""
    mechanism = BahdanauAttention(4, dtype=dtype, **options)
    arrays = {
        "query": helpers.random(2, 7, 3),
        "memory": helpers.random(2, 5, 6),
        "memory_mask": np.arange(5) < np.array([[5], [3]]),
    }
    mechanism(**arrays)
    helpers.randomize(mechanism)
    weights = mechanism.get_weights()
    cotangents = helpers.random(2, 7, 6)
    found = []
    # Blocks of 7, 3 and 1 queries of 2 rows, 5 positions and 4 units.
    for most in (7 * 40, 3 * 40, 1):
        monkeypatch.setattr(bahdanau_attention, "_MOST", most)
        inputs = {
            name: keras.Input(
                (x.shape[1] if known else None, *x.shape[2:]),
                dtype=x.dtype.name,
                name=name,
            )
            for name, x in arrays.items()
        }
        # The gradient of what comes before, too.
        query, memory = (
            keras.layers.Dense(width, kernel_initializer="identity")(x)
            for width, x in ((3, inputs["query"]), (6, inputs["memory"]))
        )
        context, alignment = mechanism(query, memory, inputs["memory_mask"])
        model = keras.Model(inputs, [context, alignment])
        values = model.predict_on_batch(arrays)
        model = keras.Model(inputs, context)
        grads = helpers.gradients(model, arrays, cotangents)
        mechanism.set_weights(weights)
        found.append([values, grads])
    expected, *found = found
    tolerance = 1e-5 if dtype == "float32" else 0.05
    for each in found:
        helpers.assert_close(each, expected, tolerance, tolerance)


@pytest.mark.skipif(
    helpers.ON_JAX or helpers.ON_TORCH, reason="of graphs of TensorFlow"
)
@pytest.mark.parametrize("time", helpers.one_now([None, 7]))
def test_blocks_are_compiled_by_xla(time, monkeypatch):
    """As `fit` does on a GPU, with their gradient."""
    import tensorflow as tf

    mechanism = BahdanauAttention(4)
    query, memory = helpers.random(2, 7, 3), helpers.random(2, 5, 6)
    mechanism(query, memory)

    def run(query, memory):
        with tf.GradientTape() as tape:
            tape.watch([query, memory])
            context, _ = mechanism(query, memory)
            loss = tf.reduce_sum(context**2)
        return loss, tape.gradient(loss, [query, memory])

    signature = [tf.TensorSpec((None, time, 3)), tf.TensorSpec((None, None, 6))]
    arrays = [tf.constant(query), tf.constant(memory)]
    expected = run(*arrays)
    for most in (3 * 40, 7 * 40):
        monkeypatch.setattr(bahdanau_attention, "_MOST", most)
        compiled = tf.function(run, input_signature=signature, jit_compile=True)
        helpers.assert_close(compiled(*arrays), expected)
