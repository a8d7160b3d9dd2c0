import keras
import numpy as np
import pytest
from keras import ops
from keras.layers import GRUCell
from keras.layers import LSTMCell
from keras.layers import StackedRNNCells

from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastLSTMCell
from kerasrnn.layers import GAMCell
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import RHNCell
from kerasrnn.layers import ZoneoutCell
from kerasrnn.layers.loop import cells
from kerasrnn.layers.loop import running
from tests import helpers
from tests.layers.own_cells import ProjectedCell

RUNS = {
    "gru": (lambda: GRUCell(3), False),
    "stacked": (lambda: StackedRNNCells([RHNCell(5), LSTMCell(3)]), False),
    "rhn": (lambda: RHNCell(3, depth=2), True),
    "zoned_out": (lambda: ZoneoutCell(RHNCell(3, depth=2), 0.1), True),
    "relu": (lambda: RHNCell(3, activation="relu"), True),
    "gam": (lambda: GAMCell(3, 2, 4), True),
    "gam_rhn": (lambda: GAMRHNCell(3, 1, 4, 2, 5), True),
    "projected": (lambda: ProjectedCell(4, 3), False),
    "stacked_rhn": (lambda: StackedRNNCells([RHNCell(5), RHNCell(3)]), True),
}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("masked", [False, True])
def test_a_run_is_step_after_step(name, masked):
    make, at_once = RUNS[name]
    cell = make()
    assert (running.slow_because(cell) is None) == at_once
    cell.build((None, 2))
    helpers.randomize(cell)
    sequence = keras.ops.convert_to_tensor(helpers.random(4, 3, 2))
    mask = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 0], [1, 0, 0]], bool)
    start = states = keras.tree.map_structure(
        lambda x: keras.ops.ones_like(x) / 2, cells.initial_state(cell, 3)
    )
    expected, before = [], None
    for x, here in zip(sequence, mask[..., None], strict=True):
        after = cells.step(cell, x, states)
        if masked and before is not None:
            after = keras.tree.map_structure(
                lambda new, old, here=here: ops.where(here, new, old),
                after,
                before,
            )
        output, states = before = after
        expected.append(output)
    mask = ops.cast(mask[..., None], "float32") if masked else None
    outputs, last = running.run(cell, sequence, start, mask)
    helpers.assert_close(outputs, keras.ops.stack(expected))
    keras.tree.assert_same_structure(last, start)
    helpers.assert_close(last, states)


def test_stacked_cells_run_one_after_the_other():
    """As in the loop over time that runs all of them at each step."""
    sequence = helpers.random(3, 5, 2)
    stacked = StackedRNNCells([FastLSTMCell(4), GRUCell(3), FastGRUCell(5)])
    layer = keras.layers.RNN(stacked, return_sequences=True, return_state=True)
    layer.build(sequence.shape)
    helpers.randomize(layer)
    expected = layer(sequence)
    outputs, states = running.run(
        stacked,
        ops.convert_to_tensor(np.swapaxes(sequence, 0, 1)),
        cells.initial_state(stacked, 3),
    )
    found = [ops.swapaxes(outputs, 0, 1), *states]
    helpers.assert_close(
        keras.tree.flatten(found), keras.tree.flatten(expected)
    )
