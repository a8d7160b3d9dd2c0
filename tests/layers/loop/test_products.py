"""Products over all steps."""

import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import _backend
from kerasrnn.layers.loop import products
from tests import helpers


@pytest.mark.parametrize("steps", [3, 2 * products._ROWS, 5000])
@pytest.mark.parametrize("width", [512, 20])
def test_the_gradient_of_a_kernel_sums_over_all_steps(steps, width):
    """Also where it is computed part by part: with rows of 2 KiB."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(steps, 1, 3)).astype("float32")
    grads = rng.normal(size=(steps, 1, width)).astype("float32")
    found = products.kernel_gradient(inputs, grads, (3, width))
    expected = np.einsum("tbi,tbw->iw", inputs, grads, dtype="float64")
    np.testing.assert_allclose(
        helpers.as_numpy(found), expected, rtol=1e-4, atol=1e-3
    )


@pytest.mark.skipif(
    keras.backend.backend() == "torch", reason="a product of its own"
)
@pytest.mark.parametrize("steps", [3, 5000])
def test_the_gradient_of_a_kernel_has_gradients(steps):
    x, g = (helpers.random(steps, n, seed=n) for n in (3, 512))
    upstream = helpers.random(3, 512, seed=1)

    def gradient(inputs, grads):
        return [products.kernel_gradient(inputs, grads, (3, 512))], []

    arguments = list(map(ops.convert_to_tensor, (x, g)))
    found, _ = _backend.gradients(
        gradient, arguments, [ops.convert_to_tensor(upstream)]
    )
    helpers.assert_close(found, [g @ upstream.T, x @ upstream], 1e-3, 1e-3)


@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="open shapes"
)
@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("steps", [0, 3, 5000])
def test_how_many_steps_there_are_may_be_open(steps, jit_compile):
    import tensorflow as tf

    shapes = [(None, 1, 3), (None, 1, 512)]
    gradient = tf.function(
        lambda x, g: products.kernel_gradient(x, g, (3, 512)),
        input_signature=list(map(tf.TensorSpec, shapes)),
        jit_compile=jit_compile,
    )
    inputs, grads = (
        helpers.random(steps, *shape[1:], seed=seed)
        for seed, shape in enumerate(shapes)
    )
    expected = np.einsum("tbi,tbw->iw", inputs, grads, dtype="float64")
    np.testing.assert_allclose(gradient(inputs, grads), expected, 1e-4, 1e-3)


@pytest.mark.skipif(keras.backend.backend() != "jax", reason="JAX's own")
def test_how_many_steps_there_are_may_have_a_symbol():
    import jax

    (steps,) = jax.export.symbolic_shape("steps")
    x, g = (
        jax.ShapeDtypeStruct((7 * steps, width), "float32")
        for width in (3, 512)
    )
    gradient = jax.jit(lambda x, g: products.kernel_gradient(x, g, (3, 512)))
    exported = jax.export.export(gradient)(x, g)
    assert exported.out_avals[0].shape == (3, 512)
