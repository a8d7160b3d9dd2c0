"""A language model: the probability of each next token."""

import keras
from keras import ops

from kerasrnn.layers import FastRNN
from kerasrnn.layers.arguments import positive_integer
from kerasrnn.layers.arguments import rate
from kerasrnn.layers.recurrent import cells
from kerasrnn.models.carried_states import CarriedStates
from kerasrnn.models.token_embedding import TokenEmbedding
from kerasrnn.models.token_output import TokenOutput


@keras.saving.register_keras_serializable("kerasrnn")
class LanguageModel(keras.Model):
    """Predicts every token of a text from those before it.

    An embedding, recurrent layers and a softmax over the vocabulary, which
    shares the embedding's weights (Press & Wolf 2017) unless told otherwise.

    With `batch_size` it trains by truncated backpropagation: a batch holds
    the next window of each of `batch_size` texts, and the recurrent states
    go on from the window before, wherever the batch does not say that a row
    is `fresh`. `fit` and `evaluate` keep states of their own.

    Args:
        vocabulary_size: Positive integer.
        cell: A recurrent cell, such as `RHNCell(300, depth=5)`, or one that
            attends to its past, such as
            `SelfAttentionCell(GAMRHNCell(...), "additive")`. It is a
            template: every layer runs a fresh copy of it by `FastRNN`, at
            once where the cell knows how, as those of this package do.
        embedding_dim: Positive integer, width of the embeddings; `None` for
            that of the cell's output. Tied to a cell of another width, the
            softmax stands behind a linear projection.
        depth: Positive integer, number of layers.
        tie_embeddings: Whether the softmax shares the embedding's weights.
        dropout: Rate of the variational dropout (Gal & Ghahramani 2016) on
            the embeddings, between layers and before the softmax: one mask
            for all steps of a batch. Dropout of the recurrent state belongs
            to the cell.
        word_dropout: Rate at which a word type loses its embedding,
            wherever it stands in a row.
        embeddings_initializer: Initializer of the embedding; `None` for a
            normal one of variance `1 / embedding_dim`.
        embedding_scale: Float, the factor on what the cell reads; `None` for
            `sqrt(embedding_dim)`.
        batch_size: Positive integer, rows whose states are carried along;
            `None` for a model that starts every batch anew. Where replicas
            share a batch (`tf.distribute`), its rows are those of all of
            them, as with `fit`.
        **kwargs: Base model arguments, such as `name` and `dtype`; the cell
            has a dtype of its own.

    Call arguments:
        inputs: Integer tensor of ids, of shape `(batch, time)`; with
            `batch_size` it may be a dictionary of those `"ids"` and of
            `"fresh"`, a tensor of shape `(batch,)` of booleans or, as Keras
            wants under `tf.distribute`, integers.
        training: Whether to behave as in training (dropout).

    Returns:
        Logits of shape `(batch, time, vocabulary_size)`.

    Masking: right-padding reaches no token before it; mask it in the loss.

    Raises:
        ValueError: when a size is not positive, a rate not in `[0, 1)`, or
            `cell` is no recurrent cell; when `"fresh"` meets a model without
            `batch_size`, or a batch of another size.

    Example:

    >>> model = LanguageModel(50, RHNCell(16, depth=3), batch_size=2)
    >>> ids, fresh = np.ones((2, 7), "int32"), np.ones((2,), bool)
    >>> model({"ids": ids, "fresh": fresh}).shape
    (2, 7, 50)

    References:
        [Mikolov et al., 2010](https://doi.org/10.21437/Interspeech.2010-343),
        [Gal & Ghahramani, 2016](https://arxiv.org/abs/1512.05287),
        [Press & Wolf, 2017](https://arxiv.org/abs/1608.05859).
    """

    def __init__(
        self,
        vocabulary_size,
        cell,
        embedding_dim=None,
        depth=1,
        tie_embeddings=True,
        dropout=0.0,
        word_dropout=0.0,
        embeddings_initializer=None,
        embedding_scale=None,
        batch_size=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        cells.check_cell(cell, "LanguageModel")
        self.vocabulary_size = positive_integer(
            "vocabulary_size", vocabulary_size
        )
        if embedding_dim is None:
            embedding_dim = cell.output_size
        self.embedding_dim = positive_integer("embedding_dim", embedding_dim)
        self.depth = positive_integer("depth", depth)
        self.tie_embeddings = tie_embeddings
        self.dropout = rate("dropout", dropout)
        self.word_dropout = word_dropout
        self.embedding_scale = embedding_scale
        if batch_size is not None:
            batch_size = positive_integer("batch_size", batch_size)
        self.batch_size = batch_size
        initializer = {}
        if embeddings_initializer is not None:
            initializer["embeddings_initializer"] = embeddings_initializer
        self.embedding = TokenEmbedding(
            self.vocabulary_size,
            self.embedding_dim,
            word_dropout=word_dropout,
            drop_types=True,
            scale=embedding_scale,
            dtype=self.dtype_policy,
            name="embedding",
            **initializer,
        )
        self.rnns = [
            FastRNN(
                cells.clone_cell(cell), return_sequences=True, return_state=True
            )
            for _ in range(depth)
        ]
        self.variational_dropouts = [
            keras.layers.SpatialDropout1D(dropout, dtype=self.dtype_policy)
            for _ in range(depth + 1)
        ]
        self.output_projection = TokenOutput(
            self.vocabulary_size,
            tied_to=self.embedding if tie_embeddings else None,
            dtype=self.dtype_policy,
            name="output",
        )
        if batch_size is not None:
            self.carried = CarriedStates(
                batch_size, self.state_sizes, name="carried"
            )

    @property
    def cell(self):
        """The cell of the first layer."""
        return self.rnns[0].cell

    @property
    def state_sizes(self):
        """Widths of the states of all layers, as a flat list."""
        return self.depth * cells.flat_state_sizes(self.cell)

    def initial_states(self, batch_size):
        """Returns the states that a text starts from, as a flat list."""
        return [
            ops.cast(state, self.variable_dtype)
            for rnn in self.rnns
            for state in keras.tree.flatten(
                cells.initial_state(rnn.cell, batch_size)
            )
        ]

    def build(self, input_shape=None):
        self.embedding.build((None, None))
        width = self.embedding_dim
        for rnn in self.rnns:
            rnn.build((None, None, width))
            width = self.cell.output_size
        self.output_projection.build((None, None, width))
        if self.batch_size is not None:
            self.carried.build()

    def call(self, inputs, training=False):
        if not isinstance(inputs, dict):
            states = self.initial_states(ops.shape(inputs)[0])
            return self.run(inputs, states, training)[0]
        if set(inputs) != {"ids", "fresh"}:
            raise ValueError(
                "A model that carries its states on expects a dictionary of "
                '"ids" and "fresh", as `text_windows` makes them. '
                f"Received: {sorted(inputs)}"
            )
        ids, fresh = inputs["ids"], inputs["fresh"]
        self._check_rows(ids, fresh)
        states = self.initial_states(self._rows)
        states = self.carried(states, fresh, training=training)
        logits, states = self.run(ids, states, training)
        self.carried.keep(states, training=training)
        return logits

    @property
    def _rows(self):
        """Rows of a batch that come to one replica of TensorFlow."""
        strategy = getattr(self, "distribute_strategy", None)
        replicas = 1 if strategy is None else strategy.num_replicas_in_sync
        return self.batch_size and self.batch_size // replicas

    def _check_rows(self, ids, fresh):
        found = ids.shape[0], *fresh.shape
        rows = {self._rows, None}
        if not self.batch_size or len(found) != 2 or not rows >= set(found):
            raise ValueError(
                "To carry states along, a LanguageModel must be made with "
                "`batch_size`, the number of rows of each batch, and `fresh` "
                "must have the shape `(batch_size,)`; under `tf.distribute`, "
                "each replica has its share of the rows. Received: "
                f"batch_size={self.batch_size}, ids of shape {ids.shape}, "
                f"fresh of shape {fresh.shape}"
            )

    def run(self, ids, states, training=False):
        """Goes on from given states.

        Args:
            ids: Integer tensor of shape `(batch, time)`.
            states: List of tensors of shape `(batch, size)`, the states
                before; `initial_states` gives the first.
            training: Whether to behave as in training (dropout).

        Returns:
            Logits of shape `(batch, time, vocabulary_size)`, and the states
            after the last token.

        Example, for the samplers of `keras_nlp`, which call the states a
        cache:

        >>> import keras_nlp
        >>> model = LanguageModel(50, RHNCell(8))
        >>> def next(prompt, cache, index):
        ...     last = ops.take(prompt, [index - 1], axis=1)
        ...     logits, cache = model.run(last, cache)
        ...     return logits[:, 0], None, cache
        >>> prompt, given = np.full((2, 6), 3), np.arange(6) < [[2], [4]]
        >>> sampler = keras_nlp.samplers.TopPSampler(p=0.9)
        >>> states = model.initial_states(2)
        >>> sampler(next, prompt, states, index=1, mask=given).shape
        (2, 6)
        """
        first, *others = self.variational_dropouts
        x = self.embedding(ids, training=training)
        x = first(x, training=training)
        states, new_states = list(states), []
        for rnn, dropout in zip(self.rnns, others, strict=True):
            sizes = cells.state_sizes(rnn.cell)
            count = len(keras.tree.flatten(sizes))
            before, states = states[:count], states[count:]
            before = keras.tree.pack_sequence_as(sizes, before)
            x, *after = rnn(x, initial_state=before, training=training)
            new_states += keras.tree.flatten(after)
            x = dropout(x, training=training)
        # A graph that loops over windows wants to know their widths.
        new_states = [
            ops.reshape(ops.cast(state, self.variable_dtype), (-1, size))
            for state, size in zip(new_states, self.state_sizes, strict=True)
        ]
        return self.output_projection(x), new_states

    def with_batch_size(self, batch_size):
        """Returns a copy, weights included, for batches of another size."""
        copy = type(self).from_config(
            self.get_config() | {"batch_size": batch_size, "name": None}
        )
        for model in (self, copy):
            if not model.built:
                model.build()
        for new, old in zip(copy._parts, self._parts, strict=True):
            new.set_weights(old.get_weights())
        return copy

    @property
    def _parts(self):
        """The layers that have weights, without the carried states."""
        return [self.embedding, *self.rnns, self.output_projection]

    def get_config(self):
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "cell": keras.saving.serialize_keras_object(self.cell),
            "embedding_dim": self.embedding_dim,
            "depth": self.depth,
            "tie_embeddings": self.tie_embeddings,
            "dropout": self.dropout,
            "word_dropout": self.word_dropout,
            "embeddings_initializer": keras.initializers.serialize(
                self.embedding.embeddings_initializer
            ),
            "embedding_scale": self.embedding_scale,
            "batch_size": self.batch_size,
        }

    @classmethod
    def from_config(cls, config):
        cell = keras.saving.deserialize_keras_object(config["cell"])
        return cls(**{**config, "cell": cell})
