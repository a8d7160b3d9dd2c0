"""Products over all steps."""

import numpy as np
import pytest

from kerasrnn.layers.loop import products
from tests import helpers


@pytest.mark.parametrize("steps", [0, 3])
@pytest.mark.parametrize("width", [512, 20])
def test_the_gradient_of_a_kernel_sums_over_all_steps(steps, width):
    inputs, grads = (helpers.random(steps, 2, n, seed=n) for n in (3, width))
    found = products.kernel_gradient(inputs, grads, (3, width))
    expected = np.einsum("tbi,tbw->iw", inputs, grads, dtype="float64")
    helpers.assert_close(found, expected)
