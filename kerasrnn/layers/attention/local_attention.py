"""Attention to a few places around one."""

import keras
from keras import ops

from kerasrnn.layers.arguments import positive_integer
from kerasrnn.layers.attention.dot_attention import GeneralAttention
from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.layers.attention.mechanism import over_last
from kerasrnn.layers.attention.mechanism import weights_dtype
from kerasrnn.layers.attention.positions import positions
from kerasrnn.layers.initializers import reseeded
from kerasrnn.layers.softmax import masked_softmax


@keras.saving.register_keras_serializable("kerasrnn")
class LocalAttention(AttentionMechanism):
    """Local attention, predictive or monotonic (Luong et al. 2015).

    Around any `score`, of the places `s` within `radius` of a place `p_t`,
    with `S` places in the memory:

        p_t = S sigmoid(v . tanh(W q))              predictive
        alpha(s) = softmax_s(score(q, k_s)) exp(-(s - p_t)^2 / (2 d^2))
            with d = radius / 2

        p_t = min(t, S - 1)                         monotonic
        alpha(s) = softmax_s(score(q, k_s))

    Places and steps are counted from 0, and masked places are left out. The
    paper has `p_t = t`; to stay at the last place once `t` is behind it is
    what its authors' code does. The weights of local-p add up to less than 1.

    Args:
        attention: The mechanism to take the score from, any with one score
            for each place, such as `BahdanauAttention(256)`; `None` for
            `GeneralAttention()`.
        radius: Positive integer, the `D` of the paper, and its value.
        alignment: `"predictive"` or `"monotonic"`.
        units: Positive integer, width of `W q`; `None` for that of the query.
            For the predictive alignment.
        kernel_initializer: Initializer of `W` and `v`.
        dropout: Float in `[0, 1)`, the rate at which weights are dropped.
        seed: Seed of `dropout`.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        query: Tensor of shape `(batch, queries, query_dim)`: with the
            monotonic alignment, of the steps 0, 1, 2 and so on.
        memory: Tensor of shape `(batch, places, memory_dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, places)`.
        training: Whether to behave as in training (dropout).

    Returns:
        `(context, weights)` of shapes `(batch, queries, memory_dim)` and
        `(batch, queries, places)`.

    Raises:
        ValueError: when `attention` has weights of its own kind or a dropout,
            `radius` or `units` is not a positive integer, `alignment` is
            unknown, or `units` is given for the monotonic one.

    Example:

    >>> query, memory = np.ones((2, 1, 8)), np.ones((2, 5, 6))
    >>> attention = LocalAttention(BahdanauAttention(16), radius=2)
    >>> context, weights = attention(query, memory)
    >>> context.shape, weights.shape
    ((2, 1, 6), (2, 1, 5))

    Reference:
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025), section 3.2.
    """

    placewise = False

    def __init__(
        self,
        attention=None,
        radius=10,
        alignment="predictive",
        units=None,
        kernel_initializer="glorot_uniform",
        dropout=0.0,
        seed=None,
        **kwargs,
    ):
        super().__init__(dropout, seed, **kwargs)
        if attention is None:
            attention = GeneralAttention(dtype=self.dtype_policy)
        _check_score(attention)
        if alignment not in ("predictive", "monotonic"):
            raise ValueError(
                "`alignment` must be 'predictive' or 'monotonic'. "
                f"Received: alignment={alignment!r}"
            )
        if units is not None:
            if alignment == "monotonic":
                raise ValueError(
                    "`units` belongs to alignment='predictive': else no "
                    f"place is predicted. Received: units={units}, "
                    f"alignment={alignment!r}"
                )
            units = positive_integer("units", units)
        self.attention = attention
        self.radius = positive_integer("radius", radius)
        self.alignment = alignment
        self.units = units
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build(self, query_shape, memory_shape):
        if not self.attention.built:
            self.attention.build(query_shape, memory_shape)
            self.attention.built = True
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

    def project(self, memory, memory_mask=None):
        """Returns keys, values, positions and the number of places."""
        keys, values = self.attention.project(memory, memory_mask)
        return keys, values, *positions(memory, memory_mask)

    @property
    def stateful(self):
        return self.alignment == "monotonic"

    def initial_state(self, batch_size, projected):
        """Returns the number of the step, where places follow it."""
        if self.alignment == "predictive":
            return ()
        return ops.zeros((batch_size, 1), "int32")

    def align(self, query, projected, memory_mask, state, training, noise):
        keys, values, position, count = projected
        # (batch, 1, places) and (batch, 1, 1)
        position, count = (
            ops.cast(ops.expand_dims(x, 1), weights_dtype(values))
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
        query,
        projected,
        memory_mask=None,
        state=(),
        training=False,
        noise=None,
    ):
        if self.alignment == "predictive":
            return self.attend(
                query, projected, memory_mask, state, training, noise
            )
        # The numbers of all steps are known: (batch, time, 1).
        time = ops.shape(query)[1]
        steps = ops.expand_dims(state, 1) + ops.expand_dims(ops.arange(time), 1)
        context, weights, _ = self.attend(
            query, projected, memory_mask, steps, training, noise
        )
        return context, weights, state + time

    def get_config(self):
        return {
            **super().get_config(),
            "attention": keras.saving.serialize_keras_object(self.attention),
            "radius": self.radius,
            "alignment": self.alignment,
            "units": self.units,
            "kernel_initializer": keras.initializers.serialize(
                self.kernel_initializer
            ),
        }

    @classmethod
    def from_config(cls, config):
        attention = keras.saving.deserialize_keras_object(config["attention"])
        return cls(**{**config, "attention": attention})


def _check_score(attention):
    """Raises `ValueError` if a mechanism is more than its score."""
    plain = (
        isinstance(attention, AttentionMechanism)
        and type(attention).align is AttentionMechanism.align
    )
    if not plain or attention.dropout:
        raise ValueError(
            "LocalAttention takes the score of an attention mechanism, one "
            "number for each place, such as `GeneralAttention()`, and has a "
            f"`dropout` of its own. Received: attention={attention!r}"
        )
