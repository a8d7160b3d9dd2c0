import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers.through_time import products
from tests import helpers
from tests.reference.recurrent_cells import finite_differences
from tests.reference.recurrent_cells import layer_norm


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_times_transposed(dtype):
    kernel, x = helpers.random(3, 5), helpers.random(2, 5, seed=1)
    kernel_, x_ = (ops.cast(value, dtype) for value in (kernel, x))
    found = products.times_transposed(kernel_)(x_)
    assert keras.backend.standardize_dtype(found.dtype) == dtype
    rtol = 1e-5 if dtype == "float32" else 0.05
    helpers.assert_close(
        ops.cast(found, "float32"), x @ kernel.T, rtol=rtol, atol=rtol
    )


def test_gradients_of_weights_sum_over_all_steps():
    inputs, gates = helpers.random(4, 2, 3), helpers.random(4, 2, 5, seed=1)
    helpers.assert_close(
        products.kernel_gradient(inputs, ops.convert_to_tensor(gates)),
        sum(inputs[t].T @ gates[t] for t in range(4)),
    )
    helpers.assert_close(products.bias_gradient(gates), gates.sum(axis=(0, 1)))


def test_normalized_and_its_gradient():
    x, grad = helpers.random(2, 6), helpers.random(2, 2, 3, seed=1)
    normal, inverse = products.normalized(x, 2, 3)
    expected = layer_norm(x.reshape(2, 2, 3), np.ones(3))
    helpers.assert_close(normal, expected)
    x = x.astype("float64")
    helpers.assert_close(
        products.normalized_back(grad, normal, inverse),
        finite_differences(
            lambda: layer_norm(x.reshape(2, 2, 3), np.ones(3)).ravel(),
            x,
            grad.ravel(),
        ),
    )
