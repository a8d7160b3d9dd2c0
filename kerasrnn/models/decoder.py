"""The decoder: a memory and the tokens so far into the next token."""

import keras
from keras import ops

from kerasrnn.layers import AttentionCell
from kerasrnn.layers import AttentionRNN
from kerasrnn.layers.arguments import positive_integer
from kerasrnn.layers.recurrent import cells
from kerasrnn.models.bridge import Bridge
from kerasrnn.models.token_embedding import TokenEmbedding
from kerasrnn.models.token_output import TokenOutput


@keras.saving.register_keras_serializable("kerasrnn")
class Decoder(keras.layers.Layer):
    """Predicts every token of a target from those before it and a memory.

        s_0 = bridge(f)                 f: the final states of the encoder
        o_t, s_t, a_t = attention_rnn(E y_{t-1}, s_{t-1}, memory)
        logits_t = output(o_t)          or, with a lexicon,
        logits_t = output(o_t) + log(sum_i a_{t,i} P(y | x_i) + 0.001)

    A lexicon says what the words that are attended to translate to, and the
    network corrects it (Arthur et al. 2016).

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
        readout: Whether the output layer reads the cell, its input and the
            context, as Bahdanau et al. have it. For the placement before the
            cell.
        bridge: `"dense"` for `s_0 = tanh(W f + b)`, which fits any two
            cells; `"copy"` for `s_0 = f`, where both are equally wide.
        factorized: Whether a dense layer takes the embeddings to the width
            of the cell, and one takes the outputs back to `embedding_dim`
            before the output layer.
        tie_embeddings: Whether the output layer shares the weights of the
            embedding (Press & Wolf 2017).
        lexicon: A `Lexicon` into the vocabulary; `None` for none. Set it by
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
        ValueError: when an option is unknown, a size is not positive, a
            lexicon is of another vocabulary, or `bridge="copy"` meets final
            states of another width.

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
        readout=False,
        bridge="dense",
        factorized=False,
        tie_embeddings=False,
        lexicon=None,
        dropout=0.0,
        word_dropout=0.0,
        embedding_scale=None,
        **kwargs,
    ):
        cells.check_cell(cell, "Decoder")
        kwargs.setdefault("dtype", cells.policy(cell))
        super().__init__(**kwargs)
        self.vocabulary_size = positive_integer(
            "vocabulary_size", vocabulary_size
        )
        self.embedding_dim = positive_integer("embedding_dim", embedding_dim)
        self.depth = positive_integer("depth", depth)
        self.factorized = factorized
        self.tie_embeddings = tie_embeddings
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
                readout=readout,
            ),
            return_attention_scores=True,
            name="rnn",
        )
        self.bridge = Bridge(
            cells.flat_state_sizes(self.rnn.cell.cell),
            bridge,
            dtype=self.dtype_policy,
            name="bridge",
        )
        self.unit_dropout = keras.layers.Dropout(
            dropout, dtype=self.dtype_policy
        )
        self.output_projection = TokenOutput(
            self.vocabulary_size,
            self.embedding_dim if factorized else None,
            tied_to=self.embedding if tie_embeddings else None,
            dtype=self.dtype_policy,
            name="output",
        )
        if lexicon is not None and lexicon.target_size != vocabulary_size:
            raise ValueError(
                "`lexicon` must be one into the vocabulary of the decoder. "
                f"Received: a target_size of {lexicon.target_size} for a "
                f"vocabulary_size of {vocabulary_size}"
            )
        self.lexicon = lexicon

    @property
    def cell(self):
        """The cell of the first layer."""
        cell = self.rnn.cell.cell
        return cell.cells[0] if self.depth > 1 else cell

    def build(self, ids_shape, memory_shape, final_shape):
        self.embedding.build(ids_shape)
        width = self.embedding_dim
        if self.factorized:
            self.input_projection.build((*ids_shape, width))
            width = self.cell.output_size
        self.rnn.build((*ids_shape, width), memory_shape)
        self.bridge.build(final_shape)
        self.output_projection.build((*ids_shape, self.rnn.cell.output_size))
        if self.lexicon is not None and not self.lexicon.built:
            self.lexicon.build()

    def call(
        self, ids, memory, memory_mask, final, source=None, training=False
    ):
        outputs, weights = self.rnn(
            self.embed(ids, training),
            memory,
            memory_mask=memory_mask,
            initial_state=self.bridge(final),
            training=training,
        )
        outputs = self.unit_dropout(outputs, training=training)
        return self.predict(outputs, weights, self.translations(source))

    def embed(self, ids, training=False):
        """Returns what the cell reads for ids `(batch, time)`."""
        x = self.embedding(ids, training=training)
        return self.input_projection(x) if self.factorized else x

    def translations(self, source, vocabulary=None):
        """Looks a source up in the lexicon; `()` without one."""
        if self.lexicon is None:
            return ()
        if source is None:
            raise ValueError(
                "A decoder with a lexicon looks the source up. Expected: "
                "`source` of shape (batch, places). Received: source=None"
            )
        return self.lexicon(source, vocabulary)

    def predict(self, outputs, weights, translations, words=()):
        """Returns logits.

        Args:
            outputs: Tensor of shape `(batch, time, output_size)`.
            weights: Attention weights of shape `(batch, time, places)`.
            translations: What `translations` returned for the source.
            words: What `output_projection.select` returned, for the logits of
                a few words; `()` for those of all.
        """
        logits = self.output_projection(outputs, words)
        if self.lexicon is None:
            return logits
        return ops.add(logits, self.lexicon.bias(weights, translations))

    def start(self, memory, memory_mask, final, source=None, vocabulary=None):
        """Prepares what `step` reads, for inference.

        Args:
            memory: Tensor of shape `(batch, places, memory_dim)`.
            memory_mask: Boolean tensor of shape `(batch, places)`.
            final: Tensor of shape `(batch, final_dim)`.
            source: Integer tensor of shape `(batch, places)`, for a lexicon.
            vocabulary: Integer tensor of shape `(batch, words)`, the ids of
                the words to predict; `None` for all.

        Returns:
            The first states, and a nest of tensors of shape `(batch, ...)`.
        """
        cell, words = self.rnn.cell, ()
        if vocabulary is not None:
            words = self.output_projection.select(vocabulary)
        projected = cell.project(memory, memory_mask)
        states = cell.get_initial_state(
            ops.shape(final)[0], projected, self.bridge(final)
        )
        translations = self.translations(source, vocabulary)
        return states, (projected, memory_mask, translations, words)

    def step(self, ids, states, memory):
        """Decodes one token of each hypothesis, for inference.

        Args:
            ids: Integer tensor of shape `(rows,)`, the tokens before: equally
                many hypotheses a sentence, side by side.
            states: The states before; `start` gives the first.
            memory: What `start` returned, for `batch` sentences.

        Returns:
            A tuple `(logits, states, weights)`, where the logits have shape
            `(rows, words)` and the attention weights `(rows, places)`.
        """
        projected, mask, translations, words = memory
        x = ops.squeeze(self.embed(ops.expand_dims(ids, 1)), 1)
        output, states, weights = self.rnn.cell(x, states, projected, mask)
        logits = self.predict(
            _by_sentence(output, mask),
            _by_sentence(weights, mask),
            translations,
            words,
        )
        return ops.reshape(logits, (-1, logits.shape[-1])), states, weights

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
            "readout": cell.readout,
            "bridge": self.bridge.kind,
            "factorized": self.factorized,
            "tie_embeddings": self.tie_embeddings,
            "lexicon": keras.saving.serialize_keras_object(self.lexicon),
            "dropout": self.dropout,
            "word_dropout": self.word_dropout,
            "embedding_scale": self.embedding_scale,
        }

    @classmethod
    def from_config(cls, config):
        parts = {
            name: keras.saving.deserialize_keras_object(config[name])
            for name in ("cell", "lexicon")
        }
        return cls(**{**config, **parts})


def _by_sentence(x, mask):
    """`(rows, dim)` as `(batch, hypotheses, dim)`, for a mask `(batch, ..)`."""
    return ops.reshape(x, (ops.shape(mask)[0], -1, ops.shape(x)[-1]))
