"""Language models."""

import math
from collections.abc import Sequence
from typing import Any
from typing import Self

import keras
from keras import ops

from kerasrnn.arguments import number
from kerasrnn.arguments import optional_positive_integer
from kerasrnn.arguments import positive_integer
from kerasrnn.distribute import sum_over_replicas
from kerasrnn.distribute.replicas import replica_count
from kerasrnn.layers.loop import cells
from kerasrnn.layers.quantization import quantize_layers
from kerasrnn.layers.quantization import quantized_layers
from kerasrnn.models.model import RecurrentModel
from kerasrnn.models.token_embedding import TokenEmbedding
from kerasrnn.models.token_output import TokenOutput
from kerasrnn.saving import Configured
from kerasrnn.saving import build_once
from kerasrnn.typing import Initializer
from kerasrnn.typing import Shape
from kerasrnn.typing import States
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class CarriedStates(Configured, keras.layers.Layer):
    """Stores recurrent states between the batches of `fit` and `evaluate`.

    Training and evaluation have separate states, so that validation between
    epochs does not change those of training. Under `tf.distribute`, each
    replica stores the states of its own rows of the batch.

    Args:
        batch_size: Positive integer, the number of rows in a batch.
        sizes: List of integers, widths of the states.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        initial: List of tensors of shape `(batch, size)`, the initial states of
            fresh rows. There may be fewer rows than `batch_size`, such as those
            of one replica.
        fresh: Boolean or integer tensor of shape `(batch,)`: which rows start
            from `initial`.
        training: Whether to use the states of training, not those of
            evaluation.

    Returns:
        The states, a list of tensors of shape `(batch, size)`.

    Example:

    >>> carried = CarriedStates(2, [3])
    >>> zeros, ones = np.zeros((2, 3)), np.ones((2, 3))
    >>> _ = carried([zeros], np.array([True, True]))
    >>> carried.keep([ones])
    >>> (states,) = carried([zeros], np.array([False, True]))
    >>> ops.convert_to_numpy(states).tolist()
    [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    """

    def __init__(
        self, batch_size: int, sizes: Sequence[int], **kwargs: Any
    ) -> None:
        # Half precision would round the states of each batch.
        super().__init__(**{**kwargs, "autocast": False})
        self.batch_size = batch_size
        self.sizes = list(sizes)

    def build(self, *shapes: Any) -> None:
        self.of_training, self.of_evaluation = (
            [
                self._add_state(size, f"{name}_state_{i}")
                for i, size in enumerate(self.sizes)
            ]
            for name in ("training", "evaluation")
        )

    def _add_state(self, size, name):
        # `add_weight` has no `synchronization`. The first replica is saved.
        with keras.name_scope(self.name, caller=self):
            return keras.Variable(
                shape=(self.batch_size, size),
                initializer="zeros",
                dtype=self.variable_dtype,
                trainable=False,
                autocast=False,
                aggregation="only_first_replica",
                synchronization="on_read",
                name=name,
            )

    def call(
        self, initial: States, fresh: Tensor, training: bool = False
    ) -> States:
        rows = ops.shape(fresh)[0]
        fresh = ops.expand_dims(ops.cast(fresh, "bool"), -1)
        return [
            ops.where(fresh, start, ops.cast(variable[:rows], start.dtype))
            for start, variable in zip(
                initial, self._states(training), strict=True
            )
        ]

    def keep(self, states: States, training: bool = False) -> None:
        """Stores the states that the next batch continues from."""
        for variable, state in zip(self._states(training), states, strict=True):
            state = ops.cast(state, variable.dtype)
            rest = variable[ops.shape(state)[0] :]
            variable.assign(ops.concatenate([state, rest]))

    def _states(self, training):
        return self.of_training if training else self.of_evaluation


def check_rows(ids, fresh, batch_size, replicas):
    """Checks that a batch fits the states that a model carries.

    Args:
        ids: Integer tensor of shape `(batch, time)`.
        fresh: Tensor of shape `(batch,)`: which rows start from initial states.
        batch_size: Integer, number of rows with carried states; `None` for a
            model without carried states.
        replicas: Positive integer, number of replicas that share the rows.

    Raises:
        ValueError: when the batch has more rows than a replica carries, the two
            tensors have different numbers of rows, or the rows cannot be
            divided equally among replicas.
    """
    most = batch_size // replicas if batch_size else -1
    # A number is `None` while a graph is traced.
    found = {ids.shape[0], *fresh.shape[:1]} - {None}
    if (
        len(fresh.shape) != 1
        or len(found) > 1
        or max(found, default=most) > most
    ):
        raise ValueError(
            "To carry states, a LanguageModel needs `batch_size`, the number "
            "of rows of each batch (the last one may have fewer), and `fresh` "
            "must have one entry for each row. Under `tf.distribute`, each "
            "replica gets its share of the rows. Received: "
            f"batch_size={batch_size}, ids of shape {ids.shape}, fresh of "
            f"shape {fresh.shape}"
        )


@keras.saving.register_keras_serializable("kerasrnn")
class LanguageModel(RecurrentModel):
    """Predicts every token of a text from the tokens before it.

    It consists of an embedding, recurrent layers and a softmax over the
    vocabulary, which by default shares the weights of the embedding (Press &
    Wolf 2017).

    With `batch_size` it trains by truncated backpropagation through time: a
    batch holds the next window of each of `batch_size` texts, and the recurrent
    states continue from the previous window, except in rows that the batch
    marks as `fresh`. Training and evaluation have separate states.

    With `augmented_loss`, each word `y` also teaches the model about words with
    similar embeddings `e`. For logits `z` over `V` words and a temperature `T`,
    `fit` adds a multiple of

        - T sum_v q_v log(V p_v)      q = softmax(E e_y / T), p = softmax(z / T)

    Labels must then be ids, negative for padding. The training loss may become
    negative, and `val_loss` does not contain the added term, so compare
    perplexities instead.

    Args:
        vocabulary_size: Positive integer.
        cell: A recurrent cell, such as `RHNCell(300, depth=5)`, or one that
            attends to its past, such as
            `SelfAttentionCell(GAMRHNCell(...), "additive")`. It is a
            template: every layer runs a copy of it with `FastRNN`, which is
            fast with the cells of this package.
        embedding_dim: Positive integer, width of the embeddings; `None` for the
            width of the cell's output. If tied embeddings have another width, a
            linear projection precedes the softmax.
        depth: Positive integer, number of layers.
        tie_embeddings: Whether the softmax shares the embedding's weights.
        dropout: Rate of the variational dropout (Gal & Ghahramani 2016) of the
            embeddings, between layers and before the softmax: one mask for all
            steps of a batch. Recurrent dropout is an argument of the cell.
        word_dropout: Rate at which a word type is dropped, wherever it occurs
            in a row.
        embeddings_initializer: Initializer of the embedding; `None` for normal
            with variance `1 / embedding_dim`.
        embedding_scale: Float, the factor on the embeddings that the cell
            reads; `None` for `sqrt(embedding_dim)`.
        batch_size: Positive integer, the number of rows in a batch, whose
            states are carried from batch to batch; `None` for a model that
            starts every batch from initial states. A batch, such as the last
            one of `evaluate`, may have fewer rows, which continue the first
            rows. Under `tf.distribute` it is the global batch size, as in
            `fit`.
        augmented_loss: Float, 0 or more, the weight of the augmented loss
            (Inan et al. 2017), which `fit` adds to the one given to
            `compile`; see above.
        loss_temperature: Positive float, `T` of the augmented loss.
        sampled_words: Positive integer, number of words that `fit` draws for
            each batch and scores in addition to the true ones
            (`sampled_logits`). `None` scores all words, which is most of the
            work with a large vocabulary. With sampling, labels must be ids,
            negative for padding, and the metrics of `fit` are those of the
            first row of each batch.
        **kwargs: Base model arguments, such as `name` and `dtype`; the cell
            keeps its own dtype.

    Call arguments:
        inputs: Integer tensor of ids, of shape `(batch, time)`; with
            `batch_size` it may be a dictionary of `"ids"` and `"fresh"`, a
            boolean tensor of shape `(batch,)` (integers under `tf.distribute`,
            as Keras requires). With ids alone, every batch starts from initial
            states, so `fit` and `evaluate` of a model with `batch_size` refuse
            them.
        training: Whether to behave as in training (dropout).

    Returns:
        Logits of shape `(batch, time, vocabulary_size)`; in training with
        `sampled_words`, a dictionary of the `"outputs"` before the output
        layer, and the logits of the `"first_row"`.

    Masking: padding on the right affects no token before it; mask it in the
    loss.

    Raises:
        ValueError: when a size is not positive, a rate is not in `[0, 1)`, or
            `cell` is not a recurrent cell; when the weight of the augmented
            loss is negative or its temperature not positive, or when it is
            combined with labels that are not ids, quantized embeddings or
            `sampled_words`; when the loss treats a word as padding and
            `sampled_words` is set; when `"fresh"` is given to a model without
            `batch_size`, or the batch has more rows than `batch_size`.

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
        super().__init__(**kwargs)
        cells.check_vectors(cell, "LanguageModel")
        self.augmented_loss = number(
            "augmented_loss", augmented_loss, minimum=0
        )
        self.loss_temperature = number(
            "loss_temperature", loss_temperature, above=0
        )
        self.sampled_words = optional_positive_integer(
            "sampled_words", sampled_words
        )
        if sampled_words and augmented_loss:
            raise ValueError(
                "The augmented loss needs the logits of all words. Expected: "
                f"`sampled_words=None`. Received: sampled_words={sampled_words}"
            )
        if sampled_words:
            self.seed_generator = keras.random.SeedGenerator()
        self.vocabulary_size = positive_integer(
            "vocabulary_size", vocabulary_size
        )
        if embedding_dim is None:
            embedding_dim = cells.output_size(cell)
        self.embedding_dim = positive_integer("embedding_dim", embedding_dim)
        self.tie_embeddings, self.word_dropout = tie_embeddings, word_dropout
        self.embedding_scale = embedding_scale
        self.batch_size = optional_positive_integer("batch_size", batch_size)
        self.embedding = TokenEmbedding(
            self.vocabulary_size,
            self.embedding_dim,
            word_dropout=word_dropout,
            drop_types=True,
            scale=embedding_scale,
            dtype=self.dtype_policy,
            embeddings_initializer=embeddings_initializer,
            name="embedding",
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
                dtype=cell.dtype_policy,
                name="carried",
            )

    @property
    def embeddings_initializer(self) -> Initializer:
        """The initializer of the embeddings."""
        return self.embedding.embeddings_initializer

    def build(self, input_shape: Shape | None = None) -> None:
        self.embedding.build((None, None))
        self.stack.build((None, None, self.embedding_dim))
        self.output_projection.build((None, None, self.stack.output_size))
        if self.batch_size is not None:
            self.carried.build()

    def call(
        self, inputs: Tensor | dict[str, Tensor], training: bool = False
    ) -> Tensor | dict[str, Tensor]:
        if not isinstance(inputs, dict):
            states = self.initial_states(ops.shape(inputs)[0])
            return self._answer(inputs, states, training)[0]
        ids, fresh = inputs["ids"], inputs["fresh"]
        check_rows(ids, fresh, self.batch_size, replica_count(self))
        states = self.carried(
            self.initial_states(ops.shape(ids)[0]), fresh, training=training
        )
        answer, states = self._answer(ids, states, training)
        self.carried.keep(states, training=training)
        return answer

    def embed(self, inputs: Tensor, training: bool = False) -> Tensor:
        return self.embedding(inputs, training=training)

    def _answer(self, ids, states, training):
        if not (training and self.sampled_words):
            return self.run(ids, states, training)
        outputs, states = self.run_rnns(
            self.embed(ids, training), states, training
        )
        return {
            "outputs": outputs,
            "first_row": self.output_projection(outputs[:1]),
        }, states

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Tensor:
        if self.batch_size is not None and not isinstance(x, dict):
            raise ValueError(
                "A model with carried states is trained and evaluated on "
                'dictionaries of "ids" and "fresh", which `text_windows` '
                "makes. With ids alone, every batch would start from initial "
                "states. Expected: such dictionaries, or, for unrelated texts, "
                "the model that `with_batch_size(None)` returns. Received: "
                f"batch_size={self.batch_size}, ids alone"
            )
        if self.sampled_words and isinstance(y_pred, dict):
            pad_id = getattr(self.loss, "pad_id", -1)
            if pad_id >= 0:
                raise ValueError(
                    "With `sampled_words`, labels of padding must be negative. "
                    "Expected: a loss such as `TokenCrossentropy(-1)`. "
                    f"Received: one with pad_id={pad_id}"
                )
            y_pred = sampled_logits(
                self.output_projection,
                y_pred["outputs"],
                y,
                self.sampled_words,
                self.seed_generator,
            )
            # The true word comes first; padding stays negative.
            y = ops.minimum(y, 0)
        loss = super().compute_loss(x, y, y_pred, sample_weight, training)
        if not (training and self.augmented_loss):
            return loss
        mode = self.embedding.quantization_mode
        if mode or len(y.shape) != 2:
            raise ValueError(
                "The augmented loss needs labels of shape (batch, time) and "
                "embeddings that are not quantized. Received: labels of shape "
                f"{tuple(y.shape)}, embeddings in "
                f"{mode or self.embedding.compute_dtype!r}"
            )
        added = augmented_loss(
            ops.cast(self.embedding.embeddings, self.compute_dtype),
            ops.cast(y, "int32"),
            y_pred,
            self.loss_temperature,
            sample_weight,
        )
        # Keras sums the losses of replicas.
        added = added * (self.augmented_loss / replica_count(self))
        return loss + ops.cast(added, loss.dtype)

    def compute_metrics(
        self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None
    ) -> dict[str, Any]:
        if isinstance(y_pred, dict):
            y, y_pred = y[:1], y_pred["first_row"]
            if sample_weight is not None:
                sample_weight = sample_weight[:1]
        return super().compute_metrics(x, y, y_pred, sample_weight)

    def with_batch_size(self, batch_size: int | None) -> Self:
        """Returns a copy with the same weights for another batch size.

        Args:
            batch_size: Positive integer; `None` for a copy that carries no
                states between batches.
        """
        copy = type(self).from_config(
            self.get_config() | {"batch_size": batch_size, "name": None}
        )
        build_once(self)
        copy.build_from_config(self.get_build_config() or {})
        for new, old in zip(copy._parts, self._parts, strict=True):
            quantize_layers(new, quantized_layers(old))
            new.set_weights(old.get_weights())
        return copy

    def count_params(self) -> int:
        """Returns the number of parameters, without the carried states."""
        count = super().count_params()
        carries = self.batch_size is not None
        return count - self.carried.count_params() if carries else count

    @property
    def _parts(self):
        """The layers with weights, without the carried states."""
        return [self.embedding, self.stack, self.output_projection]


def augmented_loss(embeddings, words, logits, temperature, sample_weight=None):
    """Computes the augmented loss of Inan et al. 2017.

    For embeddings `E` of `V` words, a true word `y`, logits `z` and a
    temperature `T`:

        q = softmax(E e_y / T)      p = softmax(z / T)
        loss = - T sum_v q_v log(V p_v)

    It is 0 for a uniform prediction. Similar words have similar embeddings, so
    each word also teaches the model about words that could replace it. `q` is a
    constant: no gradient flows through it.

    Args:
        embeddings: Tensor of shape `(vocabulary_size, dim)`, in the dtype to
            multiply in.
        words: Integer tensor of shape `(batch, time)`; negative is padding.
        logits: Tensor of shape `(batch, time, vocabulary_size)`.
        temperature: Positive float.
        sample_weight: Optional tensor of shape `(batch,)` or `(batch, time)`,
            factors on the losses of the words.

    Returns:
        A float32 scalar, the mean over all words that are not padding (of all
        replicas).
    """
    embeddings = ops.stop_gradient(ops.convert_to_tensor(embeddings))
    true = ops.take(embeddings, ops.maximum(words, 0), axis=0) / temperature
    true = ops.reshape(true, (-1, embeddings.shape[-1]))
    similarities = ops.matmul(true, ops.transpose(embeddings))
    size = logits.shape[-1]
    losses = ops.categorical_crossentropy(
        ops.softmax(ops.cast(similarities, "float32")),
        ops.cast(ops.reshape(logits, (-1, size)), "float32") / temperature,
        from_logits=True,
    )
    losses = temperature * (losses - math.log(size))
    losses = ops.reshape(losses, ops.shape(words))
    # `where` instead of a product with 0, because logits of padding may be
    # infinite.
    losses = ops.where(words >= 0, losses, 0.0)
    if sample_weight is not None:
        weights = ops.cast(sample_weight, losses.dtype)
        losses = losses * ops.reshape(weights, (ops.shape(words)[0], -1))
    count = sum_over_replicas(ops.sum(ops.cast(words >= 0, losses.dtype)))
    return sum_over_replicas(ops.sum(losses)) / ops.maximum(count, 1.0)


_NEVER = -1e9


def sampled_logits(
    output: TokenOutput,
    outputs: Tensor,
    words: Tensor,
    count: int,
    seed: keras.random.SeedGenerator,
) -> Tensor:
    """Scores the true word of each step, and words drawn for all steps.

    A word `v` of rank `r` (0 for the most frequent word) is drawn with the
    probability

        Q(v) = log((r + 2) / (r + 1)) / log(V + 1)

    which approximates the distribution of words in texts (Zipf).
    `log(count Q(v))` is subtracted from its logit, so that the expected sum of
    the exponentials of all draws equals that of all words. With more draws, the
    cross-entropy approaches that of all words. A draw that is the true word of
    a step is ignored there.

    Args:
        output: A built `TokenOutput`. Its words must be numbered by decreasing
            frequency, as in the tokenizers of this package.
        outputs: Tensor of shape `(batch, time, dim)`.
        words: Integer tensor of shape `(batch, time)`, the true words. Negative
            ones are padding, and are scored as word 0.
        count: Positive integer, number of words to draw.
        seed: A `SeedGenerator`.

    Returns:
        Float32 tensor of shape `(batch, time, 1 + count)`; the true word is the
        first.

    References:
        [Bengio & Senécal, 2008](https://doi.org/10.1109/TNN.2007.912312) and
        [Jean et al., 2015](https://aclanthology.org/P15-1001).
    """
    size = output.vocabulary_size
    words = ops.maximum(ops.cast(words, "int32"), 0)
    uniform = keras.random.uniform((count,), seed=seed, dtype="float32")
    drawn = ops.cast(ops.exp(uniform * math.log(size + 1)), "int32") - 1
    drawn = ops.clip(drawn, 0, size - 1)
    outputs = output.projected(outputs)
    kernel, bias = output.select(ops.expand_dims(drawn, 0))
    others = ops.matmul(outputs, kernel[0]) + bias[0]
    rank = ops.cast(drawn, "float32")
    share = ops.log1p(1 / (rank + 1)) / math.log(size + 1)
    others = ops.cast(others, "float32") - ops.log(count * share)
    is_right = ops.equal(ops.expand_dims(words, -1), drawn)
    others = ops.where(is_right, _NEVER, others)
    right = output.scores_of(outputs, words)
    return ops.concatenate([ops.expand_dims(right, -1), others], axis=-1)
