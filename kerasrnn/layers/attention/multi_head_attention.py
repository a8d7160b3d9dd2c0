"""Multi-head dot-product attention over a memory."""

from typing import Any
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import optional_positive_integer
from kerasrnn.arguments import positive_integer
from kerasrnn.layers.attention.dot_attention import dot_score
from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.layers.attention.mechanism import over_last
from kerasrnn.layers.initializers import reseeded
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class MultiHeadDotAttention(AttentionMechanism):
    """Multi-head dot-product attention (Vaswani et al. 2017).

    For each head `j`:

        score_j(q, k) = (W_q^j q) . (W_k^j k) / sqrt(head_dim)
        context_j = sum_i alpha_{j,i} W_v^j v_i
        context = W_out [context_1; ...; context_{heads}]

    There are no biases. Keys and values are projected once per memory.

    Args:
        num_heads: Positive integer, number of heads.
        head_dim: Positive integer, width of a head.
        units: Positive integer, width of the context; `None` for the width
            of the query.
        kernel_initializer: Initializer of the four kernels.
        dropout: Float in `[0, 1)`, dropout rate of the attention weights.
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.

    Call arguments:
        query: Tensor of shape `(batch, queries, query_dim)`.
        memory: Tensor of shape `(batch, positions, memory_dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, positions)`,
            `True` at the positions that may be attended to.
        training: Whether to behave as in training (dropout).

    Returns:
        `(context, weights)` of shapes `(batch, queries, units)` and
        `(batch, queries, positions)`; the weights are the mean over the heads.
        Each head has its own dropout mask.

    Masking: a masked position has weight exactly 0. A memory that is fully
    masked gives a context of 0.

    Raises:
        ValueError: when `num_heads`, `head_dim` or `units` is not a positive
            integer.

    Example:

    >>> query, memory = np.ones((2, 1, 8)), np.ones((2, 5, 6))
    >>> context, weights = MultiHeadDotAttention(2, 4)(query, memory)
    >>> context.shape, weights.shape
    ((2, 1, 8), (2, 1, 5))

    Reference:
        [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762), section
        3.2.2.
    """

    names = {
        "multi_head": lambda width: {
            "num_heads": 4,
            "head_dim": max(1, width // 4),
        }
    }

    def __init__(
        self,
        num_heads: int,
        head_dim: int,
        units: int | None = None,
        kernel_initializer: Initializer = "glorot_uniform",
        *,
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(dropout=dropout, seed=seed, **kwargs)
        self.num_heads = positive_integer("num_heads", num_heads)
        self.head_dim = positive_integer("head_dim", head_dim)
        self.units = optional_positive_integer("units", units)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build(self, query_shape: Shape, memory_shape: Shape) -> None:
        width = self.num_heads * self.head_dim
        self._context_dim = self.units or query_shape[-1]

        def kernel(i, name, *shape):
            return self.add_weight(
                shape=shape,
                initializer=reseeded(self.kernel_initializer, i),
                name=name,
            )

        self.query_kernel = kernel(0, "query_kernel", query_shape[-1], width)
        self.key_kernel = kernel(1, "key_kernel", memory_shape[-1], width)
        self.value_kernel = kernel(2, "value_kernel", memory_shape[-1], width)
        self.output_kernel = kernel(
            3, "output_kernel", width, self._context_dim
        )

    def _split_heads(self, x):
        # (batch, length, heads * dim) -> (batch, heads, length, dim)
        shape = (*ops.shape(x)[:2], self.num_heads, self.head_dim)
        return ops.swapaxes(ops.reshape(x, shape), 1, 2)

    def keys_and_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        return (
            self._split_heads(over_last(self.key_kernel, memory)),
            self._split_heads(over_last(self.value_kernel, memory)),
        )

    def projected_shapes(
        self, query_dim: int, memory_dim: int
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return ((self.num_heads, self.head_dim),) * 2

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        query = self._split_heads(over_last(self.query_kernel, query))
        return dot_score(query, keys) / self.head_dim**0.5

    def align(
        self,
        query: Tensor,
        projected: tuple[Tensor, ...],
        memory_mask: Tensor | None,
        state: Tensor,
        training: bool,
        noise: dict[str, Tensor],
    ) -> tuple[Tensor, Tensor]:
        """Returns weights `(batch, heads, queries, positions)`, and `()`."""
        if memory_mask is not None:
            memory_mask = ops.expand_dims(memory_mask, 1)
        return super().align(
            query, projected, memory_mask, state, training, noise
        )

    def read(
        self, weights: Tensor, values: Tensor, noise: dict[str, Tensor]
    ) -> Tensor:
        noise = {name: ops.swapaxes(x, 1, 2) for name, x in noise.items()}
        # (batch, heads, queries, head_dim) -> (batch, queries, heads, head_dim)
        context = ops.swapaxes(super().read(weights, values, noise), 1, 2)
        shape = (*ops.shape(context)[:2], self.num_heads * self.head_dim)
        return over_last(self.output_kernel, ops.reshape(context, shape))

    def noise_shape(
        self, query: Tensor, projected: tuple[Tensor, ...]
    ) -> tuple[int | Tensor, ...]:
        batch_size, queries, positions = super().noise_shape(query, projected)
        return batch_size, queries, self.num_heads, positions

    def attend(
        self, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor, Tensor]:
        context, weights, state = super().attend(*args, **kwargs)
        return context, ops.mean(weights, axis=1), state

    def context_dim(self, memory_dim: int) -> int:
        return self._context_dim
