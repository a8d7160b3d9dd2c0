"""The masked softmax of attention weights and memory addresses."""

from keras import ops

from kerasrnn.layers.precision import wide


def masked_softmax(scores, mask=None, axis=-1):
    """Softmax over the unmasked positions of an axis.

    Args:
        scores: Tensor of shape `(..., positions, ...)`.
        mask: Optional boolean tensor that broadcasts against `scores`,
            `True` where a position may be attended to.
        axis: The axis of the positions.

    Returns:
        Weights of the shape of `scores`, in float32 or wider. They are exactly
        0 where `mask` is `False`, whatever the score is, and all 0 (never NaN)
        where every position is masked.
    """
    scores = wide(scores)
    if mask is not None:
        scores = ops.where(mask, scores, -1e9)
    # Written out because `keras.ops.softmax` warns about an axis of length 1.
    # The maximum of an empty axis needs an initial value.
    largest = ops.stop_gradient(
        ops.max(scores, axis=axis, keepdims=True, initial=float("-inf"))
    )
    weights = ops.exp(scores - largest)
    if mask is None:
        return weights / ops.sum(weights, axis=axis, keepdims=True)
    weights = weights * ops.cast(mask, weights.dtype)
    total = ops.sum(weights, axis=axis, keepdims=True)
    # The largest weight is 1, so a smaller total means that all positions are
    # masked.
    return weights / ops.maximum(total, 0.5)
