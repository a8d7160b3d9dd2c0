"""Attention at several scales: single positions and means of blocks."""

from collections.abc import Sequence
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import optional_positive_integer
from kerasrnn.arguments import positive_integer
from kerasrnn.layers.attention.multi_head_attention import MultiHeadDotAttention
from kerasrnn.layers.precision import wide
from kerasrnn.layers.softmax import masked_softmax
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class MultiScaleAttention(MultiHeadDotAttention):
    """Multi-head attention whose heads pool blocks of different sizes.

    Head `j` has a span `n_j`. Its blocks are counted back from the last
    unmasked position: block 0 consists of the last `n_j` positions, block 1 of
    the `n_j` positions before them, and so on. Keys and values of a block are
    the means over its unmasked positions:

        score_{j,b}(q) = (W_q^j q) . mean_{i in b}(W_k^j k_i) / sqrt(head_dim)
        context_j = sum_b alpha_{j,b} mean_{i in b}(W_v^j v_i)
        context = W_out [context_1; ...; context_{heads}]

    `alpha_j` is the softmax over the blocks that have an unmasked position;
    other blocks have weight 0. With a span of 1, a head attends to single
    positions. With `blocks`, a head sees only its last blocks. So spans of 1, 4
    and 16 are windows of three lengths: the last positions one by one, and
    earlier positions only as means.

    In a `SelfAttentionCell` the blocks slide with the window: block 0 of step
    `t` is always `h_{t-n_j} ... h_{t-1}`. The farthest block is cut off at the
    start of the window or sequence, and is the mean of the rest. In an
    `AttentionCell` all steps see the same blocks, counted back from the end of
    each memory.

    Args:
        spans: Sequence of positive integers, the block size of each head in
            positions.
        head_dim: Positive integer, width of a head.
        blocks: Positive integer, the number of blocks that each head attends
            to; `None` for all.
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
        `(batch, queries, positions)`; the weights are the mean over the heads,
        and a block's weight is shared equally by its unmasked positions.

    Masking: a masked position has weight exactly 0. A memory that is fully
    masked gives a context of 0.

    Raises:
        ValueError: when `spans` is empty, or a span, `head_dim`, `blocks` or
            `units` is not a positive integer.

    Example:

    >>> query, memory = np.ones((2, 1, 8)), np.ones((2, 6, 8))
    >>> attention = MultiScaleAttention((1, 4), head_dim=4, blocks=1)
    >>> context, weights = attention(query, memory)
    >>> weights[0].numpy().round(3)
    array([[0.   , 0.   , 0.125, 0.125, 0.125, 0.625]], dtype=float32)
    >>> cell = SelfAttentionCell(RHNCell(8), attention, window=4)

    Reference:
        Heads as in [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762).
        The compressed memory of [Rae et al.,
        2020](https://arxiv.org/abs/1911.05507) can also be the mean of blocks.
        It has a single scale, and its blocks do not slide.
    """

    names = {
        "multi_scale": lambda width: {
            "spans": (1, 2, 4, 8),
            "head_dim": max(1, width // 4),
            "blocks": 16,
        }
    }

    counts_masked = True

    def __init__(
        self,
        spans: Sequence[int],
        head_dim: int,
        blocks: int | None = None,
        units: int | None = None,
        kernel_initializer: Initializer = "glorot_uniform",
        *,
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(
            len(spans),
            head_dim,
            units,
            kernel_initializer=kernel_initializer,
            dropout=dropout,
            seed=seed,
            **kwargs,
        )
        self.spans = tuple(positive_integer("spans", span) for span in spans)
        self.blocks = optional_positive_integer("blocks", blocks)

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
        # The score of a mean of keys is the mean of their scores.
        scores = wide(self.score(query, projected[0]))
        if memory_mask is None:
            memory_mask = ops.ones((1, 1, ops.shape(scores)[-1]), "bool")
        weights = [
            _weights_in_blocks(scores[:, head], memory_mask, span, self.blocks)
            for head, span in enumerate(self.spans)
        ]
        return ops.stack(weights, axis=1), state


def _weights_in_blocks(scores, mask, span, blocks):
    """Softmax over blocks; the positions of a block share its weight.

    Args:
        scores: Float tensor of shape `(batch, queries, positions)`.
        mask: Boolean tensor that broadcasts against it.
        span: Integer, the number of positions in a block.
        blocks: Integer, number of blocks to attend to, counted from the end, or
            `None`.

    Returns:
        Weights of the shape of `scores`.
    """
    positions = ops.arange(ops.shape(scores)[-1])
    last = ops.where(mask, positions, -1)
    last = ops.max(last, axis=-1, keepdims=True, initial=-1)
    # Each block is represented by its last position.
    is_end = ops.equal((last - positions) % span, 0)
    if blocks is not None:
        is_end = ops.logical_and(is_end, last - positions < span * blocks)
    counts = _running_sum(ops.cast(mask, scores.dtype), span)
    sums = _running_sum(ops.where(mask, scores, 0.0), span)
    is_end = ops.logical_and(is_end, counts > 0)
    counts = ops.maximum(counts, 1.0)
    shares = masked_softmax(sums / counts, is_end) / counts
    shares = ops.flip(_running_sum(ops.flip(shares, -1), span), -1)
    return ops.where(mask, shares, 0.0)


def _running_sum(x, span):
    """Returns the sums of the `span` positions up to each position.

    They are added pairwise, because differences of cumulative sums would be
    inexact.
    """
    if span == 1:
        return x
    half = span // 2
    total = _running_sum(x, half)
    total = total + _moved(total, half)
    return x + _moved(total, 1) if span % 2 else total


def _moved(x, distance):
    """Moves positions to the right, with zeros before them."""
    zeros = ops.zeros_like(x[..., :distance])
    return ops.concatenate([zeros, x], axis=-1)[..., : ops.shape(x)[-1]]
