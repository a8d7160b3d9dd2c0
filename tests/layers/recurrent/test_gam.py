import numpy as np
import pytest

from kerasrnn.layers import GAM
from kerasrnn.layers import GAMCell
from tests import helpers
from tests.layers import small_layers
from tests.reference.layers import step_of

OPTIONS = {
    "plain": {},
    "normalized": {"layer_norm": True},
    "head_norm": {"head_norm": True},
}

every_option = pytest.mark.parametrize("options", OPTIONS)


@every_option
def test_a_step_equals_the_oracle(options):
    cell = small_layers.cell("gam", **OPTIONS[options])
    x, states = helpers.random(2, 2), small_layers.some_states(cell)
    helpers.assert_close(
        small_layers.step(cell, x, states), step_of(cell)(x, states)
    )


@every_option
def test_a_step_equals_the_oracle_in_a_compiled_graph(options):
    cell = small_layers.cell("gam", **OPTIONS[options])
    x, states = helpers.random(2, 2), small_layers.some_states(cell)
    helpers.assert_close(
        small_layers.compiled_step(cell, x, states), step_of(cell)(x, states)
    )


def test_dropout_meets_what_enters_a_product():
    small_layers.check_dropout(
        small_layers.cell("gam", dropout=0.5, recurrent_dropout=0.5, seed=2)
    )


@every_option
def test_gradients_equal_finite_differences(options):
    small_layers.check_gradients(
        small_layers.loop(
            "gam",
            {"return_state": True},
            dtype=small_layers.WIDEST,
            **OPTIONS[options],
        )
    )


def test_gradients_of_the_fast_layer_equal_finite_differences():
    small_layers.check_gradients(
        small_layers.fast(
            "gam", {"return_state": True}, dtype=small_layers.WIDEST
        )
    )


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


@pytest.mark.parametrize("make", [GAMCell, GAM])
@pytest.mark.parametrize("bad", [0, -1, True, 2.5, None])
@pytest.mark.parametrize("name", ["num_groups", "group_size", "head_units"])
def test_sizes_are_checked(name, bad, make):
    with pytest.raises(ValueError, match=f"`{name}`.*Received: {name}={bad}"):
        make(**small_layers.GAM_SIZES | {name: bad})
