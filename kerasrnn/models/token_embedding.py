"""Token embeddings with dropout of words and units."""

import math
from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import number
from kerasrnn.arguments import rate
from kerasrnn.typing import Config
from kerasrnn.typing import Initializer
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class TokenEmbedding(keras.layers.ReversibleEmbedding):
    """An embedding with dropout of whole words and single units.

        x_t = sqrt(embedding_dim) E[id_t]       E ~ N(0, 1 / embedding_dim)

    The scale is that of Vaswani et al. 2017, section 3.4. The inputs of the
    recurrent layers, and the logits of a tied output layer, start with unit
    variance. With Keras's smaller default, both stay close to 0 for epochs.

    Args:
        vocabulary_size: Positive integer.
        embedding_dim: Positive integer.
        dropout: Rate at which units are dropped.
        word_dropout: Rate at which whole embeddings of tokens are dropped.
        drop_types: Whether to drop a word at all its positions in a row, as in
            language models, instead of independently at each position.
        scale: Float, the factor before `E`; `None` for
            `sqrt(embedding_dim)`.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        ids: Integer tensor of shape `(batch, time)`; a negative id (padding
            that is not in the vocabulary) reads row 0.
        reverse: Whether to compute logits of shape
            `(batch, time, vocabulary_size)` from inputs of shape
            `(batch, time, embedding_dim)` instead, without dropout.
        training: Whether to apply dropout.

    Returns:
        Embeddings of shape `(batch, time, embedding_dim)`, or logits.

    Example:

    >>> embed = TokenEmbedding(20, 8, word_dropout=0.1)
    >>> embed(np.ones((2, 5), "int32")).shape
    (2, 5, 8)

    References:
        [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762),
        [Gal & Ghahramani, 2016](https://arxiv.org/abs/1512.05287),
        [Sennrich & Zhang, 2019](https://arxiv.org/abs/1905.11901).
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_dim: int,
        dropout: float = 0.0,
        word_dropout: float = 0.0,
        drop_types: bool = False,
        scale: float | None = None,
        embeddings_initializer: Initializer = None,
        **kwargs: Any,
    ) -> None:
        usual = keras.initializers.RandomNormal(stddev=embedding_dim**-0.5)
        super().__init__(
            vocabulary_size,
            embedding_dim,
            embeddings_initializer=embeddings_initializer or usual,
            **kwargs,
        )
        # Otherwise the largest product of a model would be computed in float32.
        self._given_dtype = self.reverse_dtype
        self.reverse_dtype: str = self.reverse_dtype or self.compute_dtype
        self.vocabulary_size = vocabulary_size
        self.embedding_dim = embedding_dim
        self.dropout = rate("dropout", dropout)
        self.word_dropout = rate("word_dropout", word_dropout)
        self.drop_types = drop_types
        if scale is not None:
            scale = number("embedding_scale", scale, minimum=0)
        self.scale = scale
        # Not `Dropout` layers: Keras does not quantize a layer with sublayers.
        self.seed_generator = keras.random.SeedGenerator()

    def assign_vectors(self, vectors: Tensor) -> None:
        """Sets the embeddings, scaled to the standard deviation of `E`.

        Args:
            vectors: Array of shape `(vocabulary_size, embedding_dim)`, such as
                pretrained word vectors.

        Raises:
            ValueError: when they are not finite, all numbers are equal, or the
                embeddings are quantized.
        """
        if self.quantization_mode:
            raise ValueError(
                "Quantized embeddings cannot be changed. Expected: "
                "`assign_vectors` before `quantize`. Received: "
                f"{self.quantization_mode}"
            )
        scale = vectors.std() * self.output_dim**0.5
        if not (math.isfinite(scale) and scale > 0):
            raise ValueError(
                "`vectors` must be finite, and not all equal. Received: "
                f"vectors with a standard deviation of {vectors.std()}"
            )
        self.embeddings.assign(vectors / scale)

    def call(
        self, inputs: Tensor, reverse: bool = False, training: bool = False
    ) -> Tensor:
        return self._call(super().call, inputs, reverse, training)

    def quantized_call(
        self, inputs: Tensor, reverse: bool = False, training: bool = False
    ) -> Tensor:
        return self._call(super().quantized_call, inputs, reverse, training)

    @property
    def factor(self) -> float:
        """The factor on the embeddings."""
        return self.output_dim**0.5 if self.scale is None else self.scale

    def _call(self, call, inputs, reverse, training):
        """Looks up with the base class, then scales and applies dropout."""
        if reverse:
            return call(inputs, reverse=True)
        ids = ops.maximum(inputs, 0)
        x = call(ids) * self.factor
        if not training:
            return x
        if self.word_dropout:
            x = x * ops.expand_dims(self._kept_words(ids, x.dtype), -1)
        return self._dropped(x, self.dropout)

    def _kept_words(self, ids, dtype):
        """Returns the factor of each word, 0 where it is dropped."""
        if not self.drop_types:
            return self._dropped(ops.ones_like(ids, dtype), self.word_dropout)
        # After sorting, equal ids are neighbours. Each id uses the random
        # number at the index of its type in the row.
        order = ops.argsort(ids, axis=1)
        ordered = ops.take_along_axis(ids, order, axis=1)
        is_new = ops.not_equal(ordered[:, 1:], ordered[:, :-1])
        first = ops.zeros_like(ordered[:, :1], "int32")
        is_new = ops.concatenate([first, ops.cast(is_new, "int32")], axis=1)
        number = ops.cumsum(is_new, axis=1)
        draws = self._dropped(ops.ones_like(ids, dtype), self.word_dropout)
        kept = ops.take_along_axis(draws, number, axis=1)
        return ops.take_along_axis(kept, ops.argsort(order, axis=1), axis=1)

    def _dropped(self, x, rate):
        return (
            keras.random.dropout(x, rate, seed=self.seed_generator)
            if rate
            else x
        )

    def quantize(
        self, mode: str, type_check: bool = True, config: Any = None
    ) -> None:
        super().quantize(mode, type_check=False, config=config)

    def compute_output_spec(
        self, inputs: Tensor, reverse: bool = False, training: bool = False
    ) -> keras.KerasTensor:
        return super().compute_output_spec(inputs, reverse=reverse)

    def get_config(self) -> Config:
        config = super().get_config()
        # Not the default that follows from the dtype policy.
        config["reverse_dtype"] = self._given_dtype
        return {
            "vocabulary_size": config.pop("input_dim"),
            "embedding_dim": config.pop("output_dim"),
            "dropout": self.dropout,
            "word_dropout": self.word_dropout,
            "drop_types": self.drop_types,
            "scale": self.scale,
            **config,
        }
