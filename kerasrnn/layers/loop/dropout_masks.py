"""The variational dropout masks of any cell, one for all steps of a batch."""

import keras
from keras import ops

from kerasrnn.layers.loop.cells import initial_state
from kerasrnn.layers.loop.cells import output_size
from kerasrnn.layers.loop.cells import shape_of


def draw_dropout_masks(cell, inputs):
    """Draws the variational masks of a cell, before its loop.

    Keras's cells draw a mask at their first step and keep it for the others.
    In a compiled loop that first draw would be part of the loop's body, and a
    cell inside another cell would keep its mask for all later batches. So
    masks are drawn here and discarded by `reset_dropout_masks`.

    Args:
        cell: A recurrent cell.
        inputs: Tensor of shape `(batch, input_dim)`, an input of one step.
    """
    batch_size = ops.shape(inputs)[0]
    for inner in _stacked_cells(cell):
        draw_dropout_masks(inner, inputs)
        shape = shape_of(output_size(inner), batch_size)
        inputs = ops.zeros(shape, inputs.dtype)
    if hasattr(cell, "get_dropout_mask"):
        first, *_ = keras.tree.flatten(initial_state(cell, batch_size))
        cell.get_dropout_mask(inputs)
        cell.get_recurrent_dropout_mask(first)


def reset_dropout_masks(cell):
    """Discards the masks that `draw_dropout_masks` drew."""
    for inner in _stacked_cells(cell):
        reset_dropout_masks(inner)
    if hasattr(cell, "reset_dropout_mask"):
        cell.reset_dropout_mask()
        cell.reset_recurrent_dropout_mask()


def _stacked_cells(cell):
    """The cells of a stack; each reads the output of the one before."""
    is_stack = isinstance(cell, keras.layers.StackedRNNCells)
    return cell.cells if is_stack else []


def dropout_masks(cell, inputs, states, training):
    """Returns the masks of a cell that defines its step, or of each of a stack.

    Args:
        cell: The cell, whose masks have been drawn.
        inputs: Tensor of shape `(batch, input_dim)`.
        states: Its states.
        training: Whether to apply dropout.
    """
    if type(cell) is keras.layers.StackedRNNCells:
        return [
            dropout_masks(inner, inputs, own, training)
            for inner, own in zip(cell.cells, states, strict=True)
        ]
    return cell.masks(inputs, keras.tree.flatten(states), training)
