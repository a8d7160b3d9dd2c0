"""The base of models whose recurrent states can be carried on."""

import keras
from keras import ops

from kerasrnn.layers import FastRNN
from kerasrnn.layers.arguments import positive_integer
from kerasrnn.layers.arguments import rate
from kerasrnn.layers.quantization import QuantizableModel
from kerasrnn.layers.recurrent import cells
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


class RecurrentModel(QuantizableModel):
    """Base of models that are recurrent layers between an input and an output.

    A subclass calls `add_rnns` in its constructor and `run_rnns` in its
    method `run`.
    """

    def add_rnns(
        self, cell: keras.layers.Layer, depth: int, dropout: float
    ) -> None:
        """Creates the recurrent layers, and a dropout before and after each.

        Args:
            cell: A recurrent cell; every layer runs a fresh copy of it.
            depth: Positive integer, number of layers.
            dropout: Rate of the variational dropout.

        Raises:
            ValueError: when `depth` is not positive, `dropout` not in
                `[0, 1)`, or `cell` is no recurrent cell.
        """
        cells.check_cell(cell, type(self).__name__)
        self.depth = positive_integer("depth", depth)
        self.dropout = rate("dropout", dropout)
        self.rnns = [
            FastRNN(
                cells.clone_cell(cell, layer),
                return_sequences=True,
                return_state=True,
            )
            for layer in range(self.depth)
        ]
        self.variational_dropouts = [
            keras.layers.SpatialDropout1D(dropout, dtype=self.dtype_policy)
            for _ in range(self.depth + 1)
        ]

    def build_rnns(self, width: int) -> int:
        """Builds the layers for an input of a width; returns the output's."""
        for rnn in self.rnns:
            rnn.build((None, None, width))
            width = self.cell.output_size
        return width

    @property
    def cell(self) -> keras.layers.Layer:
        """The cell of the first layer."""
        return self.rnns[0].cell

    @property
    def state_sizes(self) -> list[int]:
        """Widths of the states of all layers, as a flat list."""
        return self.depth * cells.flat_state_sizes(self.cell)

    def initial_states(self, batch_size: int) -> States:
        """Returns the states that a sequence starts from, as a flat list."""
        return [
            ops.cast(state, self.variable_dtype)
            for rnn in self.rnns
            for state in keras.tree.flatten(
                cells.initial_state(rnn.cell, batch_size)
            )
        ]

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
        first, *others = self.variational_dropouts
        x = first(x, training=training)
        states, new_states = list(states), []
        for rnn, dropout in zip(self.rnns, others, strict=True):
            sizes = cells.state_sizes(rnn.cell)
            count = len(keras.tree.flatten(sizes))
            before, states = states[:count], states[count:]
            before = keras.tree.pack_sequence_as(sizes, before)
            x, *after = rnn(x, initial_state=before, training=training)
            new_states += keras.tree.flatten(after)
            x = dropout(x, training=training)
        # A graph that loops over windows needs their static widths.
        return x, [
            ops.reshape(ops.cast(state, self.variable_dtype), (-1, size))
            for state, size in zip(new_states, self.state_sizes, strict=True)
        ]
