import keras
import numpy as np
from keras.layers import GRUCell
from keras.layers import StackedRNNCells

from kerasrnn.layers import RHNCell
from kerasrnn.layers.loop.dropout_masks import draw_dropout_masks
from kerasrnn.layers.loop.dropout_masks import reset_dropout_masks
from tests import helpers


def test_masks_are_drawn_for_every_cell_and_dropped():
    inner = [GRUCell(5, dropout=0.5), GRUCell(3, recurrent_dropout=0.5)]
    stack = StackedRNNCells(inner)
    inputs = keras.ops.ones((4, 2))
    draw_dropout_masks(stack, inputs)
    first = inner[0].get_dropout_mask(inputs)
    second = inner[1].get_recurrent_dropout_mask(None)
    masks = keras.tree.flatten([first, second])
    assert {tuple(mask.shape) for mask in masks} == {(4, 2), (4, 3)}
    again = keras.tree.flatten(inner[0].get_dropout_mask(inputs))
    helpers.assert_close(again, first, 0, 0)
    reset_dropout_masks(stack)
    assert inner[0]._dropout_mask is None
    assert inner[1]._recurrent_dropout_mask is None


def test_a_cell_may_have_other_cells():
    """Such as a number of them, as in the block of an LSTM of 1997."""

    class Block(RHNCell):
        cells = 4

    cell = Block(3, dropout=0.5)
    draw_dropout_masks(cell, np.ones((2, 3), "float32"))
    assert cell._dropout_mask is not None
    reset_dropout_masks(cell)
    assert cell._dropout_mask is None


def test_masks_of_cells_in_cells_in_cells_are_dropped():
    inner = RHNCell(3, dropout=0.5)
    outer = keras.layers.StackedRNNCells(
        [keras.layers.StackedRNNCells([inner]), RHNCell(3)]
    )
    draw_dropout_masks(outer, np.ones((2, 3), "float32"))
    assert inner._dropout_mask is not None
    reset_dropout_masks(outer)
    assert inner._dropout_mask is None
