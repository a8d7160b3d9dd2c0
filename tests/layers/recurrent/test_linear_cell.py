import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import RGLRU
from kerasrnn.layers import FastRNN
from kerasrnn.layers import LinearCell
from kerasrnn.layers import MinGRU
from kerasrnn.layers import MinGRUCell
from kerasrnn.layers import MinLSTM
from kerasrnn.layers import MinLSTMCell
from kerasrnn.layers import RGLRUCell
from kerasrnn.layers import positive
from tests import helpers
from tests.layers import small_layers
from tests.reference.cells import sigmoid
from tests.reference.layers import step_of
from tests.reference.recurrent_cells import min_candidate


def test_golden_min_gru():
    cell = small_layers.with_weights(
        MinGRUCell(1), kernel=[[0.5, -2.0]], bias=[0.25, 1.0]
    )
    # 0.5 (1 - sigmoid(0.75)) - sigmoid(0.75)
    (state,) = small_layers.step(cell, [[1.0]], [[[0.5]]])
    np.testing.assert_allclose(state, [[-0.518768]], rtol=1e-5)


def test_a_linear_cell_of_ones_own_is_its_recurrence():
    class Average(LinearCell):
        def build(self, input_shape):
            self.build_gates(input_shape[-1], 1)

        def coefficients(self, inputs):
            x = self.gates(inputs)
            return ops.full_like(x, 0.75), 0.5 * x

    cell, x = Average(3), helpers.random(2, 6, 4)
    outputs = FastRNN(cell, return_sequences=True)(x)
    state = np.zeros((2, 3))
    for step in range(6):
        state = 0.75 * state + 0.5 * (
            x[:, step] @ ops.convert_to_numpy(cell.kernel)
        )
        helpers.assert_close(outputs[:, step], state)


def test_positive():
    x = helpers.random(50)
    helpers.assert_close(positive(x), min_candidate(x))
    assert positive([-200.0, 0.0])[1] == 0.5


def test_positive_candidates_survive_a_file(tmp_path):
    model = keras.Sequential([keras.Input((None, 2)), MinGRU(3, positive)])
    loaded = helpers.reloaded(model, tmp_path)
    assert loaded.layers[0].activation is positive
    x = helpers.random(2, 5, 2)
    helpers.assert_close(loaded(x), model(x))
    assert np.all(ops.convert_to_numpy(model(x)) > 0)


@pytest.mark.parametrize("use_bias", [True, False])
def test_it_has_two_gates(use_bias):
    layer = MinGRU(8, use_bias=use_bias)
    layer.build((None, None, 5))
    assert layer.count_params() == 2 * 8 * (5 + use_bias)


def test_golden_min_lstm():
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


def test_golden_rg_lru():
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
