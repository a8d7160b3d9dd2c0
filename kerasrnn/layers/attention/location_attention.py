"""Location-based attention."""

from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.layers.attention.dot_attention import DotAttention
from kerasrnn.layers.attention.mechanism import positions
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class LocationAttention(DotAttention):
    """Location-based attention (Luong et al. 2015, "location").

        score(q, position i) = (W q)_i

    The weights depend only on the query, not on the memory. `W` has one row for
    each of the first `max_positions` unmasked positions. A shorter memory uses
    only the first rows. In a longer memory, the remaining positions have weight
    0.

    Args:
        max_positions: Positive integer, maximum number of positions to attend
            to.
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

    Raises:
        ValueError: when `max_positions` is not a positive integer.

    Example:

    >>> query, memory = np.ones((2, 1, 8)), np.ones((2, 5, 6))
    >>> context, weights = LocationAttention(50)(query, memory)
    >>> context.shape, weights.shape
    ((2, 1, 6), (2, 1, 5))

    Reference:
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025), equation 9.
    """

    names = {"location": lambda width: {"max_positions": 100}}

    positionwise = False

    def __init__(
        self,
        max_positions: int,
        kernel_initializer: Initializer = "glorot_uniform",
        *,
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(dropout=dropout, seed=seed, **kwargs)
        self.max_positions = positive_integer("max_positions", max_positions)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build(self, query_shape: Shape, memory_shape: Shape) -> None:
        self.kernel = self.add_weight(
            shape=(self.max_positions, query_shape[-1]),
            initializer=self.kernel_initializer,
            name="kernel",
        )

    def project(
        self, memory: Tensor, memory_mask: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        """Returns keys (rows of `W`), values and positions."""
        _, values = super().project(memory, memory_mask)
        position, _ = positions(memory, memory_mask)
        keys = ops.take(
            ops.cast(self.kernel, values.dtype),
            ops.clip(position, 0, self.max_positions - 1),
            axis=0,
        )
        return keys, values, position

    def align(
        self,
        query: Tensor,
        projected: tuple[Tensor, ...],
        memory_mask: Tensor | None,
        state: Tensor,
        training: bool,
        noise: dict[str, Tensor],
    ) -> tuple[Tensor, Tensor]:
        within = ops.expand_dims(projected[2] < self.max_positions, 1)
        if memory_mask is not None:
            within = ops.logical_and(within, memory_mask)
        return super().align(query, projected, within, state, training, noise)
