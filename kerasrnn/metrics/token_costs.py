"""What the loss and the metrics of tokens share: shapes, and the cost."""

import math

from keras import ops

from kerasrnn.arguments import same_shape
from kerasrnn.gathering import without_last_axis

# Positions beyond do not fit into int32.
_MOST = 2**31


def labels_of_tokens(y_true, y_pred):
    """Returns labels as int32, if there are logits for each.

    Args:
        y_true: Tensor, to be of shape `(batch, time)` or `(batch, time, 1)`.
        y_pred: Tensor, to be of shape `(batch, time, vocabulary_size)`.

    Returns:
        Tensor of shape `(batch, time)`.

    Raises:
        ValueError: when they are not.
    """
    labels = without_last_axis(ops.cast(y_true, "int32"))
    if len(y_pred.shape) != 3 or not same_shape(labels.shape, y_pred.shape[:2]):
        raise ValueError(
            "`y_true` must have shape (batch, time), and `y_pred` "
            "(batch, time, vocabulary_size). Received: "
            f"y_true.shape={tuple(y_true.shape)} and "
            f"y_pred.shape={tuple(y_pred.shape)}"
        )
    return labels


def weights_of_tokens(sample_weight, costs):
    """Returns sample weights that broadcast to `(batch, time)`.

    Args:
        sample_weight: Tensor of shape `(batch,)` or `(batch, time)`, or a
            scalar.
        costs: Tensor of shape `(batch, time)`, the costs that they weight; they
            are cast to its dtype.

    Raises:
        ValueError: when they have another shape.
    """
    weights = ops.cast(sample_weight, costs.dtype)
    if len(weights.shape) > 2 or any(
        length not in (None, 1, expected) and expected is not None
        for length, expected in zip(weights.shape, costs.shape, strict=False)
    ):
        raise ValueError(
            "`sample_weight` must have shape (batch,) or (batch, time). "
            f"Received: sample_weight.shape={tuple(weights.shape)} for "
            f"{tuple(costs.shape)}"
        )
    if len(weights.shape) == 1:
        return ops.expand_dims(weights, -1)
    return weights


def token_costs(labels, logits, label_smoothing=0.0):
    """Returns the cross-entropy of each token, in nats.

    The loss and the perplexity both need it. Of two equal computations in a
    graph, compilers keep one, so the perplexity costs nothing in training.

    Args:
        labels: Integer tensor of shape `(batch, time)`.
        logits: Tensor of shape `(batch, time, vocabulary_size)`, in float32
            or wider.
        label_smoothing: Float in `[0, 1)`, the share of a label that is
            spread over the vocabulary.

    Returns:
        Tensor of shape `(batch, time)`, NaN where a label is not in the
        vocabulary.
    """
    size = ops.shape(logits)[-1]
    known = ops.clip(labels, 0, size - 1)
    # Large logits would lose digits in a difference from their logsumexp.
    largest = ops.max(logits, axis=-1, keepdims=True, initial=-math.inf)
    shifted = ops.subtract(logits, ops.stop_gradient(largest))
    true = _take(shifted, known)
    if label_smoothing:
        true = true * (1.0 - label_smoothing)
        true = true + label_smoothing * ops.mean(shifted, axis=-1)
    costs = ops.log(ops.sum(ops.exp(shifted), axis=-1)) - true
    return ops.where(ops.equal(known, labels), costs, math.nan)


def _take(logits, labels):
    """Returns the logit of each label, `(batch, time)`."""
    shape = ops.shape(logits)
    dtype = "int32"
    if any(ops.is_tensor(length) for length in shape):
        # A graph of TensorFlow for batches of any size.
        dtype = "int64"
    elif all(isinstance(n, int) for n in shape) and math.prod(shape) >= _MOST:
        # Where JAX has no int64.
        taken = ops.take_along_axis(logits, ops.expand_dims(labels, -1), -1)
        return ops.squeeze(taken, -1)
    # `take` is faster than `take_along_axis`, and all of this than the
    # cross-entropy of Keras.
    positions = positions_of(labels, shape[-1], dtype)
    taken = ops.take(ops.reshape(logits, (-1,)), positions)
    return ops.reshape(taken, ops.shape(labels))


def positions_of(labels, size, dtype):
    """Returns where labels are in flat logits of a vocabulary of a size."""
    starts = ops.arange(ops.size(labels), dtype=dtype) * ops.cast(size, dtype)
    return starts + ops.reshape(ops.cast(labels, dtype), (-1,))
