"""Weights of labelled texts in a loss, by their labels."""

import numpy as np

from kerasrnn.data.batches import checked_weights


def weights_of_classes(numbers, by_number, sample_weight=None):
    """Returns the weight of each text by its label.

    Args:
        numbers: List of labels by number, or probabilities of the second
            label.
        by_number: Dictionary from the number of a label to its weight, 1 for
            others.
        sample_weight: List of weights to multiply with; `None` for 1.

    Returns:
        Float array of shape `(texts,)`.
    """
    numbers = np.asarray(numbers, float)
    below = numbers.astype(int)
    share = numbers - below
    of_label = np.array(
        [by_number.get(n, 1.0) for n in range(below.max(initial=0) + 2)]
    )
    weights = (1 - share) * of_label[below] + share * of_label[below + 1]
    if sample_weight is None:
        return weights
    return weights * checked_weights(sample_weight, len(weights), "text")
