import keras
import numpy as np
import pytest

from kerasrnn.metrics import token_costs as module
from kerasrnn.metrics.token_costs import positions_of
from kerasrnn.metrics.token_costs import token_costs
from tests import helpers

LOGITS = helpers.random(2, 3, 5)
LABELS = np.array([[0, 4, 2], [3, 1, 5]])


def expected():
    costs = np.log(np.exp(LOGITS).sum(-1)) - np.take_along_axis(
        LOGITS, np.minimum(LABELS, 4)[..., None], -1
    ).squeeze(-1)
    return np.where(LABELS < 5, costs, np.nan)


@pytest.mark.parametrize("most", [2**31, 30, 31])
def test_beyond_the_positions_of_int32_it_is_the_same(most, monkeypatch):
    """As if the 30 logits were 2 ** 31, on any backend."""
    monkeypatch.setattr(module, "_MOST", most)
    helpers.assert_close(token_costs(LABELS, LOGITS), expected())


class Costs(keras.layers.Layer):
    def call(self, labels, logits):
        return token_costs(labels, logits)


@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="others know all lengths"
)
def test_a_graph_for_any_batch_counts_in_int64(monkeypatch):
    dtypes = []

    def spy(labels, size, dtype):
        dtypes.append(dtype)
        return positions_of(labels, size, dtype)

    monkeypatch.setattr(module, "positions_of", spy)
    labels = keras.Input((None,), dtype="int32")
    logits = keras.Input((None, 5))
    model = keras.Model([labels, logits], Costs()(labels, logits))
    found = model.predict_on_batch([LABELS, LOGITS])
    helpers.assert_close(found, expected())
    assert "int64" in dtypes
    positions = positions_of(np.array([[0, 7], [8, 3]]), 2**30, "int64")
    positions = helpers.as_numpy(positions).tolist()
    assert positions == [0, 2**30 + 7, 2**31 + 8, 3 * 2**30 + 3]
