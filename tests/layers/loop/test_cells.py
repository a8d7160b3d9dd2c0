import keras
import numpy as np
import pytest
from keras.layers import GRUCell
from keras.layers import LSTMCell
from keras.layers import StackedRNNCells

from kerasrnn.layers import FastRNN
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.layers import SHACell
from kerasrnn.layers import ZoneoutCell
from kerasrnn.layers.loop import cells
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Translator
from tests import helpers
from tests.layers.own_cells import MinimalRNNCell


@pytest.mark.parametrize(
    "cell", [GRUCell(3), LSTMCell(3), StackedRNNCells([GRUCell(3)])]
)
def test_a_cell_passes(cell):
    cells.check_cell(cell, "Anything")


@pytest.mark.parametrize(
    "cell, lacking",
    [
        ("gru", "'call'.*'state_size'"),
        (keras.layers.Dense(3), "'state_size'"),
        (keras.layers.RNN(GRUCell(3)), "pass its `cell`"),
        (None, "'call'.*'state_size'"),
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


@pytest.mark.parametrize(
    ("size", "width"), [(3, 3), ([3, 2], 3), ([(2, 3), 2], (2, 3))]
)
def test_an_output_is_as_wide_as_the_first_state_by_default(size, width):
    class Bare:
        state_size = size

    assert cells.output_size(Bare()) == width
    Bare.output_size = 7
    assert cells.output_size(Bare()) == 7


@pytest.mark.parametrize(
    "around",
    [ZoneoutCell, SelfAttentionCell, SHACell, lambda cell: [cell, GRUCell(4)]],
)
def test_a_cell_without_output_size_is_wrapped(around):
    layer = FastRNN(around(MinimalRNNCell(4)), return_sequences=True)
    assert layer(np.ones((2, 5, 3), "float32")).shape == (2, 5, 4)


def test_a_cell_without_output_size_translates():
    cell = MinimalRNNCell(4)
    model = Translator(Encoder(9, cell), Decoder(9, cell))
    ids = np.ones((2, 3), "int32")
    assert model({"source": ids, "target": ids}).shape == (2, 3, 9)
