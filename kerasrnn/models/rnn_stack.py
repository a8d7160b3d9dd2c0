"""Stacked recurrent layers in one or both directions."""

from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import check_not_ragged
from kerasrnn.arguments import positive_integer
from kerasrnn.arguments import rate
from kerasrnn.layers import FastRNN
from kerasrnn.layers.loop import cells
from kerasrnn.layers.loop.cells import clone_cell
from kerasrnn.layers.quantization import KeepsQuantization
from kerasrnn.saving import Configured
from kerasrnn.saving import build_once
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class RNNStack(Configured, KeepsQuantization):
    """Runs recurrent layers one after another over a sequence.

    Args:
        cell: A recurrent cell. It is a template: every layer and direction runs
            a copy of it. If it has seeds, copies get different ones.
        depth: Positive integer, number of layers.
        bidirectional: Whether every layer reads in both directions, with the
            outputs concatenated.
        go_backwards: Whether unidirectional layers read from the last step to
            the first. The outputs keep the order of the sequence.
        dropout: Dropout rate after each layer.
        variational: Whether dropout uses one mask for all steps, and also
            applies to the input of the first layer.
        seed_path: What distinguishes this stack from others in the same model
            whose cells have the same seed.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        sequence: Tensor of shape `(batch, time, dim)`.
        mask: Optional boolean tensor of shape `(batch, time)`.
        initial_state: Optional flat list of states, like the returned one.
        training: Whether to behave as in training (dropout).

    Returns:
        The outputs of shape `(batch, time, output_size)`, and the flat list of
        the final states: layer by layer, forward before backward.

    Masking: a masked step does not change the states.

    Raises:
        ValueError: when `cell` is not a recurrent cell, `depth` is not
            positive, `dropout` is not in `[0, 1)`, or `bidirectional` and
            `go_backwards` are both true, or when the number of initial states
            is wrong.

    Example:

    >>> stack = RNNStack(FastGRUCell(8), depth=2, bidirectional=True)
    >>> outputs, states = stack(np.ones((2, 5, 3)))
    >>> outputs.shape, [state.shape for state in states]
    ((2, 5, 16), [(2, 8), (2, 8), (2, 8), (2, 8)])
    """

    def __init__(
        self,
        cell: keras.layers.Layer,
        depth: int = 1,
        bidirectional: bool = False,
        go_backwards: bool = False,
        dropout: float = 0.0,
        variational: bool = False,
        seed_path: str = "",
        **kwargs: Any,
    ) -> None:
        kwargs["autocast"] = False  # States must not be rounded.
        super().__init__(**cells.options_of(cell, "RNNStack", kwargs))
        if bidirectional and go_backwards:
            raise ValueError(
                "A bidirectional stack already reads backwards, too. Expected: "
                "`go_backwards=False` or `bidirectional=False`. Received: "
                f"bidirectional={bidirectional}, go_backwards={go_backwards}"
            )
        self.supports_masking = True
        self.depth = positive_integer("depth", depth)
        self.bidirectional = bidirectional
        self.go_backwards = go_backwards
        self.dropout = rate("dropout", dropout)
        self.variational = variational
        self.seed_path = seed_path
        kind = (
            keras.layers.SpatialDropout1D
            if variational
            else keras.layers.Dropout
        )
        self.dropouts = [
            kind(dropout, dtype=self.dtype_policy)
            for _ in range(self.depth + variational)
        ]
        # Not `keras.layers.Bidirectional`, which may mix up the layers of a
        # deep stack when it is loaded.
        self.forward_rnns = [
            self._new_rnn(cell, layer, go_backwards)
            for layer in range(self.depth)
        ]
        self.backward_rnns = [
            self._new_rnn(cell, self.depth + layer, go_backwards=True)
            for layer in range(self.depth if bidirectional else 0)
        ]

    def _new_rnn(self, cell, index, go_backwards):
        """Returns a layer that runs a copy of a cell in one direction."""
        path = [self.seed_path, index] if self.seed_path else [index]
        return FastRNN(
            clone_cell(cell, *path),
            return_sequences=True,
            return_state=True,
            go_backwards=go_backwards,
        )

    @property
    def cell(self) -> keras.layers.Layer:
        """The cell of the first layer."""
        return self.forward_rnns[0].cell

    @property
    def rnns(self) -> list[FastRNN]:
        """All recurrent layers, in the order of their states."""
        if not self.bidirectional:
            return list(self.forward_rnns)
        return [
            rnn
            for pair in zip(self.forward_rnns, self.backward_rnns, strict=True)
            for rnn in pair
        ]

    @property
    def output_size(self) -> int:
        """Width of the outputs."""
        return cells.output_size(self.cell) * (2 if self.bidirectional else 1)

    @property
    def state_sizes(self) -> list[int]:
        """Widths of the states of all layers, as a flat list."""
        return len(self.rnns) * cells.flat_state_sizes(self.cell)

    def initial_states(self, batch_size: int | Tensor) -> States:
        """Returns the states that a sequence starts from, as a flat list."""
        return [
            ops.cast(state, self.variable_dtype)
            for rnn in self.rnns
            for state in keras.tree.flatten(
                cells.initial_state(rnn.cell, batch_size)
            )
        ]

    def build(self, sequence_shape: Shape) -> None:
        width = sequence_shape[-1]
        step = 2 if self.bidirectional else 1
        for position, rnn in enumerate(self.rnns):
            build_once(rnn, (None, None, width))
            if position % step == step - 1:
                width = self.output_size

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> None:
        """Passes on no mask, because the caller of the stack has it."""

    def call(
        self,
        sequence: Tensor,
        mask: Tensor | None = None,
        initial_state: States | None = None,
        training: bool = False,
    ) -> tuple[Tensor, States]:
        check_not_ragged(sequence)
        x = ops.cast(sequence, self.compute_dtype)
        dropouts = list(self.dropouts)
        if self.variational:
            x = dropouts.pop(0)(x, training=training)
        states = initial_state or self.initial_states(ops.shape(x)[0])
        expected = len(self.state_sizes)
        if len(states) != expected:
            raise ValueError(
                "`initial_state` must have all states of all layers, like the "
                f"returned list. Expected: {expected} tensors. Received: "
                f"{len(states)}"
            )
        before, after = iter(states), []

        def run(rnn):
            own = [next(before) for _ in cells.flat_state_sizes(rnn.cell)]
            y, states = rnn.carry_on(x, own, mask, training)
            after.extend(keras.tree.flatten(states))
            return ops.flip(y, axis=1) if rnn.go_backwards else y

        rnns = iter(self.rnns)
        for dropout in dropouts:
            parts = [run(next(rnns)) for _ in range(1 + self.bidirectional)]
            x = parts[0] if len(parts) == 1 else ops.concatenate(parts, -1)
            x = dropout(x, training=training)
        return x, after


class HasStack:
    """Base of models and layers whose recurrent layers are a `stack`."""

    stack: RNNStack

    @property
    def cell(self) -> keras.layers.Layer:
        """The cell of the first layer."""
        return self.stack.cell

    @property
    def depth(self) -> int:
        """The number of recurrent layers."""
        return self.stack.depth
