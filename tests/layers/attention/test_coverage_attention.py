import numpy as np
import pytest

from kerasrnn.layers import CoverageAttention
from tests import helpers

# Values, masks, saving and precision: see test_mechanism.py.


def attends_by_coverage(fertility):
    """A score of `-tanh(C)`: what was attended to is left for the others."""
    attention = CoverageAttention(1, fertility)
    attention.build((None, None, 3), (None, None, 4))
    attention.set_weights([np.zeros(w.shape) for w in attention.weights])
    attention.score_projection.kernel.assign([[-9.0]])
    attention.coverage_kernel.assign([[1.0]])
    return attention


def test_what_was_covered_is_attended_to_less():
    attention = attends_by_coverage(None)
    attention.memory_projection.kernel.assign([[-1.0], [0], [0], [0]])
    memory = np.zeros((1, 2, 4), "float32")
    memory[0, 0, 0] = 0.5  # the first position is liked better
    query = np.zeros((1, 4, 3), "float32")
    weights = helpers.as_numpy(attention(query, memory)[1])[0]
    assert weights[0, 0] > 0.9
    assert weights[1, 1] > 0.9
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-5)


@pytest.mark.parametrize("fertility, expected", [(None, 0.5), (4.0, 0.25)])
def test_the_coverage_is_divided_by_the_fertility(fertility, expected):
    """Of 4 sigmoid(0) = 2 words that are expected."""
    attention = attends_by_coverage(fertility)
    memory = np.zeros((1, 2, 4), "float32")
    projected = attention.project(memory)
    state = attention.initial_state(1, projected)
    *_, covered = attention.attend(
        np.zeros((1, 1, 3), "float32"), projected, state=state[:, None]
    )
    np.testing.assert_allclose(helpers.as_numpy(covered), [[[expected] * 2]])


def test_a_fertility_is_positive():
    with pytest.raises(ValueError, match="Received: fertility=0"):
        CoverageAttention(5, 0)
