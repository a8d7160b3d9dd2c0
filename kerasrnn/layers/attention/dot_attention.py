"""Dot-product attention: plain, scaled, and general."""

from typing import Unpack

import keras
from keras import ops

from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.layers.attention.mechanism import over_last
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


def dot_score(query, keys):
    """Returns `q . k` for each query and position.

    Args:
        query: Tensor of shape `(..., queries, dim)`.
        keys: Tensor of shape `(..., positions, dim)`.

    Returns:
        Tensor of shape `(..., queries, positions)`.
    """
    return ops.matmul(query, ops.swapaxes(keys, -1, -2))


@keras.saving.register_keras_serializable("kerasrnn")
class DotAttention(AttentionMechanism):
    """Dot-product attention (Luong et al. 2015, "dot").

        score(q, k) = q . k

    It has no weights, so query and memory must have the same width.

    Args:
        dropout: Float in `[0, 1)`, dropout rate of the attention weights.
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.

    Call arguments:
        query: Tensor of shape `(batch, queries, dim)`.
        memory: Tensor of shape `(batch, positions, dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, positions)`.
        training: Whether to behave as in training (dropout).

    Returns:
        `(context, weights)` of shapes `(batch, queries, dim)` and
        `(batch, queries, positions)`.

    Example:

    >>> query, memory = np.ones((2, 1, 8)), np.ones((2, 5, 8))
    >>> context, weights = DotAttention()(query, memory)
    >>> context.shape, weights.shape
    ((2, 1, 8), (2, 1, 5))

    Reference:
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025), equation 8.
    """

    names = {"dot": lambda width: {}}

    def build(self, query_shape: Shape, memory_shape: Shape) -> None:
        if query_shape[-1] != memory_shape[-1]:
            raise ValueError(
                "A dot product needs a query and a memory of the same width. "
                "Otherwise, as above a bidirectional encoder, use attention "
                "with weights, such as 'general'. Expected: "
                f"{query_shape[-1]}, the width of the query. "
                f"Received: a memory of width {memory_shape[-1]}"
            )

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        return dot_score(query, keys)


@keras.saving.register_keras_serializable("kerasrnn")
class ScaledDotAttention(DotAttention):
    """Scaled dot-product attention.

        score(q, k) = q . k / sqrt(dim)

    It has no weights, so query and memory must have the same width.

    Args:
        dropout: Float in `[0, 1)`, dropout rate of the attention weights.
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.

    Call arguments:
        query: Tensor of shape `(batch, queries, dim)`.
        memory: Tensor of shape `(batch, positions, dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, positions)`.
        training: Whether to behave as in training (dropout).

    Returns:
        `(context, weights)` of shapes `(batch, queries, dim)` and
        `(batch, queries, positions)`.

    Example:

    >>> query, memory = np.ones((2, 1, 8)), np.ones((2, 5, 8))
    >>> context, weights = ScaledDotAttention()(query, memory)
    >>> context.shape, weights.shape
    ((2, 1, 8), (2, 1, 5))

    Reference:
        [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762), equation 1.
    """

    names = {"scaled_dot": lambda width: {}}

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        return super().score(query, keys) / query.shape[-1] ** 0.5


@keras.saving.register_keras_serializable("kerasrnn")
class GeneralAttention(DotAttention):
    """Bilinear attention (Luong et al. 2015, "general").

        score(q, k) = q W k         or, scaled,         g q W k

    `W` is applied to the memory, once, and not to every query.

    Args:
        use_scale: Whether to multiply the score by a trained factor `g`,
            initially 1, as in "scaled_luong" of tensorflow/nmt.
        kernel_initializer: Initializer of `W`.
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
        `(context, weights)` of shapes `(batch, queries, memory_dim)` and
        `(batch, queries, positions)`.

    Masking: a masked position has weight exactly 0. A memory that is fully
    masked gives a context of 0.

    Example:

    >>> query, memory = np.ones((2, 1, 8)), np.ones((2, 5, 6))
    >>> context, weights = GeneralAttention()(query, memory)
    >>> context.shape, weights.shape
    ((2, 1, 6), (2, 1, 5))

    Reference:
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025), equation 8.
    """

    names = {
        "general": lambda width: {},
        "luong": lambda width: {},
        "scaled_luong": lambda width: {"use_scale": True},
    }

    def __init__(
        self,
        *,
        use_scale: bool = False,
        kernel_initializer: Initializer = "glorot_uniform",
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(dropout=dropout, seed=seed, **kwargs)
        self.use_scale = use_scale
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build(self, query_shape: Shape, memory_shape: Shape) -> None:
        self.kernel = self.add_weight(
            shape=(query_shape[-1], memory_shape[-1]),
            initializer=self.kernel_initializer,
            name="kernel",
        )
        if self.use_scale:
            self.scale = self.add_weight(
                shape=(), initializer="ones", name="scale"
            )

    def keys_and_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        kernel = ops.transpose(self.kernel)
        if self.use_scale:
            kernel = self.scale * kernel
        return over_last(kernel, memory), memory

    def projected_shapes(
        self, query_dim: int, memory_dim: int
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (query_dim,), (memory_dim,)
