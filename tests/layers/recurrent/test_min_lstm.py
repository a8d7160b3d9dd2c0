import numpy as np
from keras import ops

from kerasrnn.layers import MinLSTM
from kerasrnn.layers import MinLSTMCell
from tests.layers import small_layers


def test_golden():
    cell = small_layers.with_weights(
        MinLSTMCell(1), kernel=[[0.5, 1.0, -2.0]], bias=[0.25, 0.5, 1.0]
    )
    # i = sigmoid(0.75), f = sigmoid(1.5): (0.5 f - i) / (f + i)
    (state,) = small_layers.step(cell, [[1.0]], [[[0.5]]])
    np.testing.assert_allclose(state, [[-0.180652]], rtol=1e-5)


def test_gates_that_vanish():
    """Their shares do not: 1 / (1 + e) of the state is kept."""
    cell = small_layers.with_weights(
        MinLSTMCell(1), kernel=[[0.0, 0.0, 0.0]], bias=[-299.0, -300.0, 0.0]
    )
    (state,) = small_layers.step(cell, [[1.0]], [[[1.0]]])
    np.testing.assert_allclose(state, [[1 / (1 + np.e)]], rtol=1e-5)


def test_it_has_three_gates_and_keeps_more_at_first():
    layer = MinLSTM(8)
    layer.build((None, None, 5))
    assert layer.count_params() == 3 * 8 * (5 + 1)
    i, f, g = np.split(ops.convert_to_numpy(layer.cell.bias), 3)
    assert np.all(f == 1) and not np.any(i) and not np.any(g)
    plain = MinLSTMCell(8, unit_forget_bias=False)
    plain.build((None, 5))
    assert not np.any(ops.convert_to_numpy(plain.bias))
