import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import matrix_memory
from kerasrnn.layers import matrix_memory_step
from tests import helpers

# Keras knows no float64 on JAX, and multiplies in float32 on PyTorch.
WIDEST, CLOSE = (
    ("float64", 1e-9)
    if keras.backend.backend() == "tensorflow"
    else ("float32", 1e-3)
)
KINDS = ["plain", "delta", "exponential"]
BATCH, HEADS, KEY, VALUE = 2, 3, 4, 5


def arguments(kind, time, seed=0):
    """Keys of length 1, and values of beta up to 2."""
    random = np.random.default_rng(seed)
    shape = BATCH, time, HEADS
    k = random.normal(size=(*shape, KEY))
    found = {
        "q": random.normal(size=(*shape, KEY)),
        "k": k / np.linalg.norm(k, axis=-1, keepdims=True),
        "v": random.normal(size=(*shape, VALUE)),
        "log_decay": -np.exp(random.normal(size=shape) - 2),
    }
    if kind == "delta":
        found["beta"] = random.uniform(0, 2, size=shape)
    if kind == "exponential":
        found["log_input"] = 3 * random.normal(size=shape)
    return {name: x.astype(WIDEST) for name, x in found.items()}


def by_equations(q, k, v, log_decay, beta=None, log_input=None, mask=None):
    """The equations of the docstring, in NumPy; `exp` of what is small."""
    batch, time, heads, _ = q.shape
    if log_input is not None:
        v = np.concatenate([v, np.ones_like(v[..., :1])], -1)
    memory = np.zeros((batch, heads, q.shape[-1], v.shape[-1]))
    outputs = []
    for t in range(time):
        before = memory
        memory = memory * np.exp(log_decay[:, t])[..., None, None]
        new = v[:, t]
        if beta is not None:
            held = np.einsum("bhkv,bhk->bhv", memory, k[:, t])
            new = beta[:, t, :, None] * (new - held)
        if log_input is not None:
            new = np.exp(log_input[:, t])[..., None] * new
        memory = memory + np.einsum("bhk,bhv->bhkv", k[:, t], new)
        if mask is not None:
            seen = mask[:, t, None, None, None]
            memory = np.where(seen, memory, before)
        found = np.einsum("bhkv,bhk->bhv", memory, q[:, t])
        if log_input is not None:
            found = found[..., :-1] / np.maximum(np.abs(found[..., -1:]), 1)
        outputs.append(found)
    return np.stack(outputs, 1), memory


def true_memory(memory, scale=None):
    if scale is None:
        return helpers.as_numpy(memory)
    return helpers.as_numpy(memory * ops.exp(scale)[..., None, None])


def step_by_step(given, state=None):
    outputs = []
    for t in range(given["q"].shape[1]):
        here = {name: x[:, t] for name, x in given.items()}
        output, state = matrix_memory_step(**here, state=state)
        outputs.append(output)
    return ops.stack(outputs, axis=1), state


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("time", [1, 7, 16, 45])
def test_chunks_and_steps_compute_the_equations(kind, time):
    """Lengths of less than a chunk, of one, and of no multiple of one."""
    given = arguments(kind, time)
    expected, memory = by_equations(**given)
    for outputs, state in (
        matrix_memory(**given, chunk_size=16),
        step_by_step(given),
    ):
        helpers.assert_close(outputs, expected, CLOSE, CLOSE)
        helpers.assert_close(true_memory(*state), memory, CLOSE, CLOSE)


@pytest.mark.parametrize("kind", KINDS)
def test_two_halves_are_the_whole(kind):
    given = arguments(kind, 45)
    whole, state = matrix_memory(**given, chunk_size=16)
    halves, carried = [], None
    for part in (slice(20), slice(20, None)):
        half, carried = matrix_memory(
            **{name: x[:, part] for name, x in given.items()},
            initial_state=carried,
            chunk_size=8,
        )
        halves.append(half)
    helpers.assert_close(ops.concatenate(halves, 1), whole, CLOSE, CLOSE)
    helpers.assert_close(
        true_memory(*carried), true_memory(*state), CLOSE, CLOSE
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_masked_step_leaves_the_memory_unchanged(kind):
    """Whatever it contains, and in a chunk that is wholly masked, too."""
    given = arguments(kind, 45)
    mask = np.random.default_rng(1).random((BATCH, 45)) < 0.6
    mask[0, 16:32] = False
    expected, memory = by_equations(**given, mask=mask)
    for x in given.values():
        x[~mask] = np.nan
    outputs, state = matrix_memory(**given, mask=mask, chunk_size=16)
    found = helpers.as_numpy(outputs)
    helpers.assert_close(found[mask], expected[mask], CLOSE, CLOSE)
    helpers.assert_close(true_memory(*state), memory, CLOSE, CLOSE)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_the_steps(kind):
    given = arguments(kind, 21)
    cotangents = helpers.random(BATCH, 21, HEADS, VALUE).astype(WIDEST)

    def named(values):
        return dict(zip(given, values, strict=True))

    def of_chunks(*values):
        return matrix_memory(**named(values), chunk_size=8)[0]

    def of_steps(*values):
        return step_by_step(named(values))[0]

    found, expected = (
        gradients(function, list(given.values()), cotangents)
        for function in (of_chunks, of_steps)
    )
    helpers.assert_close(found, expected, CLOSE, CLOSE)


def gradients(function, values, cotangents):
    """Those of `sum(function(*values) * cotangents)`."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        values = [tf.constant(x) for x in values]
        with tf.GradientTape() as tape:
            tape.watch(values)
            outputs = tf.function(function)(*values)
        return tape.gradient(outputs, values, tf.constant(cotangents))
    if keras.backend.backend() == "jax":
        import jax

        return list(jax.vjp(jax.jit(function), *values)[1](cotangents))
    import torch

    values = [torch.tensor(x, requires_grad=True) for x in values]
    outputs = function(*values)
    return list(torch.autograd.grad(outputs, values, torch.tensor(cotangents)))


def test_equal_keys_lose_no_precision():
    """The inverse by powers of the matrix would be wrong in all digits."""
    given = arguments("delta", 1000)
    given["k"][:] = given["k"][:, :1]
    given["log_decay"][:] = 0
    expected, memory = by_equations(**given)
    outputs, state = matrix_memory(**given)
    rtol = CLOSE if WIDEST == "float64" else 1e-2
    helpers.assert_close(outputs, expected, rtol, rtol)
    helpers.assert_close(true_memory(*state), memory, rtol, rtol)


@pytest.mark.parametrize("kind", KINDS)
def test_float32_is_nearly_as_precise_as_a_loop(kind):
    given = arguments(kind, 300)
    expected, _ = by_equations(
        **{k: x.astype("float64") for k, x in given.items()}
    )
    given = {name: x.astype("float32") for name, x in given.items()}
    errors = [
        np.sqrt(np.mean((helpers.as_numpy(outputs) - expected) ** 2))
        for outputs, _ in (matrix_memory(**given), step_by_step(given))
    ]
    assert errors[0] < 4 * errors[1]


def test_weights_of_any_size():
    """`exp(log_input)` would overflow, and underflow, in float32."""
    given = arguments("exponential", 40)
    given = {name: x.astype("float32") for name, x in given.items()}
    given["log_input"] = np.float32(100) * np.sign(given["log_input"])
    outputs, state = matrix_memory(**given, chunk_size=8)
    helpers.assert_close(outputs, step_by_step(given)[0], 1e-3, 1e-3)
    assert np.isfinite(helpers.as_numpy(outputs)).all()
    assert np.isfinite(helpers.as_numpy(state[0])).all()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"beta": 1.0, "log_input": 1.0}, "one of them. Received: both"),
        ({"chunk_size": 48}, "a power of two. Received: 48"),
        ({"chunk_size": 2}, "an integer >= 4. Received: chunk_size=2"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        matrix_memory(**arguments("plain", 3), **options)
