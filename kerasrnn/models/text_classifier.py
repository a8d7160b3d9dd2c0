"""A classifier of texts: a yes or a no for a sequence of tokens."""

import keras
from keras import ops

from kerasrnn.layers import cells
from kerasrnn.layers.attention_cell import AttentionCell
from kerasrnn.layers.attention_cell import get_attention
from kerasrnn.layers.attention_rnn import AttentionRNN
from kerasrnn.models.encoder import Encoder

SUMMARIES = ("last", "pooled", "attention", "decoder")


@keras.saving.register_keras_serializable("kerasrnn")
class TextClassifier(keras.Model):
    """Reads a text with an encoder and says how likely it is a yes.

    What the encoder made of the words, `h_1 ... h_T`, is summed up in one of
    four ways, and a dense layer makes a logit of the summary:

        last        h_T of the way forth, h_1 of the way back
        pooled      [last; max_t h_t; mean_t h_t]
        attention   sum_t alpha_t h_t, with weights alpha that a trained query
                    gives (Yang et al. 2016)
        decoder     the output of a cell that makes one step from the final
                    states of the encoder; with `attention`, it attends to
                    h_1 ... h_T

    Args:
        encoder: An `Encoder`.
        summary: `"last"`, `"pooled"`, `"attention"` or `"decoder"`.
        attention: A mechanism of `kerasrnn.layers`, or its name, for the
            summaries `"attention"` and `"decoder"`.
        dropout: Rate at which units of the summary are dropped.
        **kwargs: Base model arguments, such as `name` and `dtype`.

    Call arguments:
        ids: Integer tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout).

    Returns:
        Logits of shape `(batch, 1)`.

    Masking: padding has no part in the summary.

    Raises:
        ValueError: when `encoder` is no `Encoder`, `summary` is unknown or
            does without the given attention, or `"attention"` has none; when
            a decoder is to follow an encoder that reads both ways.

    Example:

    >>> encoder = Encoder(50, keras.layers.GRUCell(8), bidirectional=False)
    >>> TextClassifier(encoder, "pooled")(np.ones((2, 7), "int32")).shape
    (2, 1)

    References:
        [Howard & Ruder, 2018](https://arxiv.org/abs/1801.06146) for
        `"pooled"`, [Yang et al., 2016](https://aclanthology.org/N16-1174).
    """

    def __init__(
        self, encoder, summary="last", attention=None, dropout=0.0, **kwargs
    ):
        super().__init__(**kwargs)
        _check(encoder, summary, attention)
        self.encoder = encoder
        self.summary = summary
        self.dropout = dropout
        self.attention = attention
        if attention is not None:
            self.attention = get_attention(
                attention, encoder.cell.output_size, self.dtype_policy
            )
        self.decoder = self._new_decoder() if summary == "decoder" else None
        self.unit_dropout = keras.layers.Dropout(
            dropout, dtype=self.dtype_policy
        )
        self.output_projection = keras.layers.Dense(
            1, dtype=self.dtype_policy, name="output"
        )

    def _new_decoder(self):
        cell = cells.clone_cell(self.encoder.cell)
        if self.attention is None:
            dtype = cells.policy(cell)
            return keras.layers.RNN(cell, dtype=dtype, name="decoder")
        return AttentionRNN(
            AttentionCell(cell, self.attention),
            return_attention=True,
            name="decoder",
        )

    def build(self, ids_shape):
        encoder = self.encoder
        if not encoder.built:
            encoder.build(ids_shape)
        width = encoder.memory_dim
        memory_shape = (*ids_shape, width)
        if self.summary == "attention":
            self.query = self.add_weight(
                shape=(1, 1, width), initializer="glorot_uniform", name="query"
            )
            if not self.attention.built:
                self.attention.build((None, 1, width), memory_shape)
            width = self.attention.context_dim(width)
        elif self.decoder is not None:
            # The decoder's one input: there is no token to start from.
            self.start = self.add_weight(
                shape=(1, 1, encoder.embedding_dim),
                initializer="uniform",
                name="start",
            )
            shape = (None, 1, encoder.embedding_dim)
            if self.attention is None:
                self.decoder.build(shape)
                width = encoder.cell.output_size
            else:
                self.decoder.build(shape, memory_shape)
                width = self.decoder.cell.output_size
        elif self.summary == "pooled":
            width *= 3
        self.output_projection.build((None, width))

    def call(self, ids, training=False):
        memory, mask, final = self.encoder(ids, training=training)
        return self.classify(memory, mask, final, training)[0]

    def classify(self, memory, mask, final, training=False):
        """Classifies what an encoder has read.

        Args:
            memory: Tensor of shape `(batch, time, memory_dim)`.
            mask: Boolean tensor of shape `(batch, time)`.
            final: Tensor of shape `(batch, final_dim)`.
            training: Whether to behave as in training (dropout).

        Returns:
            The logits, of shape `(batch, 1)`, and the attention weights of
            shape `(batch, time)`, or `None` where nothing attends.
        """
        summarize = getattr(self, f"_summarize_by_{self.summary}")
        summary, weights = summarize(memory, mask, final, training)
        summary = self.unit_dropout(summary, training=training)
        return self.output_projection(summary), weights

    def _summarize_by_last(self, memory, mask, final, training):
        if self.encoder.go_backwards:
            last = ops.where(ops.any(mask, 1, keepdims=True), memory[:, 0], 0)
            return last, None
        last = ops.maximum(ops.sum(ops.cast(mask, "int32"), axis=1) - 1, 0)
        last = ops.take_along_axis(memory, last[:, None, None], axis=1)[:, 0]
        if self.encoder.bidirectional:
            # The way back has read all at the first place.
            units = self.encoder.cell.output_size
            forth, _, lexical = ops.split(last, [units, 2 * units], axis=-1)
            back = memory[:, 0, units : 2 * units]
            last = ops.concatenate([forth, back, lexical], axis=-1)
        return ops.where(ops.any(mask, 1, keepdims=True), last, 0), None

    def _summarize_by_pooled(self, memory, mask, final, training):
        last, _ = self._summarize_by_last(memory, mask, final, training)
        real = ops.expand_dims(ops.cast(mask, memory.dtype), -1)
        count = ops.maximum(ops.sum(real, axis=1), 1)
        mean = ops.sum(memory * real, axis=1) / count
        greatest = ops.max(
            ops.where(ops.expand_dims(mask, -1), memory, -1e4), axis=1
        )
        # A text without a word has a maximum of 0.
        greatest = ops.where(ops.any(mask, 1, keepdims=True), greatest, 0)
        return ops.concatenate([last, greatest, mean], axis=-1), None

    def _summarize_by_attention(self, memory, mask, final, training):
        query = ops.cast(self.query, memory.dtype)
        query = ops.broadcast_to(
            query, (ops.shape(memory)[0], 1, memory.shape[-1])
        )
        context, weights = self.attention(query, memory, memory_mask=mask)
        return ops.squeeze(context, 1), ops.squeeze(weights, 1)

    def _summarize_by_decoder(self, memory, mask, final, training):
        start = ops.cast(self.start, memory.dtype)
        start = ops.broadcast_to(
            start, (ops.shape(memory)[0], *start.shape[1:])
        )
        cell = self.encoder.cell
        sizes = cells.state_sizes(cell)
        # The states of the last layer stand last, without a clock.
        states, end = [], final.shape[-1]
        flat = zip(keras.tree.flatten(sizes), cells.clocks(cell), strict=True)
        for size, clock in reversed(list(flat)):
            if clock:
                states.insert(0, ops.zeros_like(final[:, :size]))
            else:
                states.insert(0, final[:, end - size : end])
                end -= size
        if self.attention is None:
            if len(states) > 1:
                states = keras.tree.pack_sequence_as(sizes, states)
            output = self.decoder(
                start, initial_state=states, training=training
            )
            return output, None
        output, weights = self.decoder(
            start,
            memory,
            memory_mask=mask,
            initial_state=keras.tree.pack_sequence_as(
                self.decoder.cell.get_initial_state(1), states
            ),
            training=training,
        )
        return ops.squeeze(output, 1), ops.squeeze(weights, 1)

    def get_config(self):
        return {
            **super().get_config(),
            "encoder": keras.saving.serialize_keras_object(self.encoder),
            "summary": self.summary,
            "attention": keras.saving.serialize_keras_object(self.attention),
            "dropout": self.dropout,
        }

    @classmethod
    def from_config(cls, config):
        encoder = keras.saving.deserialize_keras_object(config["encoder"])
        return cls(**{**config, "encoder": encoder})


def _check(encoder, summary, attention):
    if not isinstance(encoder, Encoder):
        raise ValueError(
            "TextClassifier expects `encoder` to be an Encoder. "
            f"Received: encoder={encoder!r}"
        )
    if summary not in SUMMARIES:
        raise ValueError(
            f"`summary` must be one of {', '.join(map(repr, SUMMARIES))}. "
            f"Received: summary={summary!r}"
        )
    fits = {"attention": attention is not None, "decoder": True}
    if not fits.get(summary, attention is None):
        raise ValueError(
            "summary='attention' needs an `attention`, 'decoder' may have "
            "one, 'last' and 'pooled' have none. "
            f"Received: summary={summary!r}, attention={attention!r}"
        )
    if summary == "decoder" and encoder.bidirectional:
        raise ValueError(
            "summary='decoder' starts a copy of the encoder's cell from its "
            "final states: the encoder must read one way. "
            f"Received: bidirectional={encoder.bidirectional}"
        )
