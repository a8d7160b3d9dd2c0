"""Batches of rows of similar length, and of what is a dataset already."""

import numpy as np
import tensorflow as tf

from kerasrnn.arguments import positive_integer


def indices_by_length(rows, batch_size):
    """Yields the indices of rows of similar length, as many as make a batch.

    Args:
        rows: List of strings, lists or arrays.
        batch_size: Positive integer.

    Raises:
        ValueError: when `batch_size` is not a positive integer.
    """
    positive_integer("batch_size", batch_size)
    order = np.argsort([len(row) for row in rows], kind="stable")
    for start in range(0, len(rows), batch_size):
        yield order[start : start + batch_size]


def ready(examples, batches):
    """Returns `batches(examples)`; a dataset or `None` is returned as is."""
    if examples is None or isinstance(examples, tf.data.Dataset):
        return examples
    return batches(examples)
