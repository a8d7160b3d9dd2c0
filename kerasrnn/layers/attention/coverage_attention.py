"""Additive attention with coverage."""

from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import number
from kerasrnn.layers.attention.bahdanau_attention import BahdanauAttention
from kerasrnn.layers.attention.mechanism import over_last
from kerasrnn.layers.initializers import reseeded
from kerasrnn.layers.precision import wide_dtype
from kerasrnn.layers.softmax import masked_softmax
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class CoverageAttention(BahdanauAttention):
    """Additive attention with coverage (Tu et al. 2016).

    The score also depends on the coverage `C` of a position: the sum of its
    weights in earlier steps, divided by its fertility `phi`, which is the
    expected number of target words for it:

        score(q, k_i) = v . tanh(W_q q + W_k k_i + W_c C_{t-1,i})
        C_{t,i} = C_{t-1,i} + alpha_{t,i} / phi_i           C_{0,i} = 0
        phi_i = fertility sigmoid(U v_i)

    The values `v_i` are the memory. With `fertility=None`, the coverage is the
    sum of the weights, as in See et al. 2017.

    Args:
        units: Positive integer, width of the hidden layer of the score.
        fertility: Positive float, maximum fertility of a position, 2 in the
            paper; `None` for no fertility.
        kernel_initializer: Initializer of all kernels.
        dropout: Float in `[0, 1)`, dropout rate of the attention weights. The
            coverage sums the weights before dropout.
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.

    Call arguments:
        query: Tensor of shape `(batch, queries, query_dim)`: the queries of
            consecutive steps.
        memory: Tensor of shape `(batch, positions, memory_dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, positions)`.
        training: Whether to behave as in training (dropout).

    Returns:
        `(context, weights)` of shapes `(batch, queries, memory_dim)` and
        `(batch, queries, positions)`.

    Raises:
        ValueError: when `units` is not a positive integer or `fertility` is
            not positive.

    Example:

    >>> query, memory = np.ones((2, 3, 8)), np.ones((2, 5, 6))
    >>> context, weights = CoverageAttention(16)(query, memory)
    >>> context.shape, weights.shape
    ((2, 3, 6), (2, 3, 5))

    References:
        [Tu et al., 2016](https://arxiv.org/abs/1601.04811), the linguistic
        coverage of section 3.1;
        [See et al., 2017](https://arxiv.org/abs/1704.04368), section 2.3.
    """

    names = {"coverage": lambda width: {"units": width}}

    stateful = True
    sequential = True
    positionwise = False

    def __init__(
        self,
        units: int,
        fertility: float | None = 2.0,
        kernel_initializer: Initializer = "glorot_uniform",
        *,
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(
            units,
            use_bias=False,
            normalize=False,
            kernel_initializer=kernel_initializer,
            dropout=dropout,
            seed=seed,
            **kwargs,
        )
        if fertility is not None:
            fertility = number("fertility", fertility, above=0)
        self.fertility = fertility

    def build(self, query_shape: Shape, memory_shape: Shape) -> None:
        super().build(query_shape, memory_shape)
        self.coverage_kernel = self.add_weight(
            shape=(1, self.units),
            initializer=reseeded(self.kernel_initializer, 3),
            name="coverage_kernel",
        )
        if self.fertility is not None:
            self.fertility_kernel = self.add_weight(
                shape=(memory_shape[-1], 1),
                initializer=reseeded(self.kernel_initializer, 4),
                name="fertility_kernel",
            )

    def project(
        self, memory: Tensor, memory_mask: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        """Returns keys, values and, if used, the fertilities."""
        keys, values = super().project(memory, memory_mask)
        if self.fertility is None:
            return keys, values
        logits = over_last(self.fertility_kernel, values)
        logits = ops.cast(ops.squeeze(logits, -1), wide_dtype(values.dtype))
        return keys, values, self.fertility * ops.sigmoid(logits)

    def initial_state(
        self, batch_size: int | Tensor, projected: tuple[Tensor, ...]
    ) -> Tensor:
        """Returns the coverage before the first step: 0 for all positions."""
        values = projected[1]
        return ops.zeros(
            (batch_size, ops.shape(values)[1]), wide_dtype(values.dtype)
        )

    def align(
        self,
        query: Tensor,
        projected: tuple[Tensor, ...],
        memory_mask: Tensor | None,
        state: Tensor,
        training: bool,
        noise: dict[str, Tensor],
    ) -> tuple[Tensor, Tensor]:
        keys, _, *fertilities = projected
        hidden = self.preactivation(query, keys)
        covered = ops.cast(ops.expand_dims(state, -1), hidden.dtype)
        hidden = hidden + over_last(self.coverage_kernel, covered)
        weights = masked_softmax(self.energy(hidden), memory_mask)
        words = weights
        if fertilities:
            words = weights / ops.expand_dims(fertilities[0], 1)
        return weights, state + words
