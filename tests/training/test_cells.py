import keras
import numpy as np
import pytest

from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import RHNCell
from kerasrnn.training import build_cell
from kerasrnn.training.cells import CELLS


@pytest.mark.parametrize("name", CELLS)
def test_every_cell_runs(name):
    cell = build_cell(name, 8, recurrent_dropout=0.25)
    assert cell.recurrent_dropout == 0.25
    assert keras.layers.RNN(cell)(np.ones((2, 3, 4), "float32")).shape == (2, 8)


@pytest.mark.parametrize(
    "name, cell_class, depth",
    [("rhn", RHNCell, 3), ("gam_rhn", GAMRHNCell, 2)],
)
def test_the_depth_of_a_cell(name, cell_class, depth):
    assert type(build_cell(name, 8)) is cell_class
    assert build_cell(name, 8).depth == depth
    assert build_cell(name, 8, 5).depth == 5


def test_a_cell_that_does_not_exist():
    with pytest.raises(ValueError, match="no cell 'qrnn'.*one of rnn, lstm"):
        build_cell("qrnn", 8)
