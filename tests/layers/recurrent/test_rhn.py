import numpy as np
import pytest

from kerasrnn.layers import RHNCell
from tests import helpers
from tests.layers import small_layers


def test_golden_coupled():
    cell = small_layers.with_weights(
        RHNCell(1, depth=2),
        kernel=[[0.5, 0.25]],
        recurrent_kernel_0=[[-0.5, 0.5]],
        recurrent_kernel_1=[[-0.5, 0.75]],
        bias=[[0.1, -0.2], [0.2, -0.4]],
    )
    (state,) = small_layers.step(cell, [[1.0]], [[[0.5]]])
    np.testing.assert_allclose(state, [[0.2112589621]], rtol=1e-6)


def test_golden_own_carry():
    cell = small_layers.with_weights(
        RHNCell(1, couple_carry=False),
        kernel=[[0.5, 0.25, -1.0]],
        recurrent_kernel_0=[[-0.5, 0.5, 2.0]],
        bias=[[0.1, -0.2, 1.5]],
    )
    # tanh(0.35) sigmoid(0.3) + 0.5 sigmoid(1.5)
    (state,) = small_layers.step(cell, [[1.0]], [[[0.5]]])
    np.testing.assert_allclose(state, [[0.6020156524]], rtol=1e-6)


def test_a_carry_gate_of_its_own_has_weights_of_its_own():
    coupled, own = (
        small_layers.cell("rhn", couple_carry=coupled)
        for coupled in (True, False)
    )
    assert own.count_params() * 2 == coupled.count_params() * 3


@pytest.mark.parametrize("couple_carry", [True, False])
def test_the_state_is_carried_at_first(couple_carry):
    cell = RHNCell(200, depth=3, couple_carry=couple_carry)
    cell.build((None, 20))
    h, t, *c = np.split(helpers.as_numpy(cell.bias.value), 3 - couple_carry, -1)
    assert np.all(t == -2)
    assert len(c) == 1 - couple_carry
    assert all(np.all(carry == 2) for carry in c)
    assert np.abs(h).max() <= 0.04


def test_the_transform_bias_may_be_chosen():
    cell = RHNCell(3, couple_carry=False, transform_bias=-4.0)
    cell.build((None, 2))
    _, t, c = np.split(helpers.as_numpy(cell.bias.value), 3, -1)
    assert np.all(t == -4)
    assert np.all(c == 4)


def test_weights_start_uniform():
    cell = RHNCell(100, depth=2)
    cell.build((None, 50))
    bias = cell.bias.value[:, :100]
    for weight in (cell.kernel.value, *cell.recurrent_kernel, bias):
        weight = helpers.as_numpy(weight)
        assert np.abs(weight).max() <= 0.04
        assert np.std(weight) == pytest.approx(0.04 / 3**0.5, rel=0.1)
        assert abs(np.mean(weight)) < 0.01
