"""Products over all steps."""

import numpy as np
import pytest

from kerasrnn.layers.recurrent import products
from tests import helpers


@pytest.mark.parametrize("steps", [3, 2 * products._ROWS, 5000])
@pytest.mark.parametrize("width", [512, 20])
def test_the_gradient_of_a_kernel_sums_over_all_steps(steps, width):
    """Also where it is computed part by part: with rows of 2 KiB."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(steps, 1, 3)).astype("float32")
    grads = rng.normal(size=(steps, 1, width)).astype("float32")
    found = products.kernel_gradient(inputs, grads)
    expected = np.einsum("tbi,tbw->iw", inputs, grads, dtype="float64")
    np.testing.assert_allclose(
        helpers.as_numpy(found), expected, rtol=1e-4, atol=1e-3
    )
