"""Attention mechanisms whose memory is kept as it is, without projections."""

from typing import Unpack

import keras
from keras import ops

from kerasrnn.layers.attention.dot_score import dot_score
from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.layers.attention.multi_head_attention import MultiHeadDotAttention
from kerasrnn.layers.attention.projection import over_last
from kerasrnn.layers.initializers import reseeded
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


class MemoryMultiHeadAttention(MultiHeadDotAttention):
    """`MultiHeadDotAttention` that projects queries instead of keys.

        (W_q q) . (W_k k) = (W_k' W_q q) . k
        sum_i alpha_i W_v v_i = W_v sum_i alpha_i v_i

    The result is the same. A memory that grows by a few positions at a time is
    not projected again.
    """

    def keys_and_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        return memory, memory

    def projected_shapes(
        self, query_dim: int, memory_dim: int
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (memory_dim,), (memory_dim,)

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        query = over_last(self.query_kernel, query) / self.head_dim**0.5
        queries = [
            over_last(ops.transpose(kernel), q)
            for q, kernel in zip(
                self._parts(query), self._parts(self.key_kernel), strict=True
            )
        ]
        return self._of_heads(ops.stack(queries, 1), ops.swapaxes(keys, 1, 2))

    def read(
        self, weights: Tensor, values: Tensor, noise: dict[str, Tensor]
    ) -> Tensor:
        means = self._of_heads(ops.cast(weights, values.dtype), values)
        contexts = [
            over_last(kernel, means[:, head])
            for head, kernel in enumerate(self._parts(self.value_kernel))
        ]
        return over_last(self.output_kernel, ops.concatenate(contexts, -1))

    def _parts(self, x):
        """Splits the last axis between the heads."""
        return ops.split(x, self.num_heads, axis=-1)

    def _of_heads(self, x, matrix):
        """Multiplies all heads `(batch, heads, queries, dim)` by a matrix."""
        shape = ops.shape(x)
        flat = (shape[0], self.num_heads * shape[2], shape[3])
        flat = ops.matmul(ops.reshape(x, flat), matrix)
        return ops.reshape(flat, (*shape[:3], ops.shape(flat)[-1]))


class GatedAttention(AttentionMechanism):
    """The single-headed attention of SHA-RNN (Merity 2019).

        q' = sigmoid(g_q) * LayerNorm(W_q q + b_q)
        k'_i = sigmoid(g_k) * k_i
        v'_i = sigmoid(f) * tanh(c) * v_i    [c; f] = W_v sigmoid(g_v) + b_v
        score(q, k_i) = q' . k'_i / sqrt(dim)
        context = sum_i alpha_i v'_i

    Only the query passes a matrix. The gates of keys and values are vectors,
    the same for all positions, so they are applied to query and context.
    """

    def __init__(
        self,
        kernel_initializer: Initializer,
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(dropout, seed, **kwargs)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build(self, query_shape: Shape, memory_shape: Shape) -> None:
        width = memory_shape[-1]
        self.query_projection, self.value_gate = (
            keras.layers.Dense(
                units,
                kernel_initializer=reseeded(self.kernel_initializer, units),
                dtype=self.dtype_policy,
            )
            for units in (width, 2 * width)
        )
        self.query_projection.build((None, query_shape[-1]))
        self.value_gate.build((None, width))
        self.query_norm = keras.layers.LayerNormalization(
            epsilon=1e-5, dtype=self.dtype_policy
        )
        self.query_norm.build((None, None, width))
        self.gates = self.add_weight(
            shape=(3, width), initializer="zeros", name="gates"
        )

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        query = self.query_norm(over_last(self.query_projection, query))
        gates = ops.cast(ops.sigmoid(self.gates), query.dtype)
        of_query, of_key, _ = ops.unstack(gates)
        query = query * (of_query * of_key / query.shape[-1] ** 0.5)
        return dot_score(query, keys)

    def read(
        self, weights: Tensor, values: Tensor, noise: dict[str, Tensor]
    ) -> Tensor:
        gate = self.value_gate(ops.sigmoid(self.gates[2:]))
        content, opening = ops.split(gate, 2, axis=-1)
        gate = ops.sigmoid(opening) * ops.tanh(content)
        return gate * super().read(weights, values, noise)
