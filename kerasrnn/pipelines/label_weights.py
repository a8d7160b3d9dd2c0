"""Weights of labelled texts in a loss."""

import numpy as np


def check_weights(weights, count):
    """Returns weights as a float32 array of shape `(count,)`.

    Args:
        weights: List of numbers.
        count: Integer, the number of texts.

    Raises:
        ValueError: when they are not one number from 0 for each text.
    """
    found = np.asarray(weights, "float32")
    right = found.shape == (count,) and np.isfinite(found).all()
    if not right or (found < 0).any():
        raise ValueError(
            "`sample_weight` must be a number from 0 for each text. Received: "
            f"an array of shape {found.shape} for {count} texts, "
            f"{found.ravel()[:5].tolist()} ..."
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
    below = np.floor(numbers)
    share = numbers - below
    weights = [
        (1 - part) * by_number.get(int(i), 1.0)
        + part * by_number.get(int(i) + 1, 1.0)
        for i, part in zip(below, share, strict=True)
    ]
    if sample_weight is None:
        return np.asarray(weights)
    return weights * check_weights(sample_weight, len(weights))
