"""The variational dropout of recurrent cells."""

from typing import Any

from keras import ops

from kerasrnn.layers.loop.dropout_masks import draw_dropout_masks
from kerasrnn.layers.loop.dropout_masks import reset_dropout_masks
from kerasrnn.layers.precision import wide
from kerasrnn.layers.recurrent._keras import DropoutRNNCell
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


class CellDropout(DropoutRNNCell):
    """The part of `RecurrentCell` that drops inputs and states.

    Keras's loop draws and resets the masks, by the methods of the base class.
    """

    dropout: float
    recurrent_dropout: float

    def drop_input(
        self, inputs: Tensor, training: bool = False
    ) -> Tensor | list[Tensor]:
        """Applies dropout to the input, with the same mask at every step.

        Returns a list, if the gates have masks of their own.
        """
        return dropped(inputs, self.masks(inputs, [], training)[0])

    def masks(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Returns the dropout masks of input and state, for all steps.

        Args:
            inputs: Tensor of shape `(batch, input_dim)` or
                `(time, batch, input_dim)`.
            states: List of tensors `(batch, width)`; none for the masks of the
                input alone.
            training: Whether to apply dropout.

        Returns:
            Two lists: of one mask, of one for each gate, or of none.
        """
        found: tuple[list[Tensor], list[Tensor]] = ([], [])
        if training and self.dropout:
            step = inputs if len(inputs.shape) == 2 else inputs[0]
            found[0][:] = _listed(self.get_dropout_mask(step))
        if training and self.recurrent_dropout and states:
            masks = _listed(self.get_recurrent_dropout_mask(states[0]))
            # As wide as the states and gradients that they multiply.
            found[1][:] = map(wide, masks)
        return found


class ForwardsDropoutMasks(DropoutRNNCell):
    """Base of cells around another one, which applies the dropout.

    `keras.layers.RNN` draws and resets dropout masks with these four methods of
    the cell that it runs, not of the cell inside.
    """

    dropout = recurrent_dropout = 0.0
    cell: Any

    def first_input(self, step_input: Tensor) -> Tensor:
        """Returns a tensor like the input of a step of the cell inside."""
        return step_input

    def get_dropout_mask(self, step_input: Tensor) -> None:
        if self.cell is not None:
            draw_dropout_masks(self.cell, self.first_input(step_input))

    def get_recurrent_dropout_mask(self, step_input: Tensor) -> None:
        pass

    def reset_dropout_mask(self) -> None:
        if self.cell is not None:
            reset_dropout_masks(self.cell)

    def reset_recurrent_dropout_mask(self) -> None:
        pass


def _listed(masks):
    """Returns a list of masks; Keras returns a single one as it is."""
    return masks if isinstance(masks, list) else [masks]


def dropped(inputs, masks):
    """Returns the inputs after dropout, for each mask, if there are several."""
    found = [inputs * ops.cast(mask, inputs.dtype) for mask in masks]
    return found if len(found) > 1 else (found or [inputs])[0]
