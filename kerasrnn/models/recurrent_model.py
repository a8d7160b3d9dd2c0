"""The base of models whose recurrent states can be carried on."""

import keras
from keras import ops

from kerasrnn.layers.loop import cells
from kerasrnn.models.model import Model
from kerasrnn.models.rnn_stack import RNNStack
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


class RecurrentModel(Model):
    """Base of models that are recurrent layers between an input and an output.

    A subclass calls `add_rnns` in its constructor, `build_rnns` when it is
    built and `run_rnns` in its method `run`.
    """

    def add_rnns(
        self, cell: keras.layers.Layer, depth: int, dropout: float
    ) -> None:
        """Creates the recurrent layers; see `RNNStack` for the arguments."""
        cells.check_cell(cell, type(self).__name__)
        cells.check_vectors(cell, type(self).__name__)
        self.stack = RNNStack(
            cell,
            depth,
            dropout=dropout,
            variational=True,
            dtype=self.dtype_policy,
            name="stack",
        )
        self.depth, self.dropout = self.stack.depth, self.stack.dropout

    def build_rnns(self, width: int) -> int:
        """Builds the layers for an input of a width; returns the output's."""
        self.stack.build((None, None, width))
        return self.stack.output_size

    @property
    def cell(self) -> keras.layers.Layer:
        """The cell of the first layer."""
        return self.stack.cell

    @property
    def state_sizes(self) -> list[int]:
        """Widths of the states of all layers, as a flat list."""
        return self.stack.state_sizes

    def initial_states(self, batch_size: int) -> States:
        """Returns the states that a sequence starts from, as a flat list."""
        return self.stack.initial_states(batch_size)

    def run_rnns(
        self, x: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        """Runs the recurrent layers, starting from given states.

        Args:
            x: Tensor of shape `(batch, time, width)`.
            states: List of tensors of shape `(batch, size)`.
            training: Whether to behave as in training (dropout).

        Returns:
            The outputs of shape `(batch, time, output_size)`, and the states
            after the last step.
        """
        x, states = self.stack(x, initial_state=states, training=training)
        # A graph that loops over windows needs their static widths.
        return x, [
            ops.reshape(ops.cast(state, self.variable_dtype), (-1, size))
            for state, size in zip(states, self.state_sizes, strict=True)
        ]
