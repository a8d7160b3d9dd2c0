"""The decoder: a memory and the tokens so far into the next token."""

import itertools

import keras
from keras import ops

from kerasrnn.layers import AttentionCell
from kerasrnn.layers import AttentionRNN
from kerasrnn.layers import cells
from kerasrnn.layers.arguments import positive_integer
from kerasrnn.models.token_embedding import TokenEmbedding
from kerasrnn.models.token_logits import TokenLogits


@keras.saving.register_keras_serializable("kerasrnn")
class Decoder(TokenLogits, keras.layers.Layer):
    """Predicts every token of a target from those before it and a memory.

        s_0 = tanh(W_b f + b_b)         f: the final states of the encoder
        o_t, s_t, a_t = attention_rnn(E y_{t-1}, s_{t-1}, memory)
        logits_t = W_o o_t + b_o        or tied, E (W_p o_t) + b_o

    With a lexicon `P(y | x)`, the words that are attended to say what they
    may become, and the network corrects them (Arthur et al. 2016):

        logits_t += log(sum_i a_ti P(y | x_i) + 0.001)

    Args:
        vocabulary_size: Positive integer.
        cell: A recurrent cell, such as `keras.layers.GRUCell(256)`, a
            template of which every layer gets a fresh copy.
        embedding_dim: Positive integer, width of the embeddings.
        depth: Positive integer, number of stacked cells.
        attention: A mechanism of `kerasrnn.layers`, or its name; `None` for
            a decoder that knows the source by its first states alone.
        placement: Whether to attend `"before"` or `"after"` the cell.
        attention_units: Width of the output `o_t` for the placement after
            the cell; `None` for the width of the cell.
        input_feeding: Whether the cell reads the output of the step before.
            For the placement after the cell.
        bridge: `"dense"` for the `s_0` above, which fits any two cells;
            `"copy"` for `s_0 = f`, where both are equally wide.
        factorized: Whether a dense layer takes the embeddings to the width
            of the cell, and one takes the outputs back to `embedding_dim`
            before the output layer.
        tie_embeddings: Whether the output layer is the embedding transposed
            (Press & Wolf 2017); `W_p` is there only if `o_t` is not
            `embedding_dim` wide.
        lexicon_size: Size of the source vocabulary, for a lexicon; `None` for
            none. The lexicon, a weight of shape `(lexicon_size,
            vocabulary_size)`, is not trained: set it by
            `decoder.lexicon.assign`.
        dropout: Rate on the embeddings and before the output layer.
        word_dropout: Rate at which tokens lose their whole embedding.
        embedding_scale: Float, the factor on the embeddings; `None` for the
            root of their width.
        **kwargs: Base layer arguments, such as `name` and `dtype`, which is
            that of `cell` unless given.

    Call arguments:
        ids: Integer tensor of shape `(batch, time)`: the target behind its
            start token, padded on the right.
        memory: Tensor of shape `(batch, places, memory_dim)`.
        memory_mask: Boolean tensor of shape `(batch, places)`.
        final: Tensor of shape `(batch, final_dim)`, the final states of the
            encoder side by side.
        source: Integer tensor of shape `(batch, places)`, the source that
            the memory was made of; read only with a lexicon.
        training: Whether to behave as in training (dropout).

    Returns:
        Logits of shape `(batch, time, vocabulary_size)`.

    Masking: masked places of the memory have weight exactly 0. Padding on
    the right of `ids` reaches no real token; mask it in the loss.

    Raises:
        ValueError: when an option is unknown, a size is not positive, or
            `bridge="copy"` meets final states of another width.

    Example:

    >>> decoder = Decoder(30, keras.layers.GRUCell(8), embedding_dim=4)
    >>> memory, mask = np.ones((2, 5, 16)), np.ones((2, 5), bool)
    >>> ids, final = np.ones((2, 7), "int32"), np.ones((2, 16))
    >>> decoder(ids, memory, mask, final).shape
    (2, 7, 30)

    References:
        [Arthur et al., 2016](https://arxiv.org/abs/1606.02006),
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473),
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025),
        [Press & Wolf, 2017](https://arxiv.org/abs/1608.05859).
    """

    def __init__(
        self,
        vocabulary_size,
        cell,
        embedding_dim=256,
        depth=1,
        attention="additive",
        placement="after",
        attention_units=None,
        input_feeding=False,
        bridge="dense",
        factorized=False,
        tie_embeddings=False,
        lexicon_size=None,
        dropout=0.0,
        word_dropout=0.0,
        embedding_scale=None,
        **kwargs,
    ):
        kwargs.setdefault("dtype", cells.policy(cell))
        super().__init__(**kwargs)
        cells.check_cell(cell, "Decoder")
        if bridge not in ("dense", "copy"):
            raise ValueError(
                "`bridge` must be 'dense' or 'copy'. "
                f"Received: bridge={bridge!r}"
            )
        self.vocabulary_size = positive_integer(
            "vocabulary_size", vocabulary_size
        )
        self.cell = cell
        self.embedding_dim = positive_integer("embedding_dim", embedding_dim)
        self.depth = positive_integer("depth", depth)
        self.bridge = bridge
        self.factorized = factorized
        self.tie_embeddings = tie_embeddings
        self.lexicon_size = lexicon_size
        self.dropout = dropout
        self.word_dropout = word_dropout
        self.embedding_scale = embedding_scale
        self.embedding = TokenEmbedding(
            self.vocabulary_size,
            self.embedding_dim,
            dropout=dropout,
            word_dropout=word_dropout,
            scale=embedding_scale,
            dtype=self.dtype_policy,
            name="embedding",
        )
        if factorized:
            self.input_projection = keras.layers.Dense(
                cell.output_size, dtype=self.dtype_policy, name="input"
            )
            self.narrowing = keras.layers.Dense(
                embedding_dim, dtype=self.dtype_policy, name="narrowing"
            )
        copies = [cells.clone_cell(cell) for _ in range(depth)]
        # The loop is of the dtype of its cells.
        self.rnn = AttentionRNN(
            AttentionCell(
                copies[0]
                if depth == 1
                else keras.layers.StackedRNNCells(
                    copies, dtype=cells.policy(cell)
                ),
                attention,
                placement=placement,
                units=attention_units,
                input_feeding=input_feeding,
            ),
            return_attention=True,
            name="rnn",
        )
        self.unit_dropout = keras.layers.Dropout(
            dropout, dtype=self.dtype_policy
        )
        if bridge == "dense":
            self.bridge_projection = keras.layers.Dense(
                sum(self.state_sizes),
                activation="tanh",
                dtype=self.dtype_policy,
                name="bridge",
            )
        self.output_projection = self.new_output_projection(
            self._logits_input_size
        )

    @property
    def _logits_input_size(self):
        if self.factorized:
            return self.embedding_dim
        return self.rnn.cell.output_size

    @property
    def state_sizes(self):
        """Widths of the states of the cell but for clocks, as a flat list."""
        cell = self.rnn.cell.cell
        return cells.without_clocks(cell, cell.state_size)

    def build(self, ids_shape, memory_shape, final_shape):
        self.embedding.build(ids_shape)
        width = self.embedding_dim
        if self.factorized:
            self.input_projection.build((*ids_shape, width))
            width = self.cell.output_size
        self.rnn.build((*ids_shape, width), memory_shape)
        if self.bridge == "dense":
            self.bridge_projection.build(final_shape)
        elif final_shape[-1] != sum(self.state_sizes):
            raise ValueError(
                "bridge='copy' starts the decoder from the final states of "
                "the encoder, so both must be equally wide. Expected: "
                f"{sum(self.state_sizes)}. Received: {final_shape[-1]}."
            )
        if self.factorized:
            self.narrowing.build((*ids_shape, self.rnn.cell.output_size))
        self.build_output(self._logits_input_size)
        if self.lexicon_size is not None:
            self.lexicon = self.add_weight(
                shape=(self.lexicon_size, self.vocabulary_size),
                initializer="zeros",
                trainable=False,
                name="lexicon",
            )

    def call(
        self, ids, memory, memory_mask, final, source=None, training=False
    ):
        x, weights = self.rnn(
            self.embed(ids, training),
            memory,
            memory_mask=memory_mask,
            initial_state=self.initial_state(final),
            training=training,
        )
        logits = self.predict(self.unit_dropout(x, training=training))
        return self.consult(logits, weights, self.entries(source))

    def embed(self, ids, training=False):
        """Returns what the cell reads for ids `(batch, time)`."""
        x = self.embedding(ids, training=training)
        return self.input_projection(x) if self.factorized else x

    def predict(self, outputs):
        """Returns logits from outputs `(..., output_size)`."""
        if self.factorized:
            outputs = self.narrowing(outputs)
        return self.logits(outputs)

    def entries(self, source):
        """Looks a source up in the lexicon.

        Args:
            source: Integer tensor of shape `(batch, places)`.

        Returns:
            Tensor of shape `(batch, places, vocabulary_size)`, or `()`
            without a lexicon.
        """
        if self.lexicon_size is None:
            return ()
        if source is None:
            raise ValueError(
                "A lexicon is looked up for the source. Expected: `source` of "
                "shape (batch, places). Received: source=None"
            )
        return ops.take(self.lexicon, ops.maximum(source, 0), axis=0)

    def consult(self, logits, weights, entries):
        """Adds what the lexicon says to logits `(batch, time, size)`."""
        if self.lexicon_size is None:
            return logits
        likely = ops.matmul(weights, ops.cast(entries, weights.dtype))
        return ops.add(logits, ops.log(likely + 1e-3))

    def initial_state(self, final):
        """Returns the states that the decoder starts from."""
        if self.bridge == "dense":
            final = self.bridge_projection(final)
        ends = list(itertools.accumulate(self.state_sizes))[:-1]
        states = ops.split(final, ends, axis=-1) if ends else [final]
        zeros = self.rnn.cell.get_initial_state(ops.shape(final)[0])
        flat = keras.tree.flatten(zeros)
        clocks = cells.clocks(self.rnn.cell.cell)
        # With input feeding the attention output comes first. It is zero, and
        # so are clocks.
        places = range(len(flat) - len(clocks), len(flat))
        places = [
            i for i, clock in zip(places, clocks, strict=True) if not clock
        ]
        for place, state in zip(places, states, strict=True):
            flat[place] = ops.cast(state, self.rnn.compute_dtype)
        return keras.tree.pack_sequence_as(zeros, flat)

    def step(self, ids, states, projected, mask, entries=()):
        """Decodes one token a sentence, for inference.

        Args:
            ids: Integer tensor of shape `(batch,)`, the tokens before.
            states: The states before; `initial_state` gives the first.
            projected: What `self.rnn.cell.project` made of the memory.
            mask: Boolean tensor of shape `(batch, places)`.
            entries: What `entries` looked up.

        Returns:
            A tuple `(logits, states, weights)`, where the logits have shape
            `(batch, vocabulary_size)` and the attention weights have shape
            `(batch, places)`.
        """
        x = ops.squeeze(self.embed(ops.expand_dims(ids, 1)), 1)
        output, states, weights = self.rnn.cell(x, states, projected, mask)
        logits, over_places = (
            ops.expand_dims(x, 1) for x in (self.predict(output), weights)
        )
        logits = self.consult(logits, over_places, entries)
        return ops.squeeze(logits, 1), states, weights

    def get_config(self):
        cell = self.rnn.cell
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "cell": keras.saving.serialize_keras_object(self.cell),
            "embedding_dim": self.embedding_dim,
            "depth": self.depth,
            "attention": keras.saving.serialize_keras_object(cell.attention),
            "placement": cell.placement,
            "attention_units": cell.units,
            "input_feeding": cell.input_feeding,
            "bridge": self.bridge,
            "factorized": self.factorized,
            "tie_embeddings": self.tie_embeddings,
            "lexicon_size": self.lexicon_size,
            "dropout": self.dropout,
            "word_dropout": self.word_dropout,
            "embedding_scale": self.embedding_scale,
        }

    @classmethod
    def from_config(cls, config):
        cell = keras.saving.deserialize_keras_object(config["cell"])
        return cls(**{**config, "cell": cell})
