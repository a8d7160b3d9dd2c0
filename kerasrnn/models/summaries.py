"""Summaries of an encoded text in one vector.

Every summary is a layer with the same call: it takes the memory, mask and final
states of an encoder, and returns a summary. Those with attention return its
weights, too.
"""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasrnn.layers.arguments import positive_integer
from kerasrnn.layers.attention.attention_cell import AttentionCell
from kerasrnn.layers.attention.attention_rnn import AttentionRNN
from kerasrnn.layers.attention.by_name import copy_of_attention
from kerasrnn.layers.attention.by_name import get_attention
from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.layers.configured import Deserialized
from kerasrnn.layers.quantization import KeepsQuantization
from kerasrnn.layers.recurrent import cells
from kerasrnn.layers.recurrent.products import wide
from kerasrnn.models.bridge import Bridge
from kerasrnn.typing import Config
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


def get_summary(identifier, encoder):
    """Returns a summary from a layer or from its name.

    Args:
        identifier: `"last"`, `"pooled"`, `"attention"` (additive),
            `"decoder"` (without attention), or a layer.
        encoder: The `Encoder` whose memory is to be summarized.

    Raises:
        ValueError: for anything else, or for a `DecoderSummary` of a
            bidirectional encoder, or of one whose cell has other states.
    """
    if isinstance(identifier, str) and identifier in _BY_NAME:
        identifier = _BY_NAME[identifier](encoder)
    if not isinstance(identifier, keras.layers.Layer):
        raise ValueError(
            "`summary` must be a layer of `kerasrnn.models`, such as "
            f"AttentionSummary, or one of {', '.join(map(repr, _BY_NAME))}. "
            f"Received: summary={identifier!r}"
        )
    if isinstance(identifier, DecoderSummary):
        _check_decoder(identifier, encoder)
    return identifier


def _check_decoder(summary, encoder):
    """Raises if a decoder cannot start from the encoder's final states."""
    if encoder.bidirectional:
        raise ValueError(
            "A DecoderSummary starts a cell like the encoder's from its final "
            "states: the encoder must have `bidirectional=False`. "
            f"Received: bidirectional={encoder.bidirectional}"
        )
    expected, found = (
        cells.flat_state_sizes(layer.cell) for layer in (encoder, summary)
    )
    if expected != found:
        raise ValueError(
            "The cell of a DecoderSummary must have the states of the "
            f"encoder's. Expected: widths {expected}. Received: {found}"
        )


def backward_units(encoder):
    """Returns start and stop of the memory units that read backwards."""
    units = encoder.cell.output_size
    if encoder.bidirectional:
        return units, 2 * units
    return (0, units) if encoder.go_backwards else (0, 0)


class Summary(KeepsQuantization):
    """Base of the summaries. They have no time axis, so they return no mask."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_mask(
        self, inputs: Tensor, previous_mask: Tensor | None = None
    ) -> None:
        return None


@keras.saving.register_keras_serializable("kerasrnn")
class LastSummary(Summary):
    """The last output of an encoder in each direction.

        [h_T of the units that read forwards; h_1 of those that read backwards]

    Args:
        backward: A pair of integers, start and stop of the units that read
            backwards; `(0, 0)` for none.
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

    def __init__(self, backward: Sequence[int] = (0, 0), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.backward = tuple(backward)

    def call(
        self,
        memory: Tensor,
        mask: Tensor,
        final: Tensor | None = None,
        training: bool = False,
    ) -> Tensor:
        return self.last(memory, mask)

    def last(self, memory: Tensor, mask: Tensor) -> Tensor:
        """Returns the outputs at the end of each direction."""
        places = ops.arange(ops.shape(mask)[1])
        last = _take(memory, ops.max(ops.where(mask, places, 0), 1, initial=0))
        start, stop = self.backward
        if start < stop:
            first = ops.argmax(ops.cast(mask, "int32"), axis=1)
            units = ops.arange(memory.shape[-1])
            is_backward = ops.logical_and(units >= start, units < stop)
            last = ops.where(is_backward, _take(memory, first), last)
        return ops.where(ops.any(mask, axis=1, keepdims=True), last, 0)

    def get_config(self) -> Config:
        return {**super().get_config(), "backward": self.backward}


def _take(memory, places):
    """Returns one place of each text, `(batch, dim)`."""
    index = ops.expand_dims(places, (1, 2))
    return ops.squeeze(ops.take_along_axis(memory, index, axis=1), 1)


@keras.saving.register_keras_serializable("kerasrnn")
class PooledSummary(LastSummary):
    """The last outputs, concatenated with maximum and mean over time.

        [last; max_t h_t; mean_t h_t]                    (Howard & Ruder 2018)

    Args:
        backward: As for `LastSummary`.
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
        greatest = ops.max(ops.where(real, memory, float("-inf")), axis=1)
        greatest = ops.where(ops.any(real, axis=1), greatest, 0)
        last = self.last(memory, mask)
        return ops.concatenate([last, greatest, mean], axis=-1)


def _closed_up(attention, memory, mask):
    """Moves padding behind the words, if the attention would count it.

    Args:
        attention: A mechanism, or `None`.
        memory: Tensor of shape `(batch, time, dim)`.
        mask: Boolean tensor of shape `(batch, time)`.

    Returns:
        The memory, its mask, and the function that moves weights of shape
        `(batch, time)` back.
    """
    if attention is None or not attention.counts_masked:
        return memory, mask, lambda weights: weights
    time = ops.shape(mask)[1]
    places = ops.arange(time)
    order = ops.argsort(ops.where(mask, places, places + time), axis=1)
    memory = ops.take_along_axis(memory, ops.expand_dims(order, -1), axis=1)
    mask = ops.take_along_axis(mask, order, axis=1)
    back = ops.argsort(order, axis=1)
    return memory, mask, lambda x: ops.take_along_axis(x, back, axis=1)


@keras.saving.register_keras_serializable("kerasrnn")
class AttentionSummary(Summary):
    """The mean of the memory, weighted by the attention of a trained query.

        sum_t alpha_t h_t                                  (Yang et al. 2016)

    Args:
        attention: A mechanism of `kerasrnn.layers`, or its name. It is a
            template: the layer has its own copy.
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
        if not self.attention.built:
            self.attention.build((None, 1, width), memory_shape)

    def call(
        self,
        memory: Tensor,
        mask: Tensor,
        final: Tensor | None = None,
        training: bool = False,
    ) -> tuple[Tensor, Tensor]:
        shape = (ops.shape(memory)[0], 1, memory.shape[-1])
        query = ops.broadcast_to(ops.cast(self.query, memory.dtype), shape)
        memory, mask, back = _closed_up(self.attention, memory, mask)
        context, weights = self.attention(
            query, memory, memory_mask=mask, training=training
        )
        return ops.squeeze(context, 1), back(ops.squeeze(weights, 1))

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "attention": keras.saving.serialize_keras_object(self.attention),
            "units": self.units,
        }


@keras.saving.register_keras_serializable("kerasrnn")
class DecoderSummary(Deserialized, Summary):
    """The output of one decoder step after the encoder.

    The cell starts from the final states of the last layer of the encoder and
    reads a trained vector; with attention, it attends to the memory as well:

        o = cell(start, s_T)        or        o = cell([start; c], s_T)

    Args:
        cell: A recurrent cell like the encoder's. It is a template: the layer
            has its own copy.
        attention: A mechanism of `kerasrnn.layers`, or its name; `None` for
            none. It is a template, too.
        **kwargs: Base layer arguments, such as `name` and `dtype`, by default
            that of `cell`.

    Call arguments:
        memory: Tensor of shape `(batch, time, dim)`.
        mask: Boolean tensor of shape `(batch, time)`.
        final: Tensor of shape `(batch, final_dim)`, the final states of a
            unidirectional encoder, those of its last layer at the end.
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
        kwargs.setdefault("dtype", cells.policy(cell))
        super().__init__(**kwargs)
        cells.check_cell(cell, "DecoderSummary")
        self.rnn = AttentionRNN(
            AttentionCell(
                cells.clone_cell(cell, "summary"), copy_of_attention(attention)
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
        # The cell's one input: there is no token to start from.
        shape = (1, 1, self.cell.output_size)
        self.start = self.add_weight(
            shape=shape, initializer="uniform", name="start"
        )
        if not self.rnn.built:
            self.rnn.build(shape, memory_shape)

    def call(
        self,
        memory: Tensor,
        mask: Tensor,
        final: Tensor,
        training: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        shape = (ops.shape(memory)[0], *self.start.shape[1:])
        start = ops.broadcast_to(ops.cast(self.start, memory.dtype), shape)
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

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "cell": keras.saving.serialize_keras_object(self.cell),
            "attention": keras.saving.serialize_keras_object(self.attention),
        }


_BY_NAME = {
    "last": lambda encoder: LastSummary(
        backward_units(encoder), dtype=encoder.dtype_policy
    ),
    "pooled": lambda encoder: PooledSummary(
        backward_units(encoder), dtype=encoder.dtype_policy
    ),
    "attention": lambda encoder: AttentionSummary(
        "additive", encoder.cell.output_size, dtype=encoder.dtype_policy
    ),
    "decoder": lambda encoder: DecoderSummary(encoder.cell),
}
