"""A recurrent cell that attends to its own past, and the layer that runs it."""

import math

import keras
from keras import ops

from kerasrnn.layers import cells
from kerasrnn.layers._keras import DropoutRNNCell
from kerasrnn.layers.arguments import positive_integer
from kerasrnn.layers.attention_cell import AttentionCell
from kerasrnn.layers.attention_cell import get_attention


@keras.saving.register_keras_serializable("kerasrnn")
class SelfAttentionCell(DropoutRNNCell, keras.layers.Layer):
    """A recurrent cell that attends to its own last outputs.

    Around any `cell`, with `s` its state and `h` its output. After the cell:

        h_t, s_t = cell(x_t, s_{t-1})
        c_t = attend(h_t, [h_{t-window} ... h_{t-1}])
        h~_t = tanh(W_c [c_t; h_t])                             output h~_t

    Before the cell:

        c_t = attend(h_{t-1}, [h_{t-window} ... h_{t-1}])
        h_t, s_t = cell([x_t; c_t], s_{t-1})                    output h_t

    What it attends to travels in its state, so it is causal by construction
    and may be `stateful`; the first step has nothing to attend to, and a
    context of 0. Keys and values are projected once for each output.

    Args:
        cell: Any Keras recurrent cell, such as `GAMRHNCell(...)`.
        attention: A mechanism of `kerasrnn.layers`, or its name: `"dot"`,
            `"scaled_dot"`, `"general"`, `"additive"` or `"multi_head"`.
        window: Positive integer, how many of the last outputs it attends to.
        placement: `"after"` or `"before"` the cell.
        units: Positive integer, width of `h~`; `None` for the width of `h`.
            For the placement after the cell.
        kernel_initializer: Initializer of `W_c`.
        **kwargs: Base layer arguments, such as `name` and `dtype`, which is
            that of `cell` unless given.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: The states of the step before; `get_initial_state` gives the
            first ones: the output, the states of `cell`, the window's keys
            and values, and which of its places are filled, each of shape
            `(batch, size)`.
        training: Whether to behave as in training (dropout of `cell`).

    Returns:
        The output of shape `(batch, output_size)`, and the new states.

    Masking: `keras.layers.RNN` skips masked steps, which are then no part of
    the window either.

    Raises:
        ValueError: when `cell` is no recurrent cell, `attention` or
            `placement` is unknown, `window` or `units` is not positive, or
            `units` is given before the cell.

    Example:

    >>> cell = SelfAttentionCell(keras.layers.GRUCell(8), "general", window=3)
    >>> keras.layers.RNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    References:
        The placements are those of
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473) and
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025); attention to
        a window of a language model's own outputs is that of
        [Daniluk et al., 2017](https://arxiv.org/abs/1702.04521).
    """

    dropout = recurrent_dropout = 0.0  # The cell inside has its own.

    def __init__(
        self,
        cell,
        attention="additive",
        window=32,
        placement="after",
        units=None,
        kernel_initializer="glorot_uniform",
        **kwargs,
    ):
        kwargs.setdefault("dtype", cells.policy(cell))
        super().__init__(**kwargs)
        cells.check_cell(cell, "SelfAttentionCell")
        self.window = positive_integer("window", window)
        self.attending = AttentionCell(
            cell,
            get_attention(attention, cell.output_size, self.dtype_policy),
            placement,
            units,
            kernel_initializer=kernel_initializer,
            dtype=self.dtype_policy,
        )
        self.cell = cell
        self.attention = self.attending.attention
        self.output_size = self.attending.output_size

    @property
    def _history_shapes(self):
        """Shapes of keys and values, without the batch."""
        width = self.cell.output_size
        return [
            (*shape[:-1], self.window, shape[-1])
            for shape in self.attention.projected_shapes(width, width)
        ]

    @property
    def state_size(self):
        return [
            self.output_size,
            *keras.tree.flatten(self.cell.state_size),
            *map(math.prod, self._history_shapes),
            self.window,
        ]

    @property
    def clocks(self):
        """Which of the states, as a flat list, only count steps."""
        return [False, *cells.clocks(self.cell), False, False, False]

    def get_initial_state(self, batch_size=None):
        """Returns the states to start from: of the cell its own, or zeros."""
        inner = keras.tree.flatten(cells.initial_state(self.cell, batch_size))
        zeros = [
            ops.zeros((batch_size, size), self.compute_dtype)
            for size in self.state_size
        ]
        return [zeros[0], *inner, *zeros[1 + len(inner) :]]

    def build(self, input_shape):
        if not self.attending.built:
            width = self.cell.output_size
            self.attending.build(input_shape, (None, None, width))
            self.attending.built = True

    def unpack(self, states):
        """Returns the cell's states, `(keys, values)`, and what is filled."""
        _, *inner, keys, values, filled = states
        inner = keras.tree.pack_sequence_as(cells.state_sizes(self.cell), inner)
        history = tuple(
            ops.reshape(flat, (-1, *shape))
            for flat, shape in zip(
                (keys, values), self._history_shapes, strict=True
            )
        )
        return inner, history, filled

    def pack(self, output, inner, history, filled):
        """Returns the states that `unpack` takes apart."""
        flat = [
            ops.reshape(x, (-1, math.prod(shape)))
            for x, shape in zip(history, self._history_shapes, strict=True)
        ]
        return [output, *keras.tree.flatten(inner), *flat, filled]

    def call(self, inputs, states, training=False):
        inner, history, filled = self.unpack(states)
        output, inner, _ = self.attending(
            inputs, inner, history, filled > 0.5, training=training
        )
        hidden = cells.last_output(self.cell, inner)
        new = self.attention.project(ops.expand_dims(hidden, 1))
        history = [
            ops.concatenate([old[..., 1:, :], place], axis=-2)
            for old, place in zip(history, new, strict=True)
        ]
        filled = ops.concatenate(
            [filled[:, 1:], ops.ones_like(filled[:, :1])], axis=-1
        )
        return output, self.pack(output, inner, history, filled)

    # `keras.layers.RNN` draws and resets masks by these four, and knows
    # nothing of a cell inside.
    def get_dropout_mask(self, step_input):
        shape = (ops.shape(step_input)[0], self.attending.cell_input_size)
        first = ops.zeros(shape, self.compute_dtype)
        cells.draw_dropout_masks(self.cell, first)

    def get_recurrent_dropout_mask(self, step_input):
        pass

    def reset_dropout_mask(self):
        cells.drop_dropout_masks(self.cell)

    def reset_recurrent_dropout_mask(self):
        pass

    def get_config(self):
        config = self.attending.get_config()
        names = ("cell", "placement", "units", "kernel_initializer")
        return {
            **super().get_config(),
            **{name: config[name] for name in ("attention", *names)},
            "window": self.window,
        }

    @classmethod
    def from_config(cls, config):
        cell = keras.saving.deserialize_keras_object(config["cell"])
        return cls(**{**config, "cell": cell})


@keras.saving.register_keras_serializable("kerasrnn")
class SelfAttentionRNN(keras.layers.RNN):
    """Runs a `SelfAttentionCell` over a sequence, fast.

    It computes what `keras.layers.RNN` does with such a cell. After the cell,
    no step needs the attention of another: the cell alone loops (or runs at
    once, if it is one of this package), and all steps attend at once. Before
    the cell, with a mask or with `unroll` it falls back to the loop.

    Args:
        cell: A `SelfAttentionCell`.
        **kwargs: The other arguments of `keras.layers.RNN`, such as
            `return_sequences`, `return_state` and `stateful`.

    Call arguments:
        sequences: Tensor of shape `(batch, time, input_dim)`.
        initial_state: Optional list of the states of the cell.
        mask: Optional boolean tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout of the cell).

    Returns:
        The outputs of shape `(batch, time, output_size)` with
        `return_sequences`, otherwise the last one, `(batch, output_size)`;
        with `return_state` followed by the last states.

    Masking: as `keras.layers.RNN`.

    Raises:
        ValueError: when `cell` is not a `SelfAttentionCell`.

    Example:

    >>> cell = SelfAttentionCell(GAMRHNCell(8, 2, 6, 3, 4), "dot", window=3)
    >>> SelfAttentionRNN(cell, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Daniluk et al., 2017](https://arxiv.org/abs/1702.04521).
    """

    def __init__(self, cell, **kwargs):
        if not isinstance(cell, SelfAttentionCell):
            raise ValueError(
                "SelfAttentionRNN expects `cell` to be a SelfAttentionCell, "
                "such as `SelfAttentionCell(GRUCell(256), 'additive')`. "
                f"Received: cell={cell!r}"
            )
        kwargs.setdefault("dtype", cell.dtype_policy)
        super().__init__(cell, **kwargs)
        if cell.attending.placement == "after":
            self.supports_jit = cells.supports_jit(cell.cell)

    def inner_loop(self, sequences, initial_state, mask, training=False):
        attends_after = self.cell.attending.placement == "after"
        if self.unroll or mask is not None or not attends_after:
            return super().inner_loop(sequences, initial_state, mask, training)
        if self.go_backwards:
            sequences = ops.flip(sequences, axis=1)
        inner, history, filled = self.cell.unpack(initial_state)
        hidden, inner = cells.run(
            self.cell.cell, ops.swapaxes(sequences, 0, 1), inner, training
        )
        hidden = ops.swapaxes(hidden, 0, 1)
        # The window that came in, then what this sequence adds: the places
        # of the window of step t are t to t + window - 1.
        places = [
            ops.concatenate([old, new], axis=-2)
            for old, new in zip(
                history, self.cell.attention.project(hidden), strict=True
            )
        ]
        filled = ops.concatenate(
            [filled, ops.ones_like(hidden[..., 0])], axis=-1
        )
        context = self._attend_to_windows(hidden, places, filled)
        outputs = self.cell.attending.combine(context, hidden)
        window = self.cell.window
        states = self.cell.pack(
            outputs[:, -1],
            inner,
            [x[..., -window:, :] for x in places],
            filled[:, -window:],
        )
        return outputs[:, -1], outputs, states

    def _attend_to_windows(self, hidden, places, filled):
        """Every step attends to its window, as a batch of steps."""
        time, window = ops.shape(hidden)[1], self.cell.window
        index = ops.expand_dims(ops.arange(time), 1) + ops.arange(window)

        def by_step(x, axis):
            # (batch, ..., places, dim) -> (batch * time, ..., window, dim)
            x = ops.take(x, index, axis=axis)
            x = ops.moveaxis(x, axis, 1)
            return ops.reshape(x, (-1, *x.shape[2:]))

        windows = [by_step(x, len(x.shape) - 2) for x in places]
        context, _ = self.cell.attention.attend(
            ops.reshape(hidden, (-1, 1, hidden.shape[-1])),
            windows,
            by_step(filled, 1) > 0.5,
        )
        shape = (-1, time, context.shape[-1])
        return ops.reshape(context, shape)
