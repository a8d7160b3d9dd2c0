"""Weights of labelled texts in a loss, by their labels."""

import numpy as np

from kerasrnn.arguments import number
from kerasrnn.data.labelled.labelled_batches import checked_weights


def weights_by_number(class_weight, kind):
    """Returns a dictionary from the numbers of labels to their weights.

    Args:
        class_weight: Dictionary from labels, by name or by number, to weights.
        kind: The `OneLabel` of a labeller.

    Raises:
        ValueError: when a label is unknown or there twice, or a weight is not
            a non-negative number.
    """
    labels = kind.numbers(list(class_weight))
    weights = [
        number("class_weight", x, minimum=0) for x in class_weight.values()
    ]
    found = dict(zip(labels, weights, strict=True))
    known = {*range(len(kind.names))}
    if len(found) < len(labels) or not found.keys() <= known:
        raise ValueError(
            "`class_weight` must have a label once, by name or by number. "
            f"Received: class_weight={class_weight!r}"
        )
    return found


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
    return weights * checked_weights(sample_weight, len(weights))
