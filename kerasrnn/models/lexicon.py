"""Translation lexicons inside models, and shortlists."""

from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import number
from kerasrnn.arguments import positive_integer
from kerasrnn.models.model import ReadsIds
from kerasrnn.saving import Configured
from kerasrnn.saving import build_once
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class Lexicon(ReadsIds, Configured, keras.layers.Layer):
    """The most likely translations of each source word.

    For each source word `x` it holds the most likely `translations` and their
    probabilities `P(y | x)`; all others have probability 0. A decoder that
    attends to a source with the weights `a` adds to its logits

        log(sum_i a_i P(y | x_i) + epsilon)                 (Arthur et al. 2016)

    Translations and probabilities are non-trainable weights. `assign` sets
    them, for example to those of `kerasrnn.data.translation_lexicon`.

    Args:
        source_size: Positive integer, size of the source vocabulary.
        target_size: Positive integer, size of the target vocabulary.
        translations: Positive integer, the number of target words stored for
            each source word.
        epsilon: Float, added to the probabilities, so that other words remain
            possible.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        source: Integer tensor of shape `(batch, positions)`. A negative id
            (padding that is not in the vocabulary) has no translations.
        vocabulary: Optional integer tensor of shape `(batch, words)`, the ids
            of the target words to return, as a `Shortlist` chooses them.

    Returns:
        The probabilities `P(y | x_i)`, of shape
        `(batch, positions, target_size)` or `(batch, positions, words)`.

    Example:

    >>> lexicon = Lexicon(20, 30, translations=2)
    >>> lexicon.assign(np.tile([4, 7], (20, 1)), np.tile([0.9, 0.1], (20, 1)))
    >>> lexicon(np.ones((2, 5), "int32")).shape
    (2, 5, 30)

    Reference:
        [Arthur et al., 2016](https://arxiv.org/abs/1606.02006).
    """

    def __init__(
        self,
        source_size: int,
        target_size: int,
        translations: int = 200,
        epsilon: float = 1e-3,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.source_size = positive_integer("source_size", source_size)
        self.target_size = positive_integer("target_size", target_size)
        self.translations = positive_integer("translations", translations)
        self.epsilon = number("epsilon", epsilon, above=0)

    def build(self, source_shape: Shape | None = None) -> None:
        shape = self.source_size, self.translations
        self.ids = self.add_weight(
            shape=shape,
            initializer="zeros",
            dtype="int32",
            trainable=False,
            name="ids",
        )
        self.probabilities = self.add_weight(
            shape=shape,
            initializer="zeros",
            trainable=False,
            # In float32, because bfloat16 would round these small numbers.
            autocast=False,
            name="probabilities",
        )

    def assign(self, ids: Tensor, probabilities: Tensor) -> None:
        """Sets the translations of every source word.

        Args:
            ids: Integer array of shape `(source_size, translations)`.
            probabilities: Array of the same shape, 0 after the last translation
                of a word.

        Raises:
            ValueError: when an id is not in the target vocabulary.
        """
        # Such an id would count as a translation of another word.
        least, most = (int(find(ids)) for find in (ops.min, ops.max))
        if least < 0 or most >= self.target_size:
            raise ValueError(
                "`ids` must be in the target vocabulary. Expected: from 0 to "
                f"{self.target_size - 1}. Received: from {least} to {most}"
            )
        build_once(self)
        self.ids.assign(ids)
        self.probabilities.assign(probabilities)

    def call(self, source: Tensor, vocabulary: Tensor | None = None) -> Tensor:
        batch_size, positions = ops.shape(source)
        ids, probabilities = self._translate(ops.reshape(source, (-1,)))
        table = _spread(ids, probabilities, self.target_size)
        table = ops.reshape(table, (batch_size, positions, self.target_size))
        if vocabulary is None:
            return table
        vocabulary = ops.expand_dims(vocabulary, 1)
        return ops.take_along_axis(table, vocabulary, axis=2)

    def expect(self, source: Tensor) -> Tensor:
        """Returns the expected count of each target word in the translation.

        Args:
            source: Integer tensor of shape `(batch, positions)`.

        Returns:
            `sum_i P(y | x_i)`, of shape `(batch, target_size)`.
        """
        flat = ops.shape(source)[0], ops.shape(source)[1] * self.translations
        ids, probabilities = (
            ops.reshape(x, flat) for x in self._translate(source)
        )
        return _spread(ids, probabilities, self.target_size)

    def bias(self, weights: Tensor, table: Tensor) -> Tensor:
        """Returns the bias that a decoder adds to its logits.

        Args:
            weights: Attention weights of shape `(batch, time, positions)`.
            table: Probabilities of shape `(batch, positions, words)`.

        Returns:
            Tensor of shape `(batch, time, words)`.
        """
        likely = ops.matmul(weights, ops.cast(table, weights.dtype))
        return ops.log(likely + self.epsilon)

    def _translate(self, source):
        """Looks up source words: `(...)` -> two tensors `(..., n)`."""
        rows = ops.maximum(source, 0)
        probabilities = ops.take(self.probabilities, rows, axis=0)
        known = ops.cast(source >= 0, probabilities.dtype)
        probabilities = probabilities * ops.expand_dims(known, -1)
        return ops.take(self.ids, rows, axis=0), probabilities


def _spread(ids, values, size):
    """Sums values by their ids: `(rows, n)` -> `(rows, size)`."""
    rows = ops.shape(ids)[0]
    if ids.shape[0] == 0:
        # PyTorch needs a given number of segments.
        return ops.zeros((0, size), values.dtype)
    cells = _cells(ids, size)
    flat = ops.segment_sum(
        ops.reshape(values, (-1,)),
        ops.reshape(cells, (-1,)),
        num_segments=ops.cast(rows, cells.dtype) * size
        if ops.is_tensor(rows)
        else rows * size,
    )
    return ops.reshape(flat, (rows, size))


def _cells(ids, size):
    """Returns the positions of each row's ids in a flat table, `(rows, n)`.

    They are int64, except on JAX: with int32, a table is limited to 8 GiB.
    """
    rows = ops.shape(ids)[0]
    dtype = "int32" if keras.backend.backend() == "jax" else "int64"
    # While JAX infers shapes, the number of rows may be unknown.
    if dtype == "int32" and isinstance(rows, int) and rows * size > 2**31:
        raise ValueError(
            "On JAX, a lexicon supports at most 2**31 probabilities for a "
            "batch. Expected: fewer or shorter sentences in one call. "
            f"Received: {rows} words of {size} translations"
        )
    starts = ops.arange(rows, dtype=dtype) * size
    return ops.expand_dims(starts, 1) + ops.cast(ids, dtype)


@keras.saving.register_keras_serializable("kerasrnn")
class Shortlist(ReadsIds, Configured, keras.layers.Layer):
    """Chooses the target words to score for each sentence.

    The shortlist consists of the first `frequent` words of the target
    vocabulary, and of the words with the highest expected count in the
    translation,

        sum_i P(y | x_i)

    according to a lexicon. In decoding, the output layer scores only these
    words, because the product with the whole vocabulary takes most of the time
    of a step. Probabilities are normalized over the shortlist, so scores are a
    little higher. The shortlist of a sentence does not depend on the other
    sentences of its batch.

    Args:
        lexicon: The `Lexicon` of the decoder or a separate one.
        size: Positive integer, the number of words in a shortlist.
        frequent: Positive integer, the number of words from the start of the
            vocabulary, where tokenizers put the special tokens and the most
            frequent words. `None` for a quarter of `size`.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        source: Integer tensor of shape `(batch, positions)`. Padding must be
            negative or have no translations.

    Returns:
        Ids of shape `(batch, size)`, distinct within a row, for the argument
        `vocabulary` of `Translator.encode` and of the searches.

    Raises:
        ValueError: when `size` is not greater than `frequent`, or is greater
            than the target vocabulary.

    Example:

    >>> shortlist = Shortlist(Lexicon(200, 300), size=40, frequent=10)
    >>> shortlist(np.ones((2, 5), "int32")).shape
    (2, 40)

    References:
        [Jean et al., 2015](https://arxiv.org/abs/1412.2007), section 3.2,
        [Junczys-Dowmunt et al., 2018](https://arxiv.org/abs/1804.00344).
    """

    def __init__(
        self,
        lexicon: Lexicon,
        size: int = 800,
        frequent: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.lexicon = lexicon
        self.size = positive_integer("size", size)
        if frequent is None:
            frequent = max(1, self.size // 4)
        self.frequent = positive_integer("frequent", frequent)
        if not self.frequent < self.size <= lexicon.target_size:
            raise ValueError(
                "`size` must be greater than `frequent` and at most "
                f"{lexicon.target_size}, the size of the target vocabulary. "
                f"Received: size={size}, frequent={frequent}"
            )

    def build(self, source_shape: Shape) -> None:
        build_once(self.lexicon, source_shape)

    def call(self, source: Tensor) -> Tensor:
        expected = self.lexicon.expect(source)
        always = (
            ops.arange(self.lexicon.target_size, dtype="int32") < self.frequent
        )
        _, ids = ops.top_k(ops.where(always, float("inf"), expected), self.size)
        return ids
