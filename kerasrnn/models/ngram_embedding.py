"""Embeddings of frequent n-grams of tokens."""

from collections.abc import Iterable
from typing import Any

import keras
import numpy as np
from keras import ops

from kerasrnn.arguments import integer
from kerasrnn.arguments import positive_integer
from kerasrnn.arguments import rate
from kerasrnn.layers.quantization import KeepsQuantization
from kerasrnn.models.model import ReadsIds
from kerasrnn.saving import Configured
from kerasrnn.saving import build_once
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor

# Odd and close to 2**32 / 1.618, as in Fibonacci hashing.
_FACTOR = 1_640_531_527
# Number of rows in a bucket.
_WAYS = 8
# The key of an unused row.
_NONE = 2**31 - 1


@keras.saving.register_keras_serializable("kerasrnn")
class NgramEmbedding(ReadsIds, Configured, KeepsQuantization):
    """Embeddings of the n-grams that end at each token.

        x_t = sqrt(rank) P sum_n E[row(id_{t-n+1} ... id_t)]

    for n from 2 to `longest`. N-grams that `adapt` did not find often enough,
    and those that start before the first token, have no row and add nothing.
    `E` starts at 0, so n-grams do not change an untrained model.

    An n-gram is identified by a 32-bit hash. With 500,000 rows, about one in
    8,600 unseen n-grams is mistaken for a stored one. The hash selects a bucket
    of 8 rows. If more than 8 n-grams fall into a bucket, the most frequent ones
    are kept. With 1.5 rows per n-gram, few are left out.

    Args:
        size: Positive integer, the number of rows, rounded up to a multiple of
            8.
        embedding_dim: Positive integer, width of `x_t`.
        rank: Positive integer, width of `E`.
        longest: Integer, at least 2, the length of the longest n-gram in
            tokens.
        dropout: Rate at which whole n-grams are dropped in training,
            independently of the word dropout of an encoder.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        ids: Integer tensor of shape `(batch, time)`.
        training: Whether to apply dropout.

    Returns:
        Tensor of shape `(batch, time, embedding_dim)`.

    Raises:
        ValueError: when a size is not positive, `longest` is below 2, or
            `dropout` is not in `[0, 1)`.

    Example:

    >>> ngrams = NgramEmbedding(size=100, embedding_dim=8)
    >>> ngrams.adapt([[4, 5, 6], [4, 5, 7]], min_count=2)
    1
    >>> ngrams(np.array([[4, 5, 9]])).shape
    (1, 3, 8)

    References:
        [Wang & Manning, 2012](https://aclanthology.org/P12-2018) for n-grams,
        [Bojanowski et al., 2017](https://arxiv.org/abs/1607.04606) for hashes.
    """

    def __init__(
        self,
        size: int,
        embedding_dim: int,
        rank: int = 32,
        longest: int = 3,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.size = positive_integer("size", size)
        self._buckets = -(-self.size // _WAYS)
        self.embedding_dim = positive_integer("embedding_dim", embedding_dim)
        self.rank = positive_integer("rank", rank)
        self.longest = integer("longest", longest, minimum=2)
        self.dropout = rate("dropout", dropout)
        self.embedding = keras.layers.Embedding(
            self._buckets * _WAYS,
            self.rank,
            embeddings_initializer="zeros",
            dtype=self.dtype_policy,
            name="embedding",
        )
        self.projection = keras.layers.Dense(
            self.embedding_dim,
            use_bias=False,
            dtype=self.dtype_policy,
            name="projection",
        )
        self.seed_generator = keras.random.SeedGenerator()

    def build(self, ids_shape: Shape) -> None:
        # The hash of each row's n-gram, by bucket. TensorFlow has int32
        # variables only on CPUs.
        self.keys = self.add_weight(
            (self._buckets, _WAYS),
            keras.initializers.Constant(_NONE),
            dtype=keras.backend.standardize_dtype("int"),
            trainable=False,
            name="keys",
        )
        self.embedding.build(ids_shape)
        self.projection.build((*ids_shape, self.rank))

    def adapt(self, texts: Iterable[Any], min_count: int = 5) -> int:
        """Assigns rows to the most frequent n-grams of texts.

        All rows are reset to 0.

        Args:
            texts: Iterable of lists or arrays of ids, without padding, such as
                `kerasrnn.data.id_rows`.
            min_count: Positive integer, minimum count of an n-gram.

        Returns:
            The number of n-grams that have a row.

        Raises:
            ValueError: when the layer is quantized.
        """
        positive_integer("min_count", min_count)
        if self.embedding.quantization_mode:
            raise ValueError(
                "Quantized embeddings cannot be trained. Expected: `adapt` "
                "before `quantize`. Received: "
                f"{self.embedding.quantization_mode}"
            )
        build_once(self, (None, None))
        hashes = [np.zeros(0, "int32")]
        for text in texts:
            of_row = _hashes(np.asarray(text, "int32")[None], self.longest, np)[
                0
            ]
            hashes += [of_row[n:, n - 1] for n in range(1, self.longest)]
        keys, counts = np.unique(np.concatenate(hashes), return_counts=True)
        frequent = counts >= min_count
        keys, counts = keys[frequent], counts[frequent]
        buckets = _mixed(keys) % self._buckets
        order = np.lexsort((-counts, buckets))
        keys, buckets = keys[order], buckets[order]
        ways = np.arange(len(keys)) - np.searchsorted(buckets, buckets)
        kept = ways < _WAYS
        table = np.full(self.keys.shape, _NONE)
        table[buckets[kept], ways[kept]] = keys[kept]
        self.keys.assign(table)
        table = self.embedding.embeddings
        table.assign(np.zeros(table.shape))
        return int(kept.sum())

    def call(self, ids: Tensor, training: bool = False) -> Tensor:
        hashes = _hashes(ops.cast(ids, "int32"), self.longest, ops)
        buckets = ops.mod(_mixed(hashes), self._buckets)
        keys = ops.cast(ops.take(self.keys, buckets, axis=0), "int32")
        found = ops.equal(keys, ops.expand_dims(hashes, -1))
        way = ops.argmax(ops.cast(found, "int32"), axis=-1)
        rows = buckets * _WAYS + ops.cast(way, "int32")
        known = ops.cast(ops.any(found, axis=-1), self.compute_dtype)
        if training and self.dropout:
            known = keras.random.dropout(
                known, self.dropout, seed=self.seed_generator
            )
        x = self.embedding(rows) * ops.expand_dims(known, -1)
        return self.projection(ops.sum(x, axis=2) * self.rank**0.5)


def _hashes(ids, longest, backend):
    """Returns hashes of the n-grams that end at each token.

        sum_k factor**k id_{t-k} + n factor**n         k = 0 ... n - 1

    Args:
        ids: Int32 tensor of shape `(batch, time)`. 32-bit integers overflow in
            the same way on all backends.
        longest: Integer, length of the longest n-gram in tokens.
        backend: `numpy` or `keras.ops`.

    Returns:
        Int32 tensor of shape `(batch, time, longest - 1)`.
    """
    time, total, found = backend.shape(ids)[1], ids, []
    for k in range(1, longest):
        # Before the first token, ids are -1.
        past = backend.pad(ids, [[0, 0], [k, 0]], constant_values=-1)
        total = total + past[:, :time] * _power(k)
        n = k + 1
        found.append(total + _power(n, n))
    return backend.stack(found, axis=-1)


def _power(exponent, times=1):
    """Returns a multiple of a power of the factor, with 32-bit overflow."""
    return np.uint32(times * pow(_FACTOR, exponent, 2**32) % 2**32).astype(
        "int32"
    )


def _mixed(hashes):
    """Maps 32-bit hashes one-to-one to other 32-bit integers.

    The hashes of successive ids are equidistant, so without this, most would
    fall into few buckets.
    """
    return hashes * (2 * hashes + 1)
