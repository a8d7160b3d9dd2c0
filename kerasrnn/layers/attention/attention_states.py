"""The states of an `AttentionCell`, of three kinds in one list."""

from typing import Any

import keras
from keras import ops

from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.layers.loop import cells
from kerasrnn.layers.precision import wide
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


class AttentionStates:
    """The part of `AttentionCell` that orders its states.

    These are `h~` (with input feeding), the state of the attention (if it has
    one), and the states of `cell`, in this order.
    """

    cell: keras.layers.Layer
    attention: AttentionMechanism | None
    input_feeding: bool
    output_size: int
    compute_dtype: str

    def get_initial_state(
        self,
        batch_size: int | Tensor | None = None,
        projected: Any = None,
        states: States | None = None,
    ) -> States:
        """Returns the initial states.

        Args:
            batch_size: Number of rows, by default those of `projected`.
            projected: What `project` returned for the memory. Required if the
                attention has a state.
            states: States to use instead: all of them, or those of `cell`
                alone.
        """
        fed, state = [], ()
        if batch_size is None and projected is not None:
            batch_size = ops.shape(projected[1])[0]
        if self.input_feeding:
            shape = (batch_size, self.output_size)
            fed = [ops.zeros(shape, self.compute_dtype)]
        if self.attention is not None:
            state = self.attention.initial_state(batch_size, projected)
        own = cells.initial_state(self.cell, batch_size)
        if cells.defines_step(self.cell):
            # Rounded in each step, a state that moves little would not move.
            own = keras.tree.map_structure(wide, own)
        first = self.pack(fed, state, own)
        return first if states is None else _replaced(first, own, states)

    def unpack(self, states: States) -> tuple[list[Tensor], Tensor, States]:
        """Returns `[h~]` or `[]`, the attention's state, the cell's states."""
        is_stateful = self.attention is not None and self.attention.stateful
        if not self.input_feeding and not is_stateful:
            return [], (), states
        *first, own = states
        return (
            first[: int(self.input_feeding)],
            first[-1] if is_stateful else (),
            own,
        )

    def pack(self, fed: list[Tensor], state: Tensor, own: States) -> States:
        """Returns the states as one list, which `unpack` takes apart."""
        first = [*fed, *keras.tree.flatten(state)]
        return [*first, own] if first else own


def first_state(cell, states):
    """Returns the first state of a cell, or of the last cell of a stack."""
    if hasattr(cell, "cells"):
        return first_state(cell.cells[-1], states[-1])
    return keras.tree.flatten(states)[0]


def _replaced(first, own, states):
    """Returns the initial states, the last of them replaced by given ones."""
    given, flat = keras.tree.flatten(states), keras.tree.flatten(first)
    sizes = len(keras.tree.flatten(own)), len(flat)
    if len(given) not in sizes:
        raise ValueError(
            "The initial states must be all states of the AttentionCell, or "
            "those of the cell inside it. Expected: "
            f"{' or '.join(map(str, sorted(set(sizes))))} tensors. "
            f"Received: {len(given)}."
        )
    start = len(flat) - len(given)
    flat[start:] = [
        ops.cast(state, like.dtype)
        for state, like in zip(given, flat[start:], strict=True)
    ]
    return keras.tree.pack_sequence_as(first, flat)
