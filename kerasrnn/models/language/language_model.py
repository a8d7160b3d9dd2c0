"""A language model: the probability of each next token."""

from typing import Any
from typing import Self

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.distribute.replicas import replica_count
from kerasrnn.layers.loop import cells
from kerasrnn.layers.quantization import quantize_layers
from kerasrnn.layers.quantization import quantized_layers
from kerasrnn.models.language.carried_states import CarriedStates
from kerasrnn.models.language.carried_states import check_rows
from kerasrnn.models.language.language_losses import LanguageLosses
from kerasrnn.models.token_embedding import TokenEmbedding
from kerasrnn.models.token_output import TokenOutput
from kerasrnn.typing import Initializer
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class LanguageModel(LanguageLosses):
    """Predicts every token of a text from those before it.

    An embedding, recurrent layers and a softmax over the vocabulary, which by
    default shares the weights of the embedding (Press & Wolf 2017).

    With `batch_size` it trains by truncated backpropagation through time: a
    batch holds the next window of each of `batch_size` texts, and the recurrent
    states continue from the previous window, except in rows that the batch
    marks as `fresh`. Training and evaluation have separate states.

    With `augmented_loss`, each word `y` also teaches the model about words
    with similar embeddings `e`. With `z` the logits over `V` words and a
    temperature `T`, `fit` adds a multiple of

        - T sum_v q_v log(V p_v)      q = softmax(E e_y / T), p = softmax(z / T)

    Labels must then be ids, negative for padding. The training loss may then be
    negative, and `val_loss` does not contain the added term. So compare
    perplexities.

    Args:
        vocabulary_size: Positive integer.
        cell: A recurrent cell, such as `RHNCell(300, depth=5)`, or one that
            attends to its past, such as
            `SelfAttentionCell(GAMRHNCell(...), "additive")`. It is a
            template: every layer runs a fresh copy of it with `FastRNN`,
            which is fast with the cells of this package.
        embedding_dim: Positive integer, width of the embeddings; `None` for the
            width of the cell's output. If tied embeddings have another width, a
            linear projection precedes the softmax.
        depth: Positive integer, number of layers.
        tie_embeddings: Whether the softmax shares the embedding's weights.
        dropout: Rate of the variational dropout (Gal & Ghahramani 2016) on the
            embeddings, between layers and before the softmax: one mask for all
            steps of a batch. Dropout of the recurrent state is an argument of
            the cell.
        word_dropout: Rate at which a word type is dropped, wherever it occurs
            in a row.
        embeddings_initializer: Initializer of the embedding; `None` for a
            normal one of variance `1 / embedding_dim`.
        embedding_scale: Float, the factor on the embeddings that the cell
            reads; `None` for `sqrt(embedding_dim)`.
        batch_size: Positive integer, the number of rows in a batch, whose
            states are carried from batch to batch; `None` for a model that
            starts every batch from its initial states. A batch may have fewer
            rows, as the last one of `evaluate` may: these continue the first
            ones. Under `tf.distribute` it is the global batch size, as for
            `fit`.
        augmented_loss: Float, 0 or more, the weight of the augmented loss
            (Inan et al. 2017), which `fit` adds to the one given to
            `compile`; see above.
        loss_temperature: Positive float, `T` of the augmented loss.
        sampled_words: Positive integer, how many words `fit` draws for each
            batch and scores beside the right ones (`sampled_logits`); `None`
            to score all. With a large vocabulary, that is most of the work.
            Labels must then be ids, negative for padding, and metrics of `fit`
            are those of the first row of each batch.
        **kwargs: Base model arguments, such as `name` and `dtype`; the cell
            keeps its own dtype.

    Call arguments:
        inputs: Integer tensor of ids, of shape `(batch, time)`; with
            `batch_size` it may be a dictionary of these `"ids"` and of
            `"fresh"`, a boolean tensor of shape `(batch,)` (integers under
            `tf.distribute`, as Keras requires). Ids alone start anew: no
            states are carried, so that `fit` and `evaluate` refuse them.
        training: Whether to behave as in training (dropout).

    Returns:
        Logits of shape `(batch, time, vocabulary_size)`; in training with
        `sampled_words`, a dictionary of the `"outputs"` that they are made of,
        and of those of the `"first_row"`.

    Masking: padding on the right affects no token before it; mask it in the
    loss.

    Raises:
        ValueError: when a size is not positive, a rate not in `[0, 1)`, or
            `cell` is not a recurrent cell; when the weight of the augmented
            loss is negative or its temperature not positive, when it is to be
            computed from labels that are not ids or from quantized embeddings,
            or with `sampled_words`; when with these the loss takes a word for
            padding; when `"fresh"` is given to a model without `batch_size`, or
            the batch has more rows.

    Example:

    >>> model = LanguageModel(50, RHNCell(16, depth=3), batch_size=2)
    >>> ids, fresh = np.ones((2, 7), "int32"), np.ones((2,), bool)
    >>> model({"ids": ids, "fresh": fresh}).shape
    (2, 7, 50)

    References:
        [Mikolov et al., 2010](https://doi.org/10.21437/Interspeech.2010-343),
        [Gal & Ghahramani, 2016](https://arxiv.org/abs/1512.05287),
        [Press & Wolf, 2017](https://arxiv.org/abs/1608.05859),
        [Inan et al., 2017](https://arxiv.org/abs/1611.01462).
    """

    def __init__(
        self,
        vocabulary_size: int,
        cell: keras.layers.Layer,
        embedding_dim: int | None = None,
        depth: int = 1,
        tie_embeddings: bool = True,
        dropout: float = 0.0,
        word_dropout: float = 0.0,
        embeddings_initializer: Initializer = None,
        embedding_scale: float | None = None,
        batch_size: int | None = None,
        augmented_loss: float = 0.0,
        loss_temperature: float = 10.0,
        sampled_words: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            augmented_loss, loss_temperature, sampled_words, **kwargs
        )
        cells.check_cell(cell, "LanguageModel")
        self.vocabulary_size = positive_integer(
            "vocabulary_size", vocabulary_size
        )
        if embedding_dim is None:
            embedding_dim = cells.output_size(cell)
        self.embedding_dim = positive_integer("embedding_dim", embedding_dim)
        self.tie_embeddings = tie_embeddings
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
        self.add_rnns(cell, depth, dropout)
        self.output_projection = TokenOutput(
            self.vocabulary_size,
            tied_to=self.embedding if tie_embeddings else None,
            dtype=self.dtype_policy,
            name="output",
        )
        if batch_size is not None:
            self.carried = CarriedStates(
                batch_size,
                self.state_sizes,
                dtype=cells.policy(cell),
                name="carried",
            )

    @property
    def embeddings_initializer(self) -> Initializer:
        """The initializer of the embeddings."""
        return self.embedding.embeddings_initializer

    def build(self, input_shape: Shape | None = None) -> None:
        self.embedding.build((None, None))
        width = self.build_rnns(self.embedding_dim)
        self.output_projection.build((None, None, width))
        if self.batch_size is not None:
            self.carried.build()

    def call(
        self, inputs: Tensor | dict[str, Tensor], training: bool = False
    ) -> Tensor | dict[str, Tensor]:
        if not isinstance(inputs, dict):
            states = self.initial_states(ops.shape(inputs)[0])
            return self._answer(inputs, states, training)[0]
        if set(inputs) != {"ids", "fresh"}:
            raise ValueError(
                "A model that carries its states expects a dictionary of "
                '"ids" and "fresh", as `text_windows` makes it. '
                f"Received: {sorted(inputs)}"
            )
        ids, fresh = inputs["ids"], inputs["fresh"]
        check_rows(ids, fresh, self.batch_size, replica_count(self))
        states = self.initial_states(ops.shape(ids)[0])
        states = self.carried(states, fresh, training=training)
        answer, states = self._answer(ids, states, training)
        self.carried.keep(states, training=training)
        return answer

    def _answer(self, ids, states, training):
        if not (training and self.sampled_words):
            return self.run(ids, states, training)
        outputs, states = self._read(ids, states, training)
        first_row = self.output_projection(outputs[:1])
        return {"outputs": outputs, "first_row": first_row}, states

    def _read(self, ids, states, training):
        """The outputs of the recurrent layers, and the last states."""
        x = self.embedding(ids, training=training)
        return self.run_rnns(x, states, training)

    def run(
        self, ids: Tensor, states: States, training: bool = False
    ) -> tuple[Tensor, States]:
        """Predicts every next token, starting from given states.

        Args:
            ids: Integer tensor of shape `(batch, time)`.
            states: List of tensors of shape `(batch, size)`, the states before
                the first token; those of a new text are `initial_states`.
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
        if not self.built:
            self.build()
        x, states = self._read(ids, states, training)
        return self.output_projection(x), states

    def with_batch_size(self, batch_size: int | None) -> Self:
        """Returns a copy, weights included, for batches of another size.

        Args:
            batch_size: Positive integer; `None` for a copy that carries no
                states from one batch to the next.
        """
        copy = type(self).from_config(
            self.get_config() | {"batch_size": batch_size, "name": None}
        )
        if not self.built:
            self.build()
        copy.build_from_config(self.get_build_config() or {})
        for new, old in zip(copy._parts, self._parts, strict=True):
            quantize_layers(new, quantized_layers(old))
            new.set_weights(old.get_weights())
        return copy

    def count_params(self) -> int:
        """Returns the number of parameters, without the carried states."""
        count = super().count_params()
        if self.batch_size is None:
            return count
        return count - self.carried.count_params()

    @property
    def _parts(self):
        """The layers that have weights, without the carried states."""
        return [self.embedding, self.stack, self.output_projection]
