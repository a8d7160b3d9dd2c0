"""Shapes of labels, logits and weights for the loss and metrics of tokens."""

from keras import ops


def check_token_shapes(y_true, y_pred):
    """Checks that there are logits for each label.

    Args:
        y_true: Tensor, to be of shape `(batch, time)`.
        y_pred: Tensor, to be of shape `(batch, time, vocabulary_size)`.

    Raises:
        ValueError: when they are not.
    """
    # A length is `None` while a graph is traced.
    if (
        len(y_true.shape) != 2
        or len(y_pred.shape) != 3
        or any(
            None not in lengths and lengths[0] != lengths[1]
            for lengths in zip(y_true.shape, y_pred.shape[:2], strict=True)
        )
    ):
        raise ValueError(
            "`y_true` must have shape (batch, time), and `y_pred` "
            "(batch, time, vocabulary_size). Received: "
            f"y_true.shape={tuple(y_true.shape)} and "
            f"y_pred.shape={tuple(y_pred.shape)}"
        )


def weights_of_tokens(sample_weight, dtype):
    """Returns sample weights that broadcast to `(batch, time)`.

    Args:
        sample_weight: Tensor of shape `(batch,)` or `(batch, time)`, or a
            scalar.
        dtype: String, the dtype to cast to.

    Raises:
        ValueError: when they have a third axis.
    """
    weights = ops.cast(sample_weight, dtype)
    if len(weights.shape) > 2:
        raise ValueError(
            "`sample_weight` must have shape (batch,) or (batch, time). "
            f"Received: sample_weight.shape={tuple(weights.shape)}"
        )
    if len(weights.shape) == 1:
        return ops.expand_dims(weights, -1)
    return weights
