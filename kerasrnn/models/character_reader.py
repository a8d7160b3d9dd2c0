"""Vectors of words from their characters."""

from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import integer
from kerasrnn.arguments import positive_integer
from kerasrnn.arguments import rate
from kerasrnn.layers.loop import cells
from kerasrnn.layers.quantization import KeepsQuantization
from kerasrnn.models.model import ReadsIds
from kerasrnn.models.rnn_stack import RNNStack
from kerasrnn.saving import Configured
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class CharacterReader(ReadsIds, Configured, KeepsQuantization):
    """Encodes the characters of each word as a vector.

    With a cell, recurrent layers read the word in both directions, and the
    vector consists of their final outputs (Lample et al. 2016). Without a cell,
    it is a convolution over the characters with max pooling (Ma & Hovy 2016).
    So words that are not in the vocabulary are represented by their spelling.

    Args:
        vocabulary_size: Positive integer, the number of characters.
        cell: A recurrent cell, copied for each direction; `None` for a
            convolution.
        embedding_dim: Positive integer, width of the character embeddings.
        filters: Positive integer, number of filters of the convolution.
        kernel_size: Positive integer, width of a filter in characters.
        dropout: Dropout rate of the character embeddings.
        pad_id: Id of padding.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        ids: Integer tensor of shape `(batch, time, characters)`, the ids of the
            characters of each word, padded on the right.
        training: Whether to behave as in training (dropout).

    Returns:
        Tensor of shape `(batch, time, output_size)`.

    Masking: padding has no influence. A word without characters has a vector of
    zeros.

    Raises:
        ValueError: when a size is not positive, or `dropout` not in `[0, 1)`.

    Example:

    >>> reader = CharacterReader(40, filters=8)
    >>> reader(np.ones((2, 5, 7), "int32")).shape
    (2, 5, 8)
    >>> reader = CharacterReader(40, FastLSTMCell(6))
    >>> reader(np.ones((2, 5, 7), "int32")).shape
    (2, 5, 12)

    References:
        [Lample et al., 2016](https://arxiv.org/abs/1603.01360),
        [Ma & Hovy, 2016](https://arxiv.org/abs/1603.01354).
    """

    def __init__(
        self,
        vocabulary_size: int,
        cell: keras.layers.Layer | None = None,
        embedding_dim: int = 30,
        filters: int = 50,
        kernel_size: int = 3,
        dropout: float = 0.0,
        pad_id: int = 0,
        **kwargs: Any,
    ) -> None:
        if cell is not None:
            kwargs = cells.options_of(cell, "CharacterReader", kwargs)
        super().__init__(**kwargs)
        self.vocabulary_size = positive_integer(
            "vocabulary_size", vocabulary_size
        )
        self.embedding_dim = positive_integer("embedding_dim", embedding_dim)
        self.filters = positive_integer("filters", filters)
        self.kernel_size = positive_integer("kernel_size", kernel_size)
        self.dropout = rate("dropout", dropout)
        self.pad_id = integer("pad_id", pad_id)
        self.embedding = keras.layers.Embedding(
            self.vocabulary_size,
            self.embedding_dim,
            dtype=self.dtype_policy,
            name="embedding",
        )
        self.unit_dropout = keras.layers.Dropout(
            dropout, dtype=self.dtype_policy
        )
        self.reader: keras.layers.Layer
        if cell is None:
            self.reader = keras.layers.Conv1D(
                self.filters,
                self.kernel_size,
                padding="same",
                dtype=self.dtype_policy,
                name="convolution",
            )
            self.output_size = self.filters
        else:
            self.reader = RNNStack(
                cell,
                bidirectional=True,
                seed_path="characters",
                dtype=self.dtype_policy,
                name="stack",
            )
            self.output_size = self.reader.output_size

    @property
    def cell(self) -> keras.layers.Layer | None:
        """The cell that reads forwards; `None` for a convolution."""
        return getattr(self.reader, "cell", None)

    def build(self, ids_shape: Shape) -> None:
        self.embedding.build((None, None))
        self.reader.build((None, None, self.embedding_dim))

    def call(self, ids: Tensor, training: bool = False) -> Tensor:
        rows, time, length = ops.shape(ids)
        ids = ops.reshape(ids, (-1, length))
        mask = ops.not_equal(ids, self.pad_id)
        x = self.embedding(ops.maximum(ids, 0))
        x = self.unit_dropout(x, training=training)
        vectors = (
            self._convolved(x, mask)
            if self.cell is None
            else self._read(x, mask, training)
        )
        return ops.reshape(vectors, (rows, time, self.output_size))

    def _convolved(self, x, mask):
        """Returns the maximum of each filter over the characters of a word."""
        mask = ops.expand_dims(mask, -1)
        x = self.reader(ops.where(mask, x, 0))
        x = ops.where(mask, x, ops.cast(-1e4, x.dtype))
        is_word = ops.any(mask, axis=1)
        return ops.where(is_word, ops.max(x, axis=1, initial=-1e4), 0)

    def _read(self, x, mask, training):
        """Returns the final outputs of both directions."""
        outputs, _ = self.reader(x, mask=mask, training=training)
        forward, backward = ops.split(outputs, 2, axis=-1)
        # After the last character, the output is repeated.
        return ops.concatenate([forward[:, -1], backward[:, 0]], axis=-1)
