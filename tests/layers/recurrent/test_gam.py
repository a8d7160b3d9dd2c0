import keras
import numpy as np
import pytest
from keras.layers import Dense

from kerasrnn.layers import GAMRHN
from kerasrnn.layers import GAMCell
from kerasrnn.layers import GAMRHNCell
from tests import helpers
from tests.layers import small_layers


def test_golden():
    cell = small_layers.with_weights(
        GAMCell(num_groups=1, group_size=2, head_units=1),
        head_kernel=[[1.5], [-1.0]],
        write_kernel=[[1.0, -1.0]],
        reset_kernel=[[0.5], [1.0]],
        reset_bias=[-0.5],
        candidate_kernel=[[0.5], [-1.0]],
        candidate_bias=[0.25],
        read_kernel_0=[[2.0, 0.0]],
        read_bias=[[0.5, -0.25]],
    )
    # k = 1, a = softmax(1, -1), r = sigmoid(0.5), c = tanh(0.75 - r / 2);
    # read by softmax(2.5, -0.25).
    state, memory = small_layers.step(cell, [[1.0]], [[[0.5]], [[0.2, -0.4]]])
    np.testing.assert_allclose(state, [[0.3457946351]], rtol=1e-6)
    np.testing.assert_allclose(
        memory, [[0.3872791760, -0.3031327665]], rtol=1e-6
    )


def test_a_slot_that_the_softmax_picks_is_overwritten():
    """Group by group: the first group's second slot, the second's first."""
    cell = GAMCell(num_groups=2, group_size=2, head_units=1)
    picks = np.array([[-50.0, 50.0, 50.0, -50.0]])
    cell = small_layers.with_weights(
        cell,
        head_kernel=[[1.0], [0.0], [0.0]],
        write_kernel=picks,
        reset_kernel=np.zeros((3, 2)),
        reset_bias=np.zeros(2),
        candidate_kernel=np.zeros((3, 2)),
        candidate_bias=np.arctanh([0.25, 0.75]),
        read_kernel_0=-picks,
        read_bias=np.zeros((1, 4)),
    )
    memory = [[0.1, 0.2, 0.3, 0.4]]
    state, memory = small_layers.step(cell, [[1.0]], [[[0.0, 0.0]], memory])
    np.testing.assert_allclose(memory, [[0.1, 0.25, 0.75, 0.4]], rtol=1e-6)
    np.testing.assert_allclose(state, [[0.1, 0.4]], rtol=1e-6)


def test_biases_start_at_zero():
    cell = GAMCell(num_groups=3, group_size=2, head_units=4)
    cell.build((None, 2))
    biases = [w for w in cell.weights if "bias" in w.name]
    assert len(biases) == 3
    assert all(np.all(helpers.as_numpy(bias.value) == 0) for bias in biases)


def test_kernels_start_glorot_normal_over_the_joined_input():
    cell = GAMCell(num_groups=60, group_size=2, head_units=100)
    cell.build((None, 40))
    for kernel in (cell.head_kernel, cell.reset_kernel, *cell.read_kernel):
        std = (2 / sum(kernel.shape)) ** 0.5
        # Those of a normal distribution cut off at two deviations.
        kernel = helpers.as_numpy(kernel.value)
        assert np.std(kernel) == pytest.approx(std, rel=0.05)
        # PyTorch's is cut off but for a few in a million.
        assert np.quantile(np.abs(kernel), 0.999) < 2.3 * std


# Of the write and the reads those of `test_gam.py`.
MEMORY = {
    "head_kernel": [[1.5], [-1.0]],
    "write_kernel": [[1.0, -1.0]],
    "reset_kernel": [[0.5], [1.0]],
    "reset_bias": [-0.5],
    "candidate_kernel": [[0.5], [-1.0]],
    "candidate_bias": [0.25],
    "read_kernel_0": [[2.0, 0.0]],
    "read_kernel_1": [[-1.0, 1.0]],
    "read_bias": [[0.5, -0.25], [0.0, 0.75]],
    "next_head_kernel_0": [[-2.0]],
}
GATES = {
    "gate_kernel_0": [[1.0, 0.5], [-0.5, 0.25]],
    "gate_kernel_1": [[-1.0, 0.5], [0.5, 1.0]],
    "gate_bias": [[0.1, 0.2], [-0.3, 0.4]],
}
CANDIDATES = {
    "state_kernel_0": [[1.0], [0.5]],
    "state_kernel_1": [[-0.5], [2.0]],
    "state_bias": [[0.05], [-0.1]],
}


@pytest.mark.parametrize(
    "inner, expected", [("gru", 0.4183827450), ("highway", -0.0824331236)]
)
def test_golden_gam_rhn(inner, expected):
    weights = {**MEMORY, **GATES, **(CANDIDATES if inner == "gru" else {})}
    cell = small_layers.with_weights(
        GAMRHNCell(1, 2, 1, 2, 1, inner=inner), **weights
    )
    state, memory = small_layers.step(cell, [[1.0]], [[[0.5]], [[0.2, -0.4]]])
    np.testing.assert_allclose(state, [[expected]], rtol=1e-6)
    np.testing.assert_allclose(
        memory, [[0.3872791760, -0.3031327665]], rtol=1e-6
    )


def test_the_layer_has_the_size_of_the_paper():
    layer = GAMRHN(
        units=750,
        depth=10,
        num_groups=750,
        group_size=3,
        head_units=300,
        kernel_initializer="zeros",
    )
    # 27 symbols in and out.
    model = keras.Sequential(
        [keras.Input((None, 27)), Dense(50, use_bias=False), layer, Dense(27)]
    )
    assert layer.count_params() == 44_686_500
    assert model.count_params() == 44_708_127


def test_the_highway_is_carried_at_first():
    cell = GAMRHNCell(inner="highway", **small_layers.GAM_RHN_SIZES)
    cell.build((None, 2))
    h, t = np.split(helpers.as_numpy(cell.gate_bias.value), 2, -1)
    assert np.all(h == 0)
    assert np.all(t == -2)


def test_biases_of_a_gru_start_at_zero():
    cell = GAMRHNCell(**small_layers.GAM_RHN_SIZES)
    cell.build((None, 2))
    biases = [w for w in cell.weights if "bias" in w.name]
    assert len(biases) == 5
    assert all(np.all(helpers.as_numpy(bias.value) == 0) for bias in biases)


@pytest.mark.parametrize("bias_initializer", ["zeros", "ones"])
def test_the_transform_bias_may_be_chosen(bias_initializer):
    cell = GAMRHNCell(
        inner="highway",
        transform_bias=-4.0,
        bias_initializer=bias_initializer,
        **small_layers.GAM_RHN_SIZES,
    )
    cell.build((None, 2))
    h, t = np.split(helpers.as_numpy(cell.gate_bias.value), 2, -1)
    assert np.all(h == (bias_initializer == "ones"))
    assert np.all(t == -4)


@pytest.mark.parametrize("make", [GAMRHNCell, GAMRHN])
@pytest.mark.parametrize("bad", ["lstm", None])
def test_the_inner_step_is_checked(bad, make):
    with pytest.raises(ValueError, match=f"`inner`.*Received: inner={bad!r}"):
        make(inner=bad, **small_layers.GAM_RHN_SIZES)
