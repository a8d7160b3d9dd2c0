"""Attention that only moves forward."""

from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import number
from kerasrnn.layers.attention.bahdanau_attention import BahdanauAttention
from kerasrnn.layers.loop.linear_recurrence import linear_scan
from kerasrnn.layers.loop.linear_recurrence import shifted
from kerasrnn.layers.precision import wide_dtype
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class MonotonicAttention(BahdanauAttention):
    """Monotonic attention (Raffel et al. 2017).

    Each step continues from the position where the previous step stopped, and
    stops at position `i` with probability `p_{t,i}`:

        e_{t,i} = g v / |v| . tanh(W_q q_t + W_k k_i + b) + r
        p_{t,i} = sigmoid(e_{t,i} + noise)

    In training the weights are the probabilities of stopping at each position,

        alpha_{t,i} = p_{t,i} u_{t,i}
        u_{t,i} = (1 - p_{t,i-1}) u_{t,i-1} + alpha_{t-1,i}

    where `u_{t,i}` is the probability of reaching position `i`, and `alpha_0`
    is 1 at the first position. In inference, `p` is 1 where the energy is above
    0, and 0 elsewhere. So a single position has weight 1, and an online decoder
    need not read beyond it. If a step stops nowhere, all weights and contexts
    of this and later steps are 0.

    Args:
        units: Positive integer, width of the hidden layer of the energy.
        noise: Float >= 0, standard deviation of the Gaussian noise in training,
            1 in the paper. It drives the energies away from 0.
        energy_bias: Float, initial value of the trained bias `r`. A negative
            value lets an untrained layer reach distant positions: -4 suits
            memories of a hundred positions; shorter memories need a value
            closer to 0.
        kernel_initializer: Initializer of `W_q`, `W_k` and `v`.
        dropout: Float in `[0, 1)`, dropout rate of the attention weights.
        seed: Optional integer, seed of dropout and noise.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
            every Keras layer.

    Call arguments:
        query: Tensor of shape `(batch, queries, query_dim)`: the queries of
            consecutive steps.
        memory: Tensor of shape `(batch, positions, memory_dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, positions)`.
        training: Whether to behave as in training (stopping probabilities
            instead of decisions, noise, dropout).

    Returns:
        `(context, weights)` of shapes `(batch, queries, memory_dim)` and
        `(batch, queries, positions)`.

    Raises:
        ValueError: when `units` is not a positive integer or `noise` is
            negative.

    Example:

    >>> query, memory = np.ones((2, 3, 8)), np.ones((2, 5, 6))
    >>> context, weights = MonotonicAttention(16)(query, memory)
    >>> context.shape, weights.shape
    ((2, 3, 6), (2, 3, 5))

    Reference:
        [Raffel et al., 2017](https://arxiv.org/abs/1704.00784), equations 11
        to 16.
    """

    names = {"monotonic": lambda width: {"units": width}}

    stateful = True
    sequential = True
    positionwise = False

    def __init__(
        self,
        units: int,
        noise: float = 1.0,
        energy_bias: float = -4.0,
        kernel_initializer: Initializer = "glorot_uniform",
        *,
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(
            units,
            use_bias=False,
            normalize=True,
            kernel_initializer=kernel_initializer,
            dropout=dropout,
            seed=seed,
            **kwargs,
        )
        self.noise = number("noise", noise, minimum=0)
        self.energy_bias = number("energy_bias", energy_bias)
        if noise and not self.dropout:
            self.seed_generator = keras.random.SeedGenerator(self.seed)

    def build(self, query_shape: Shape, memory_shape: Shape) -> None:
        super().build(query_shape, memory_shape)
        self.bias = self.add_weight(
            shape=(),
            initializer=keras.initializers.Constant(self.energy_bias),
            name="bias",
        )

    def initial_state(
        self, batch_size: int | Tensor, projected: tuple[Tensor, ...]
    ) -> Tensor:
        """Returns the initial weights: 1 at the first position."""
        values = projected[1]
        shape = (batch_size, ops.shape(values)[1])
        is_first = ops.equal(ops.arange(shape[1]), 0)
        return ops.broadcast_to(
            ops.cast(is_first, wide_dtype(values.dtype)), shape
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
        energy = ops.cast(self.score(query, projected[0]), state.dtype)
        energy = energy + ops.cast(self.bias, state.dtype)
        if "energy" in noise:
            energy = energy + ops.cast(noise["energy"], energy.dtype)
        stops = ops.sigmoid(energy) if training else energy > 0
        stops = ops.cast(stops, state.dtype)
        if memory_mask is not None:
            stops = ops.where(memory_mask, stops, 0)
        weights = stops * arrivals(stops, state)
        return weights, weights

    def draw_noise(
        self, query: Tensor, projected: tuple[Tensor, ...]
    ) -> dict[str, Tensor]:
        noise = super().draw_noise(query, projected)
        if self.noise:
            noise["energy"] = keras.random.normal(
                self.noise_shape(query, projected),
                stddev=self.noise,
                seed=self.seed_generator,
            )
        return noise


def arrivals(stops, before):
    """Returns the probabilities of reaching each position, moving forward.

        u_i = (1 - stops_{i-1}) u_{i-1} + before_i

    Args:
        stops: Tensor of shape `(batch, queries, positions)`, the probabilities
            of stopping at each position once it is reached.
        before: Tensor of the same shape, the probabilities of starting there.

    Returns:
        Tensor of the same shape.
    """
    stops, before = (ops.moveaxis(x, -1, 0) for x in (stops, before))
    passes = shifted(1 - stops, ops.zeros_like(stops[:1]))
    start = ops.zeros(ops.shape(before)[1:], before.dtype)
    return ops.moveaxis(linear_scan(passes, before, start), 0, -1)
