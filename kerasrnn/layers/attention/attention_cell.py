"""A recurrent cell that attends to a memory."""

from typing import Any
from typing import Literal
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import one_of
from kerasrnn.arguments import optional_positive_integer
from kerasrnn.layers.attention.by_name import get_attention
from kerasrnn.layers.attention.mechanism import NO_ATTENTION
from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.layers.attention.mechanism import over_last
from kerasrnn.layers.loop import cells
from kerasrnn.layers.loop.products import of_the_loop
from kerasrnn.layers.precision import wide
from kerasrnn.layers.recurrent.recurrent_cell import defines_step
from kerasrnn.saving import Configured
from kerasrnn.saving import build_once
from kerasrnn.tensors import at_least_one
from kerasrnn.typing import Config
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class AttentionCell(Configured, keras.layers.Layer):
    """A recurrent cell that attends to a memory, such as encoder outputs.

    It adds attention to any `cell` with the state `s` and the output `h`, in
    one of two placements. Before the cell (Bahdanau et al. 2015), the query is
    the previous state, and the cell reads the context:

        c_t = attend(s_{t-1}, memory)
        h_t, s_t = cell([x_t; c_t], s_{t-1})                    output h_t
        or, with a readout,                     output maxout(W [h_t; x_t; c_t])

    where `maxout` takes the maximum of each pair of neighbours. After the cell
    (Luong et al. 2015), the query is the output of this step:

        h_t, s_t = cell(x_t, s_{t-1})      or, with input feeding,
        h_t, s_t = cell([x_t; h~_{t-1}], s_{t-1})
        c_t = attend(h_t, memory)
        h~_t = tanh(W_c [c_t; h_t])                             output h~_t

    With `attention=None` it is the cell alone, and all attention weights are 0.
    Such a decoder sees the source only through its initial states (Sutskever et
    al. 2014).

    With attention before the cell, the query is the cell's first state; in a
    stack, it is the first state of the last cell. The readout is the "deep
    output" of Bahdanau et al. Their appendix has `s_{t-1}` instead of `h_t`,
    but in their code that state has already read `x_t`, like `h_t` here.

    It needs a memory, so it is not a Keras cell. Run it with `AttentionRNN`.

    Args:
        cell: Any Keras recurrent cell, such as `keras.layers.GRUCell(256)`
            or `keras.layers.StackedRNNCells([...])`.
        attention: A mechanism of `kerasrnn.layers`, or its name: `"dot"`,
            `"scaled_dot"`, `"general"` or `"luong"`, `"scaled_luong"`,
            `"additive"`, `"bahdanau"` or `"concat"`, `"normed_bahdanau"`,
            `"multi_head"`, `"multi_scale"`, `"local_p"`, `"local_m"`,
            `"location"`, `"coverage"` or `"monotonic"`; `None` for no
            attention. A layer that another cell uses already is copied without
            its weights.
        placement: `"before"` or `"after"` the cell.
        units: Positive integer, width of `h~` or of the readout; `None` for the
            width of `h`.
        input_feeding: Whether the cell reads the `h~` of the previous step.
            Only for the placement after the cell.
        readout: Whether to output the readout instead of `h`. Only for the
            placement before the cell.
        kernel_initializer: Initializer of `W_c`, or of the readout's `W`.
        **kwargs: Base layer arguments, such as `name` and `dtype` (by
            default that of `cell`).

    Call arguments:
        inputs: Tensor of shape `(rows, input_dim)`. Each sentence of the memory
            has one or more adjacent rows, such as the hypotheses of a beam
            search.
        states: The previous states. For the first step, `get_initial_state`
            returns them.
        projected: The result of `project` for a memory of shape
            `(batch, positions, memory_dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, positions)`.
        training: Whether to behave as in training (dropout of `cell` and of
            the attention).
        noise: The result of `draw_noise` for this step; `None` to draw it here,
            which does not work inside a loop.

    Returns:
        A tuple `(output, states, weights)`: the output of shape
        `(rows, output_size)`, the new states, and the attention weights of
        shape `(rows, positions)`.

    Masking: a masked position of the memory has weight exactly 0 and no
    influence.

    Raises:
        ValueError: when `cell` is not a recurrent cell, `attention` or
            `placement` is unknown, `units` is not positive, or an option of
            the other placement is given.

    Example:

    >>> cell = AttentionCell(keras.layers.GRUCell(8), "general")
    >>> layer = AttentionRNN(cell)
    >>> layer(np.ones((2, 4, 3)), np.ones((2, 5, 6))).shape
    (2, 4, 8)

    References:
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473), with the
        readout in appendix A.2.2; [Luong et al.,
        2015](https://arxiv.org/abs/1508.04025), [Sutskever et al.,
        2014](https://arxiv.org/abs/1409.3215).
    """

    def __init__(
        self,
        cell: keras.layers.Layer,
        attention: AttentionMechanism | str | Config | None = "additive",
        placement: Literal["before", "after"] = "before",
        units: int | None = None,
        input_feeding: bool = False,
        readout: bool = False,
        kernel_initializer: Initializer = "glorot_uniform",
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        # Without autocast the states of the attention keep their dtypes.
        super().__init__(
            autocast=False, **cells.options_of(cell, "AttentionCell", kwargs)
        )
        units = optional_positive_integer("units", units)
        one_of("placement", placement, ("before", "after"))
        combines = placement == "after" and attention is not None
        if (
            (input_feeding and not combines)
            or (readout and (combines or attention is None))
            or (units is not None and not (combines or readout))
        ):
            raise ValueError(
                "`input_feeding` needs an attention with placement='after', "
                "`readout` needs one with placement='before', and `units` "
                "needs an attention with placement='after' or a readout. "
                f"Received: units={units}, input_feeding={input_feeding}, "
                f"readout={readout}, placement={placement!r}, "
                f"attention={attention!r}"
            )
        self.cell = cell
        self.attention = (
            None
            if attention is None
            else get_attention(
                attention, cells.output_size(cell), self.dtype_policy
            )
        )
        self.placement = placement
        self.units = units
        self.input_feeding = input_feeding
        self.readout = readout
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.output_size = cells.output_size(cell) if units is None else units

    @property
    def mechanism(self) -> Any:
        """The attention, or a mechanism that attends to nothing."""
        return NO_ATTENTION if self.attention is None else self.attention

    @property
    def loops_over_attention(self) -> bool:
        """Whether the attention must be computed inside the loop over time."""
        attends_before = (
            self.placement == "before" and self.attention is not None
        )
        return attends_before or self.input_feeding

    @property
    def query_dim(self) -> int:
        """Width of the query: of the first state, or of the output."""
        if self.placement == "before":
            return first_state(self.cell, cells.state_sizes(self.cell))
        return cells.output_size(self.cell)

    def build(self, inputs_shape: Shape, memory_shape: Shape) -> None:
        """Builds for a sequence `(..., dim)` and a memory `(..., dim)`."""
        output_size = cells.output_size(self.cell)
        if not (self.attention is None or self.attention.built):
            self.attention.build((None, None, self.query_dim), memory_shape)
        self.context_dim = self.mechanism.context_dim(memory_shape[-1])
        width = inputs_shape[-1]
        if self.placement == "before":
            width += self.context_dim
        elif self.input_feeding:
            width += self.output_size
        build_once(self.cell, (None, width))
        self.cell_input_size = width
        shape = None
        if self.readout:
            # [h; x; c] is h and the input of the cell.
            shape = (output_size + width, 2 * self.output_size)
        elif self.attention is not None and self.placement == "after":
            shape = (self.context_dim + output_size, self.output_size)
        if shape is not None:
            self.kernel = self.add_weight(
                shape=shape, initializer=self.kernel_initializer, name="kernel"
            )

    def project(
        self, memory: Tensor, memory_mask: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        """Prepares a memory `(batch, positions, dim)` once for all steps."""
        return self.mechanism.project(memory, memory_mask)

    def attend(
        self,
        query: Tensor,
        projected: tuple[Tensor, ...],
        memory_mask: Tensor | None = None,
        state: Tensor = (),
        training: bool = False,
        noise: dict[str, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Attends with one query per row, `(rows, query_dim)`.

        Arguments and results are those of `AttentionMechanism.attend` without
        the axis of queries. The rows of a sentence, such as the hypotheses of a
        beam search, are adjacent. They share its memory, which is not repeated
        for them.
        """
        rows, batch_size = ops.shape(query)[0], ops.shape(projected[0])[0]
        # In a loop over time, there is one row for each memory.
        count = 1 if of_the_loop() else rows // at_least_one(batch_size)
        # A loop carries its states in float32.
        query, state, noise = keras.tree.map_structure(
            lambda x: x if x is None else _reshape(x, (batch_size, count), 1),
            (ops.cast(query, self.compute_dtype), state, noise),
        )
        found = self.mechanism.attend(
            query, projected, memory_mask, state, training, noise
        )
        return keras.tree.map_structure(
            lambda x: _reshape(x, (rows,), 2), found
        )

    def combine(self, context: Tensor, output: Tensor) -> Tensor:
        """Returns `h~ = tanh(W_c [c; h])`, for any leading axes."""
        if self.attention is None:
            return output
        joined = ops.concatenate([context, output], axis=-1)
        return ops.tanh(over_last(self.kernel, joined))

    def read_out(
        self, output: Tensor, inputs: Tensor, context: Tensor
    ) -> Tensor:
        """Returns `maxout(W [h; x; c])`, for any leading axes."""
        joined = ops.concatenate([output, inputs, context], axis=-1)
        found = over_last(self.kernel, joined)
        pairs = ops.reshape(
            found, (*ops.shape(found)[:-1], self.output_size, 2)
        )
        return ops.maximum(pairs[..., 0], pairs[..., 1])

    # The projected memory, a tuple, cannot be named `memory`: Keras would take
    # `memory_mask` from such an argument, which must be a tensor.
    def call(
        self,
        inputs: Tensor,
        states: States,
        projected: tuple[Tensor, ...],
        memory_mask: Tensor | None = None,
        training: bool = False,
        noise: dict[str, Tensor] | None = None,
    ) -> tuple[Tensor, States, Tensor]:
        inputs = ops.cast(inputs, self.compute_dtype)
        output, context, states, weights = self.step(
            inputs, states, projected, memory_mask, training, noise
        )
        if self.readout:
            output = self.read_out(output, inputs, context)
        return output, states, weights

    def step(
        self,
        inputs: Tensor,
        states: States,
        projected: tuple[Tensor, ...],
        memory_mask: Tensor | None,
        training: bool,
        noise: dict[str, Tensor] | None,
    ) -> tuple[Tensor, Tensor, States, Tensor]:
        """Computes one step like `call`, but without the readout.

        Returns:
            The output, the context, the new states, and the weights.
        """
        fed, state, own = self.unpack(states)
        if self.placement == "before":
            query = first_state(self.cell, own)
            context, weights, state = self.attend(
                query, projected, memory_mask, state, training, noise
            )
            inputs = ops.concatenate([inputs, context], axis=-1)
            output, own = cells.step(self.cell, inputs, own, training)
        else:
            inputs = ops.concatenate([inputs, *fed], axis=-1)
            output, own = cells.step(self.cell, inputs, own, training)
            context, weights, state = self.attend(
                output, projected, memory_mask, state, training, noise
            )
            output = self.combine(context, output)
        fed = [output] if self.input_feeding else []
        return output, context, self.pack(fed, state, own), weights

    def get_initial_state(
        self,
        batch_size: int | Tensor | None = None,
        projected: Any = None,
        states: States | None = None,
    ) -> States:
        """Returns the initial states.

        Args:
            batch_size: Number of rows, by default that of `projected`.
            projected: The result of `project` for the memory. Required if the
                attention has a state.
            states: States to use instead: all states, or those of `cell` alone.
        """
        fed = []
        if batch_size is None and projected is not None:
            batch_size = ops.shape(projected[1])[0]
        if self.input_feeding:
            fed = [
                ops.zeros((batch_size, self.output_size), self.compute_dtype)
            ]
        state = self.mechanism.initial_state(batch_size, projected)
        own = cells.initial_state(self.cell, batch_size)
        if _all_define_steps(self.cell):
            # If it were rounded in each step, a state that moves little would
            # not move.
            own = keras.tree.map_structure(wide, own)
        first = self.pack(fed, state, own)
        return first if states is None else _replaced(first, own, states)

    def unpack(self, states: States) -> tuple[list[Tensor], Tensor, States]:
        """Splits states into `[h~]` or `[]`, the attention's and the cell's."""
        is_stateful = self.mechanism.stateful
        if not self.input_feeding and not is_stateful:
            return [], (), states
        *first, own = states
        return (
            first[: int(self.input_feeding)],
            first[-1] if is_stateful else (),
            own,
        )

    def pack(self, fed: list[Tensor], state: Tensor, own: States) -> States:
        """Joins the states in one list, which `unpack` splits."""
        first = [*fed, *keras.tree.flatten(state)]
        return [*first, own] if first else own


def first_state(cell, states):
    """Returns the first state of a cell, or of the last cell of a stack."""
    if hasattr(cell, "cells"):
        return first_state(cell.cells[-1], states[-1])
    return keras.tree.flatten(states)[0]


def _all_define_steps(cell):
    """Whether a cell, or each cell of a stack, is a `RecurrentCell`."""
    if type(cell) is keras.layers.StackedRNNCells:
        return all(map(_all_define_steps, cell.cells))
    return defines_step(cell)


def _replaced(first, own, states):
    """Replaces the last of the initial states by given ones."""
    given, flat = keras.tree.flatten(states), keras.tree.flatten(first)
    sizes = len(keras.tree.flatten(own)), len(flat)
    if len(given) not in sizes:
        raise ValueError(
            "The initial states must be all states of the AttentionCell, or "
            "those of its inner cell. Expected: "
            f"{' or '.join(map(str, sorted(set(sizes))))} tensors. Received: "
            f"{len(given)}."
        )
    start = len(flat) - len(given)
    flat[start:] = [
        ops.cast(state, like.dtype)
        for state, like in zip(given, flat[start:], strict=True)
    ]
    return keras.tree.pack_sequence_as(first, flat)


def _reshape(x, shape, axes):
    """Reshapes the first `axes` axes of a tensor to `shape`."""
    return ops.reshape(x, (*shape, *ops.shape(x)[axes:]))
