"""A recurrent cell that attends to its own past."""

from typing import Literal
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import instance
from kerasrnn.arguments import positive_integer
from kerasrnn.layers.attention.attention_cell import AttentionCell
from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.layers.attention.window_cell import WindowCell
from kerasrnn.layers.attention.window_cell import attend_to_windows
from kerasrnn.layers.loop import cells
from kerasrnn.layers.recurrent.fast_rnn import FastRNN
from kerasrnn.saving import Configured
from kerasrnn.typing import Config
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class SelfAttentionCell(Configured, WindowCell):
    """A recurrent cell that attends to its own recent outputs.

    It adds attention to any `cell` with the state `s` and the output `h`. After
    the cell:

        h_t, s_t = cell(x_t, s_{t-1})
        c_t = attend(h_t, [h_{t-window} ... h_{t-1}])
        h~_t = tanh(W_c [c_t; h_t])                             output h~_t

    Before the cell:

        c_t = attend(h_{t-1}, [h_{t-window} ... h_{t-1}])
        h_t, s_t = cell([x_t; c_t], s_{t-1})                    output h_t

    The window is part of the state, so the cell is causal by construction and
    works in `stateful` layers. The first step has nothing to attend to, and its
    context is 0. Keys and values are projected once for each output.

    Args:
        cell: Any Keras recurrent cell, such as `GAMRHNCell(...)`.
        attention: A mechanism of `kerasrnn.layers` without dropout, or its
            name: `"dot"`, `"scaled_dot"`, `"general"`, `"additive"`,
            `"multi_head"` or `"multi_scale"`.
        window: Positive integer, number of recent outputs to attend to.
        placement: `"after"` or `"before"` the cell.
        units: Positive integer, width of `h~`; `None` for the width of `h`.
            Only for the placement after the cell.
        kernel_initializer: Initializer of `W_c`.
        **kwargs: Base layer arguments, such as `name` and `dtype` (by
            default that of `cell`).

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: The previous states, structured like those of
            `get_initial_state`: the output, the states of `cell`, the window's
            keys and values, and flags of its filled positions, each of shape
            `(batch, size)`.
        training: Whether to behave as in training (dropout of `cell`).

    Returns:
        The output of shape `(batch, output_size)`, and the new states.

    Masking: `keras.layers.RNN` skips masked steps, which do not enter the
    window either.

    Raises:
        ValueError: when `cell` is not a recurrent cell, `attention` or
            `placement` is unknown, `attention` needs the whole memory or has
            dropout, `window` or `units` is not a positive integer, or `units`
            is given for the placement before the cell.

    Example:

    >>> cell = SelfAttentionCell(keras.layers.GRUCell(8), "general", window=3)
    >>> keras.layers.RNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    References:
        The placements are from [Bahdanau et al.,
        2015](https://arxiv.org/abs/1409.0473) and [Luong et al.,
        2015](https://arxiv.org/abs/1508.04025); attention to a window of a
        language model's own outputs is from [Daniluk et al.,
        2017](https://arxiv.org/abs/1702.04521).
    """

    def __init__(
        self,
        cell: keras.layers.Layer,
        attention: AttentionMechanism | str | Config = "additive",
        window: int = 32,
        placement: Literal["before", "after"] = "after",
        units: int | None = None,
        kernel_initializer: Initializer = "glorot_uniform",
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**cells.options_of(cell, "SelfAttentionCell", kwargs))
        self.window = positive_integer("window", window)
        self.attending = _OutputAttentionCell(
            cell,
            attention,
            placement,
            units,
            kernel_initializer=kernel_initializer,
            dtype=self.dtype_policy,
        )
        found = self.attending.attention
        if found is None or not found.positionwise or found.dropout:
            raise ValueError(
                "SelfAttentionCell attends to a sliding window, so `attention` "
                "must score each position independently, such as "
                "`GeneralAttention()`, and have no dropout. Received: "
                f"attention={found!r}"
            )
        self.add_cell(cell)
        self.attention = found
        self.placement = placement
        self.units = self.attending.units
        self.kernel_initializer = self.attending.kernel_initializer
        self.output_size = self.attending.output_size

    @property
    def cache_shapes(self) -> list[Shape]:
        width = cells.output_size(self.cell)
        return [
            (*shape[:-1], self.window, shape[-1])
            for shape in self.attention.projected_shapes(width, width)
        ]

    def build(self, input_shape: Shape) -> None:
        if not self.attending.built:
            self.attending.build(
                input_shape, (None, None, cells.output_size(self.cell))
            )
        self.cell_input_size = self.attending.cell_input_size
        self._rnn.build((None, *input_shape))

    def call(
        self, inputs: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        output, inner, cache = self.unpack(states)
        if self.placement == "before":
            context = self._context(output, cache)
            inputs = ops.concatenate([inputs, context], axis=-1)
        hidden, inner = cells.step(self.cell, inputs, inner, training)
        output = hidden
        if self.placement == "after":
            context = self._context(hidden, cache)
            output = self.attending.combine(context, hidden)
        cache = self.extended(cache, ops.expand_dims(hidden, 1))
        return output, self.pack(output, inner, [x[..., 1:, :] for x in cache])

    @property
    def slow_because(self) -> str | None:
        if self.placement == "after":
            return None
        return "with attention before the cell, a step needs the previous one"

    def project(self, hidden: Tensor) -> list[Tensor]:
        """Returns the keys and values of the cell's outputs."""
        return [*self.attention.project(hidden)]

    def attend(
        self, hidden: Tensor, cache: list[Tensor], training: bool = False
    ) -> Tensor:
        """Returns the outputs of all steps, after the cell."""
        context = attend_to_windows(self.attention, hidden, cache, self.window)
        return self.attending.combine(context, hidden)

    def _context(self, query, cache):
        """Returns the context of one query per row, `(batch, query_dim)`."""
        keys, values, filled = cache
        context, *_ = self.attention.attend(
            ops.expand_dims(query, 1), (keys, values), filled[..., 0] > 0.5
        )
        return ops.squeeze(context, 1)


class _OutputAttentionCell(AttentionCell):
    """An `AttentionCell` whose query is an output in both placements."""

    @property
    def query_dim(self):
        return cells.output_size(self.cell)


@keras.saving.register_keras_serializable("kerasrnn")
class SelfAttentionRNN(FastRNN):
    """Runs a `SelfAttentionCell` over a sequence, faster than `RNN`.

    The results are those of `keras.layers.RNN`. With attention after the cell,
    the cell does not depend on it. So the cell runs first, as in `FastRNN`, and
    then all steps attend at once. With attention before the cell, or with
    `unroll`, both run in the loop of `keras.layers.RNN`.

    Args:
        cell: A `SelfAttentionCell`.
        return_sequences: Whether to return the outputs of all steps, not only
            the last.
        return_state: Whether to return the last states as well.
        go_backwards: Whether to read from the last step to the first.
        stateful: Whether each batch starts from the final states of the
            previous one.
        unroll: Whether to unroll the loop.
        zero_output_for_mask: Whether the output of a masked step is 0 instead
            of the previous output.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.

    Call arguments:
        sequences: Tensor of shape `(batch, time, input_dim)`.
        initial_state: Optional list of the states of the cell.
        mask: Optional boolean tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout of the cell).

    Returns:
        The outputs of shape `(batch, time, output_size)` with
        `return_sequences`, otherwise the last one, `(batch, output_size)`;
        with `return_state` followed by the last states.

    Masking: a masked step keeps the states, so it does not enter the window. It
    repeats the previous output, or returns 0 with `zero_output_for_mask`.

    Raises:
        ValueError: when `cell` is not a `SelfAttentionCell`.

    Example:

    >>> cell = SelfAttentionCell(GAMRHNCell(8, 2, 6, 3, 4), "dot", window=3)
    >>> SelfAttentionRNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Daniluk et al., 2017](https://arxiv.org/abs/1702.04521).
    """

    def __init__(
        self,
        cell: SelfAttentionCell,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        zero_output_for_mask: bool = False,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        instance("cell", cell, SelfAttentionCell)
        super().__init__(
            cell,
            return_sequences,
            return_state,
            go_backwards,
            stateful,
            unroll,
            zero_output_for_mask,
            **kwargs,
        )
