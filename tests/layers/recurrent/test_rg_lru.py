import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import RGLRU
from kerasrnn.layers import RGLRUCell
from tests import helpers
from tests.layers import small_layers
from tests.reference.cells import sigmoid
from tests.reference.layers import step_of


def test_golden():
    cell = small_layers.with_weights(
        RGLRUCell(1), kernel=[[0.5, -1.0]], bias=[0.25, 0.5], decay=[3.0]
    )
    # a = sigmoid(3)^(8 sigmoid(1.25)), sqrt(1 - a^2) sigmoid(-1.5) 2 + a / 2
    (state,) = small_layers.step(cell, [[2.0]], [[[0.5]]])
    np.testing.assert_allclose(state, [[0.6153258]], rtol=1e-5)


@pytest.mark.slow_on_jax
def test_what_it_keeps_at_first():
    cell = RGLRUCell(4000)
    cell.build((None, 4000))
    kept = sigmoid(ops.convert_to_numpy(cell.decay).astype("float64")) ** 8
    assert 0.8999 < kept.min() < 0.901 and 0.998 < kept.max() < 0.9991
    assert np.mean(kept) == pytest.approx(0.9495, abs=0.002)


def test_a_share_near_zero_is_exact():
    """1 - a^2 in float32 would be 0, or off by half."""
    cell = small_layers.with_weights(
        RGLRUCell(1), kernel=[[0.0, 0.0]], bias=[-15.0, 0.0], decay=[2.0]
    )
    x, states = np.ones((1, 1)), [np.zeros((1, 1))]
    helpers.assert_close(
        small_layers.step(cell, x, states), step_of(cell)(x, states), 1e-5, 0
    )


def test_gradients_where_nothing_is_forgotten():
    layer = RGLRU(2, return_sequences=True)
    layer.build((None, None, 2))
    layer.cell.bias.assign([-200.0, -200.0, 0.0, 0.0])
    _, weights, arrays = small_layers.backpropagate(
        layer, [helpers.random(2, 9, 2)], [np.ones((2, 9, 2), "float32")]
    )
    assert all(np.all(np.isfinite(x)) for x in (*weights, *arrays))


def test_its_size():
    layer = RGLRU(8)
    layer.build((None, None, 8))
    assert layer.count_params() == 2 * 8 * (8 + 1) + 8


def test_the_input_is_as_wide_as_the_state():
    with pytest.raises(ValueError, match="Dense.*Expected: 3. Received: 2"):
        RGLRU(3)(helpers.random(2, 5, 2))
