"""How the weights of cells start."""

import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import RHN
from kerasrnn.layers import GAMCell
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import PeepholeLSTMCell
from kerasrnn.layers import RHNCell
from tests import helpers


@pytest.mark.parametrize("seed", [None, 5])
def test_no_two_weights_start_alike(seed):
    """With sizes that give several weights one shape."""
    same = keras.initializers.GlorotNormal(seed)
    both = {"kernel_initializer": same, "recurrent_initializer": same}
    for cell in (
        RHNCell(3, 4, **both),
        PeepholeLSTMCell(3, **both),
        GAMCell(6, 2, 4, kernel_initializer=same),
        GAMRHNCell(6, 3, 6, 2, 12, kernel_initializer=same),
    ):
        cell.build((None, cell.output_size))
        kernels = [w for w in cell.get_weights() if w.ndim == 2 and w.std()]
        assert len(kernels) > 1
        for index, kernel in enumerate(kernels):
            for other in kernels[:index]:
                assert not np.any(kernel.flat[:4] == other.flat[:4])


def test_an_initializer_may_be_any_function():
    def twos(shape, dtype=None):
        return 2 * ops.ones(shape, dtype)

    layer = RHN(3, 2, kernel_initializer=twos, recurrent_initializer=twos)
    layer.build((None, None, 4))
    kernels = helpers.as_numpy(
        [layer.cell.kernel, *layer.cell.recurrent_kernel]
    )
    assert all(np.all(kernel == 2) for kernel in kernels)
