"""Checks of what a client sends, inside the graphs of signatures."""

import tensorflow as tf


def check_same_rows(**tensors):
    """Raises unless all tensors have the same number of rows.

    Args:
        **tensors: Tensors of shape `(batch, ...)`, by their names.

    Returns:
        The operation that raises `tf.errors.InvalidArgumentError`.
    """
    rows = tf.stack([tf.shape(x)[0] for x in tensors.values()])
    names = ", ".join(tensors)
    return tf.debugging.Assert(
        tf.reduce_all(tf.equal(rows, rows[0])),
        [f"{names} must have as many rows as each other. Received:", rows],
        summarize=-1,
    )


def check_steps(x):
    """Raises unless a tensor of shape `(batch, time, ...)` has steps.

    Args:
        x: Tensor of shape `(batch, time, ...)`.

    Returns:
        The operation that raises `tf.errors.InvalidArgumentError`.
    """
    return tf.debugging.Assert(
        tf.shape(x)[1] > 0,
        ["At least one step is expected. Received the shape:", tf.shape(x)],
        summarize=-1,
    )


def check_length(lengths, max_length, unit="tokens"):
    """Raises when a text has too many tokens, or a roll too many steps.

    Args:
        lengths: Integer tensor, numbers of tokens.
        max_length: Integer, the maximum number.
        unit: String, what is counted.

    Returns:
        The operation that raises `tf.errors.InvalidArgumentError`.
    """
    return tf.debugging.Assert(
        tf.reduce_all(lengths <= max_length),
        [f"At most {max_length} {unit} are allowed. Received:", lengths],
    )


def check_number(name, value, maximum=None):
    """Raises unless a number is finite, not negative, and not too large.

    Args:
        name: String, the name of the argument.
        value: Scalar tensor.
        maximum: Float, the largest value; `None` for any.

    Returns:
        The operation that raises `tf.errors.InvalidArgumentError`.
    """
    largest, bound = value.dtype.max, ">= 0"
    if maximum is not None:
        largest, bound = maximum, f">= 0 and <= {maximum}"
    return tf.debugging.Assert(
        (value >= 0) & (value <= largest),  # Neither is true of NaN.
        [f"{name} must be {bound}. Received:", value],
    )
