"""Summaries of encoded texts: last outputs, pooling or attention."""

import math
from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.layers.attention.attention_cell import AttentionCell
from kerasrnn.layers.attention.attention_rnn import AttentionRNN
from kerasrnn.layers.attention.by_name import copy_of_attention
from kerasrnn.layers.attention.by_name import get_attention
from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.layers.loop import cells
from kerasrnn.layers.loop.cells import clone_cell
from kerasrnn.layers.precision import wide
from kerasrnn.layers.quantization import KeepsQuantization
from kerasrnn.models.bridge import Bridge
from kerasrnn.saving import Configured
from kerasrnn.saving import build_once
from kerasrnn.tensors import gather
from kerasrnn.tensors import unmasked_first
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


class Summary(Configured, KeepsQuantization):
    """Base class of summaries, which reduce a text to one vector.

    A summary reads the memory, the mask and the final states of an encoder.
    Summaries with attention also return its weights. The result has no time
    axis, so there is no output mask.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_mask(
        self, inputs: Tensor, previous_mask: Tensor | None = None
    ) -> None:
        """Passes on no mask, because a summary has no time axis."""


@keras.saving.register_keras_serializable("kerasrnn")
class LastSummary(Summary):
    """Returns the last output of an encoder in each direction.

        [h_T of the units that read forwards; h_1 of those that read backwards]

    Args:
        backward: A pair of integers, start and stop of the units that read
            backwards; `(0, 0)` for none. `None` takes those of the encoder in a
            `TextClassifier`, and otherwise none.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        memory: Tensor of shape `(batch, time, dim)`.
        mask: Boolean tensor of shape `(batch, time)`.
        final: Not used, and neither is `training`.

    Returns:
        The summary, of shape `(batch, dim)`.

    Masking: padding is ignored, wherever it is. A text without words gives 0.

    Example:

    >>> LastSummary()(np.ones((2, 5, 8)), np.ones((2, 5), bool)).shape
    (2, 8)
    """

    def __init__(
        self, backward: Sequence[int] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.backward = backward if backward is None else tuple(backward)

    def call(
        self,
        memory: Tensor,
        mask: Tensor,
        final: Tensor | None = None,
        training: bool = False,
    ) -> Tensor:
        # The first one from the end. On PyTorch, a maximum of no rows would be
        # a scalar.
        from_end = ops.argmax(ops.flip(ops.cast(mask, "int32"), 1), axis=1)
        last = _output_at(memory, ops.shape(mask)[1] - 1 - from_end)
        start, stop = self.backward or (0, 0)
        if start < stop:
            first = ops.argmax(ops.cast(mask, "int32"), axis=1)
            units = ops.arange(memory.shape[-1])
            is_backward = ops.logical_and(units >= start, units < stop)
            last = ops.where(is_backward, _output_at(memory, first), last)
        return ops.where(ops.any(mask, axis=1, keepdims=True), last, 0)


def _output_at(memory, positions):
    """Returns the output at a position of each text, `(batch, dim)`."""
    return gather(memory, ops.expand_dims(positions, 1))[:, 0]


@keras.saving.register_keras_serializable("kerasrnn")
class PooledSummary(LastSummary):
    """Concatenates the last outputs with maximum and mean over time.

        [last; max_t h_t; mean_t h_t]                    (Howard & Ruder 2018)

    Args:
        backward: As in `LastSummary`.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        memory: Tensor of shape `(batch, time, dim)`.
        mask: Boolean tensor of shape `(batch, time)`.
        final: Not used, and neither is `training`.

    Returns:
        The summary, of shape `(batch, 3 * dim)`.

    Masking: padding is ignored, wherever it is. A text without words gives 0.

    Example:

    >>> PooledSummary()(np.ones((2, 5, 8)), np.ones((2, 5), bool)).shape
    (2, 24)

    Reference:
        [Howard & Ruder, 2018](https://arxiv.org/abs/1801.06146).
    """

    def call(
        self,
        memory: Tensor,
        mask: Tensor,
        final: Tensor | None = None,
        training: bool = False,
    ) -> Tensor:
        real = ops.expand_dims(mask, -1)
        count = ops.maximum(ops.sum(ops.cast(real, "int32"), axis=1), 1)
        # In float16, a sum would stop growing at 2048.
        total = ops.sum(ops.where(real, wide(memory), 0), axis=1)
        mean = ops.cast(total / ops.cast(count, total.dtype), memory.dtype)
        maximum = ops.max(
            ops.where(real, memory, -math.inf), axis=1, initial=-math.inf
        )
        maximum = ops.where(ops.any(real, axis=1), maximum, 0)
        last = super().call(memory, mask)
        return ops.concatenate([last, maximum, mean], axis=-1)


def _closed_up(attention, memory, mask):
    """Moves padding to the end, if positions matter to the attention.

    Args:
        attention: A mechanism, or `None`.
        memory: Tensor of shape `(batch, time, dim)`.
        mask: Boolean tensor of shape `(batch, time)`.

    Returns:
        The memory, its mask, and a function that moves weights of shape
        `(batch, time)` back.
    """
    if attention is None or not attention.counts_masked:
        return memory, mask, lambda weights: weights
    order = unmasked_first(mask)
    memory = ops.take_along_axis(memory, ops.expand_dims(order, -1), axis=1)
    mask = ops.take_along_axis(mask, order, axis=1)
    back = ops.argsort(order, axis=1)
    return memory, mask, lambda x: ops.take_along_axis(x, back, axis=1)


@keras.saving.register_keras_serializable("kerasrnn")
class AttentionSummary(Summary):
    """Averages the memory, weighted by the attention of a trained query.

        sum_t alpha_t h_t                                  (Yang et al. 2016)

    Args:
        attention: A mechanism of `kerasrnn.layers`, or its name. It is a
            template: the layer uses a copy.
        units: Positive integer, the hidden width of a mechanism given by name.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        memory: Tensor of shape `(batch, time, dim)`.
        mask: Boolean tensor of shape `(batch, time)`.
        final: Not used.
        training: Whether to behave as in training (dropout of the
            mechanism).

    Returns:
        A tuple of the summary, of shape `(batch, dim)` unless the mechanism
        gives another width, and the weights of shape `(batch, time)`.

    Masking: padding has weight exactly 0.

    Example:

    >>> layer = AttentionSummary("additive", units=8)
    >>> summary, weights = layer(np.ones((2, 5, 8)), np.ones((2, 5), bool))
    >>> summary.shape, weights.shape
    ((2, 8), (2, 5))

    Reference:
        [Yang et al., 2016](https://aclanthology.org/N16-1174).
    """

    def __init__(
        self,
        attention: AttentionMechanism | str = "additive",
        units: int = 128,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = positive_integer("units", units)
        self.attention = get_attention(
            copy_of_attention(attention), units, self.dtype_policy
        )

    def build(self, memory_shape: Shape) -> None:
        width = memory_shape[-1]
        self.query = self.add_weight(
            shape=(1, 1, width), initializer="glorot_uniform", name="query"
        )
        build_once(self.attention, (None, 1, width), memory_shape)

    def call(
        self,
        memory: Tensor,
        mask: Tensor,
        final: Tensor | None = None,
        training: bool = False,
    ) -> tuple[Tensor, Tensor]:
        query = ops.broadcast_to(
            ops.cast(self.query, memory.dtype),
            (ops.shape(memory)[0], 1, memory.shape[-1]),
        )
        memory, mask, back = _closed_up(self.attention, memory, mask)
        context, weights = self.attention(
            query, memory, memory_mask=mask, training=training
        )
        return ops.squeeze(context, 1), back(ops.squeeze(weights, 1))


@keras.saving.register_keras_serializable("kerasrnn")
class DecoderSummary(Summary):
    """Returns the output of one decoder step after the encoder.

    The cell starts from the final states of the last layer of the encoder and
    reads a trained vector; with attention, it attends to the memory as well:

        o = cell(start, s_T)        or        o = cell([start; c], s_T)

    Args:
        cell: A recurrent cell like the encoder's. It is a template: the layer
            uses a copy.
        attention: A mechanism of `kerasrnn.layers`, or its name; `None` for no
            attention. It is a template, too.
        **kwargs: Base layer arguments, such as `name` and `dtype`, by default
            that of `cell`.

    Call arguments:
        memory: Tensor of shape `(batch, time, dim)`.
        mask: Boolean tensor of shape `(batch, time)`.
        final: Tensor of shape `(batch, final_dim)`, the final states of a
            unidirectional encoder. Those of its last layer come last.
        training: Whether to behave as in training (dropout of the cell).

    Returns:
        The summary, of shape `(batch, units)`; with attention a tuple of it
        and the weights of shape `(batch, time)`.

    Masking: padding has weight exactly 0.

    Example:

    >>> layer = DecoderSummary(keras.layers.GRUCell(8), "additive")
    >>> memory, mask = np.ones((2, 5, 8)), np.ones((2, 5), bool)
    >>> summary, weights = layer(memory, mask, np.ones((2, 8)))
    >>> summary.shape, weights.shape
    ((2, 8), (2, 5))
    """

    def __init__(
        self,
        cell: keras.layers.Layer,
        attention: AttentionMechanism | str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**cells.options_of(cell, "DecoderSummary", kwargs))
        self.rnn = AttentionRNN(
            AttentionCell(
                clone_cell(cell, "summary"), copy_of_attention(attention)
            ),
            return_attention_scores=True,
            name="rnn",
        )
        self.bridge = Bridge(
            cells.flat_state_sizes(cell), "copy", dtype=self.dtype_policy
        )

    @property
    def cell(self) -> keras.layers.Layer:
        """The cell of the step."""
        return self.rnn.cell.cell

    @property
    def attention(self) -> AttentionMechanism | None:
        """The mechanism, or `None`."""
        return self.rnn.cell.attention

    def build(self, memory_shape: Shape) -> None:
        # The only input of the cell, because there is no token to start from.
        shape = (1, 1, cells.output_size(self.cell))
        self.start = self.add_weight(
            shape=shape, initializer="uniform", name="start"
        )
        build_once(self.rnn, shape, memory_shape)

    def call(
        self,
        memory: Tensor,
        mask: Tensor,
        final: Tensor,
        training: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        start = ops.broadcast_to(
            ops.cast(self.start, memory.dtype),
            (ops.shape(memory)[0], *self.start.shape[1:]),
        )
        last = final[:, -sum(self.bridge.state_sizes) :]
        memory, mask, back = _closed_up(self.attention, memory, mask)
        output, weights = self.rnn(
            start,
            memory,
            memory_mask=mask,
            initial_state=self.bridge(last),
            training=training,
        )
        output, weights = ops.squeeze(output, 1), ops.squeeze(weights, 1)
        return output if self.attention is None else (output, back(weights))
