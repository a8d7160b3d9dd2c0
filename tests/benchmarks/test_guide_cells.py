"""The cells that `steps.py` takes from the guides run, and run fast."""

import guide_cells
import pytest

from kerasrnn.layers import FastRNN
from tests import helpers

NAMES = {
    "ProjectingLSTM": 2,
    "IndRNN": 4,
    "Leaky": 4,
    "Leaky, self-attention": 4,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_cell_of_the_guides_runs_fast(name):
    layer = FastRNN(guide_cells.cell(name, 4))
    assert layer(helpers.random(2, 5, 3)).shape == (2, NAMES[name])
    assert layer.slow_because is None
