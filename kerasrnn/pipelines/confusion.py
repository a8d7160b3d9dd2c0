"""How often each label was taken for each other."""

import numpy as np


def confusion_counts(true, found, size):
    """Counts pairs of a true and a predicted label.

    Args:
        true: Sequence of integers from 0 to `size - 1`, the true labels.
        found: Sequence of as many, the predicted labels.
        size: Positive integer, the number of labels.

    Returns:
        Integer array of shape `(size, size)`, a row for each true label.

    Example:

    >>> confusion_counts([0, 0, 1], [0, 1, 1], 2)
    array([[1, 1],
           [0, 1]])
    """
    counts = np.zeros((size, size), int)
    np.add.at(counts, (true, found), 1)
    return counts
