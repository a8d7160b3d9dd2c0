"""What layers expect of the sequences that they read, and of their masks."""

from kerasrnn.arguments import same_shape


def check_sequences(sequences):
    """Raises `ValueError` if sequences are ragged, or have no step.

    Args:
        sequences: Tensor of shape `(batch, time, ...)`.
    """
    check_not_ragged(sequences)
    if sequences.shape[1] == 0:
        raise ValueError(
            "A recurrent layer reads sequences of one step or more, "
            "`(batch, time, ...)`. Received: a sequence of shape "
            f"{tuple(sequences.shape)}"
        )


def check_not_ragged(x):
    """Raises `ValueError` if a tensor has rows of different lengths."""
    if hasattr(x, "row_lengths"):
        raise ValueError(
            "Sequences of different lengths are padded, and the padding is "
            "masked. Expected: `x.to_tensor()` and, where the layer takes a "
            "mask, `tf.sequence_mask(x.row_lengths())`. Received: a ragged "
            f"tensor of shape {tuple(x.shape)}"
        )


def check_mask(name, mask, sequences):
    """Raises `ValueError` unless a mask is `(batch, time)`.

    Args:
        name: String, the name of the mask.
        mask: Tensor. That of one row may stand for all rows.
        sequences: Tensor of shape `(batch, time, ...)`.
    """
    batch, time = sequences.shape[:2]
    if not any(same_shape(mask.shape, (rows, time)) for rows in (batch, 1)):
        raise ValueError(
            f"`{name}` must say of each step whether it is read. "
            f"Expected: shape ({batch}, {time}). "
            f"Received: {name}.shape={tuple(mask.shape)}"
        )
