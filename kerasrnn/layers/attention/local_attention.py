"""Local attention: to a window of positions around a center."""

from typing import Literal
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import one_of
from kerasrnn.arguments import optional_positive_integer
from kerasrnn.arguments import positive_integer
from kerasrnn.layers.attention.dot_attention import GeneralAttention
from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.layers.attention.mechanism import over_last
from kerasrnn.layers.attention.mechanism import positions
from kerasrnn.layers.initializers import reseeded
from kerasrnn.layers.precision import wide_dtype
from kerasrnn.layers.softmax import masked_softmax
from kerasrnn.saving import build_once
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class LocalAttention(AttentionMechanism):
    """Local attention, predictive or monotonic (Luong et al. 2015).

    It attends to the positions `s` within `radius` of a center `p_t`, with the
    `score` of any mechanism. `S` is the number of positions in the memory:

        p_t = S sigmoid(v . tanh(W q))              predictive
        alpha(s) = softmax_s(score(q, k_s)) exp(-(s - p_t)^2 / (2 d^2))
            with d = radius / 2

        p_t = min(t, S - 1)                         monotonic
        alpha(s) = softmax_s(score(q, k_s))

    Positions and steps are counted from 0, and masked positions are not
    counted. The paper has `p_t = t` for local-m; like the authors' code, this
    layer stays at the last position after that. The weights of local-p sum to
    at most 1.

    Args:
        attention: A mechanism that computes one score for each position, such
            as `BahdanauAttention(256)`; `None` for `GeneralAttention()`.
        radius: Positive integer, `D` in the paper. 10, the default, is the
            paper's value.
        alignment: `"predictive"` (local-p) or `"monotonic"` (local-m).
        units: Positive integer, width of `W q`; `None` for that of the query.
            Only for the predictive alignment.
        kernel_initializer: Initializer of `W` and `v`.
        dropout: Float in `[0, 1)`, dropout rate of the attention weights.
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.

    Call arguments:
        query: Tensor of shape `(batch, queries, query_dim)`. With the
            monotonic alignment, the queries are the steps 0, 1, 2 and so on.
        memory: Tensor of shape `(batch, positions, memory_dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, positions)`.
        training: Whether to behave as in training (dropout).

    Returns:
        `(context, weights)` of shapes `(batch, queries, memory_dim)` and
        `(batch, queries, positions)`.

    Raises:
        ValueError: when `attention` overrides `align` or has dropout, `radius`
            or `units` is not a positive integer, `alignment` is unknown, or
            `units` is given with the monotonic alignment.

    Example:

    >>> query, memory = np.ones((2, 1, 8)), np.ones((2, 5, 6))
    >>> attention = LocalAttention(BahdanauAttention(16), radius=2)
    >>> context, weights = attention(query, memory)
    >>> context.shape, weights.shape
    ((2, 1, 6), (2, 1, 5))

    Reference:
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025), section 3.2.
    """

    names = {
        "local_p": lambda width: {},
        "local_m": lambda width: {"alignment": "monotonic"},
    }

    positionwise = False

    def __init__(
        self,
        attention: AttentionMechanism | None = None,
        radius: int = 10,
        alignment: Literal["predictive", "monotonic"] = "predictive",
        units: int | None = None,
        kernel_initializer: Initializer = "glorot_uniform",
        *,
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(dropout=dropout, seed=seed, **kwargs)
        if attention is None:
            attention = GeneralAttention(dtype=self.dtype_policy)
        plain = (
            isinstance(attention, AttentionMechanism)
            and type(attention).align is AttentionMechanism.align
        )
        if not plain or attention.dropout:
            raise ValueError(
                "`attention` must be an attention mechanism with one score for "
                "each position, such as `GeneralAttention()`. It must have no "
                "dropout; use the `dropout` of LocalAttention. Received: "
                f"attention={attention!r}"
            )
        self.attention = attention
        self.radius = positive_integer("radius", radius)
        self.alignment = one_of(
            "alignment", alignment, ("predictive", "monotonic")
        )
        self.stateful = alignment == "monotonic"
        self.units = optional_positive_integer("units", units)
        if self.stateful and units is not None:
            raise ValueError(
                "`units` needs alignment='predictive'. Received: "
                f"units={units}, alignment={alignment!r}"
            )
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build(self, query_shape: Shape, memory_shape: Shape) -> None:
        build_once(self.attention, query_shape, memory_shape)
        if self.alignment == "predictive":
            query_dim = query_shape[-1]
            units = self.units or query_dim
            self.hidden_kernel = self.add_weight(
                shape=(query_dim, units),
                initializer=reseeded(self.kernel_initializer, 0),
                name="hidden_kernel",
            )
            self.position_kernel = self.add_weight(
                shape=(units, 1),
                initializer=reseeded(self.kernel_initializer, 1),
                name="position_kernel",
            )

    def project(
        self, memory: Tensor, memory_mask: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        """Returns keys, values, position numbers and their count."""
        keys, values = self.attention.project(memory, memory_mask)
        return keys, values, *positions(memory, memory_mask)

    def initial_state(
        self, batch_size: int | Tensor, projected: tuple[Tensor, ...]
    ) -> Tensor:
        """Returns the index of the first step; `()` if predictive."""
        return ops.zeros((batch_size, 1), "int32") if self.stateful else ()

    def align(
        self,
        query: Tensor,
        projected: tuple[Tensor, ...],
        memory_mask: Tensor | None,
        state: Tensor,
        training: bool,
        noise: dict[str, Tensor],
    ) -> tuple[Tensor, Tensor]:
        keys, values, position, count = projected
        # (batch, 1, positions) and (batch, 1, 1)
        position, count = (
            ops.cast(ops.expand_dims(x, 1), wide_dtype(values.dtype))
            for x in (position, count)
        )
        distance = position - self._center(query, count, state)
        within = ops.abs(distance) <= self.radius
        if memory_mask is not None:
            within = ops.logical_and(within, memory_mask)
        weights = masked_softmax(self.attention.score(query, keys), within)
        if self.alignment == "monotonic":
            return weights, state + 1
        return weights * ops.exp(-2 * ops.square(distance / self.radius)), state

    def _center(self, query, count, state):
        """Returns p_t, of shape `(batch, queries, 1)`."""
        if self.alignment == "monotonic":
            return ops.minimum(ops.cast(state, count.dtype), count - 1)
        hidden = ops.tanh(over_last(self.hidden_kernel, query))
        logits = over_last(self.position_kernel, hidden)
        return count * ops.sigmoid(ops.cast(logits, count.dtype))

    def attend_in_turn(
        self,
        query: Tensor,
        projected: tuple[Tensor, ...],
        memory_mask: Tensor | None,
        state: Tensor,
        training: bool,
        noise: dict[str, Tensor],
    ) -> tuple[Tensor, Tensor, Tensor]:
        if self.alignment == "predictive":
            return self.attend(
                query, projected, memory_mask, state, training, noise
            )
        # The indices of all steps are known: (batch, time, 1).
        time = ops.shape(query)[1]
        steps = ops.expand_dims(state, 1) + ops.expand_dims(ops.arange(time), 1)
        context, weights, _ = self.attend(
            query, projected, memory_mask, steps, training, noise
        )
        return context, weights, state + time
