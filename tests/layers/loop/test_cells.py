import keras
import numpy as np
import pytest
from keras.layers import GRUCell
from keras.layers import LSTMCell
from keras.layers import StackedRNNCells

from kerasrnn.layers.loop import cells
from tests import helpers


@pytest.mark.parametrize(
    "cell", [GRUCell(3), LSTMCell(3), StackedRNNCells([GRUCell(3)])]
)
def test_a_cell_passes(cell):
    cells.check_cell(cell, "Anything")


@pytest.mark.parametrize(
    "cell, lacking",
    [
        ("gru", "'call'.*'state_size'.*'output_size'"),
        (keras.layers.Dense(3), "'state_size'.*'output_size'"),
        (keras.layers.RNN(GRUCell(3)), "'output_size'"),
        (None, "'call'.*'state_size'.*'output_size'"),
        (GRUCell, "GRUCell"),
    ],
)
def test_what_is_no_cell_is_told_what_it_lacks(cell, lacking):
    with pytest.raises(
        ValueError, match=f"Owner expects `cell`.*Received: .*{lacking}"
    ):
        cells.check_cell(cell, "Owner")


def test_a_cell_need_not_make_its_initial_state():
    class Bare:
        state_size = [3, 2]
        output_size = 3
        dtype_policy = keras.DTypePolicy("float16")

    states = cells.initial_state(Bare(), 4)
    assert [x.shape for x in states] == [(4, 3), (4, 2)]
    assert {str(keras.backend.standardize_dtype(x.dtype)) for x in states} == {
        "float16"
    }
    assert all(np.all(x == 0) for x in helpers.as_numpy(states))
