"""Weights of rows in a loss."""

import reprlib

import numpy as np


def checked_weights(weights, count, kind):
    """Returns weights as a float32 array of shape `(count,)`.

    Args:
        weights: List of numbers.
        count: Integer, the number of rows.
        kind: String, what a row is, such as `"text"`.

    Raises:
        ValueError: when they are not one non-negative number for each row.
    """
    shape = ""
    try:
        found = np.asarray(weights, "float32")
        shape = f" of shape {found.shape}"
        right = found.shape == (count,) and np.isfinite(found).all()
    except (TypeError, ValueError):
        right = False
    if not right or (found < 0).any():
        raise ValueError(
            f"`sample_weight` must be a non-negative number for each {kind}. "
            f"Received: {reprlib.repr(weights)}{shape} for {count} {kind}s"
        )
    return found
