"""The masked softmax of attention weights and memory addresses."""

import keras
from keras import ops


def masked_softmax(scores, mask=None):
    """Softmax over the unmasked positions of the last axis.

    Args:
        scores: Tensor of shape `(..., positions)`.
        mask: Optional boolean tensor that broadcasts against `scores`,
            `True` where a position may be attended to.

    Returns:
        Weights of the shape of `scores`, in float32 or wider: exactly 0
        wherever `mask` is `False`, whatever the score there, and all 0 (never
        NaN) where nothing is left to attend to.
    """
    scores = ops.cast(
        scores, keras.backend.result_type(scores.dtype, "float32")
    )
    if mask is not None:
        scores = ops.where(mask, scores, -1e9)
    # Written out: `keras.ops.softmax` warns of a memory of one position.
    # The maximum of an empty axis needs an initial value.
    greatest = ops.stop_gradient(
        ops.max(scores, axis=-1, keepdims=True, initial=float("-inf"))
    )
    weights = ops.exp(scores - greatest)
    if mask is not None:
        weights = weights * ops.cast(mask, weights.dtype)
    total = ops.sum(weights, axis=-1, keepdims=True)
    # The largest weight is 1, so a smaller total means that all are masked.
    return weights / ops.maximum(total, 0.5)
