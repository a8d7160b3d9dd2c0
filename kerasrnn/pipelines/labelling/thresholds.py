"""Thresholds above which a text has a label."""

import numbers
from collections.abc import Iterable
from collections.abc import Mapping

import numpy as np

from kerasrnn.pipelines.labelling.calibration import at_temperature
from kerasrnn.pipelines.labelling.scores import both


def thresholds_of(given, names):
    """Returns a tuple of the threshold of each label.

    Args:
        given: Number from 0 to 1, for all labels; a list of them, one for
            each label; or a dictionary of them by name.
        names: Tuple of strings, the names of the labels.

    Raises:
        ValueError: when there is not one for each label, or one is no
            probability.
    """
    found = []
    if isinstance(given, numbers.Real):
        found = [given] * len(names)
    elif isinstance(given, Mapping):
        if given.keys() == set(names):
            found = [given[name] for name in names]
    elif isinstance(given, Iterable):
        found = list(given)
    if len(found) != len(names) or not all(map(is_probability, found)):
        raise ValueError(
            "Thresholds are probabilities. Expected: a number from 0 to 1, or "
            f"one for each of {names}. Received: {given!r}"
        )
    return tuple(map(float, found))


def is_probability(value):
    """Whether a value is a number from 0 to 1."""
    return isinstance(value, numbers.Real) and 0 <= value <= 1


def are_above(probabilities, thresholds):
    """Whether probabilities `(texts, labels)` are above those of labels."""
    return probabilities > np.asarray(thresholds, "float32")


def at_other_temperature(thresholds, ratio):
    """Returns the thresholds above which texts have the same labels.

    Args:
        thresholds: Tuple of floats.
        ratio: Positive float, the new temperature by the old one.
    """
    found = at_temperature(both(np.asarray(thresholds)), ratio)
    return tuple(found[:, 1].tolist())


def best_thresholds(true, probabilities, thresholds):
    """Returns the threshold of each label at which its F1 is highest.

    It is midway between two probabilities. Labels that no text has keep theirs.

    Args:
        true: Array of 0 and 1 of shape `(texts, labels)`.
        probabilities: Array of that shape.
        thresholds: Tuple of floats, those to keep.
    """
    columns = zip(true.T, probabilities.T, thresholds, strict=True)
    return tuple(
        _best_threshold(is_true, found) if is_true.any() else before
        for is_true, found, before in columns
    )


def _best_threshold(is_true, probabilities):
    order = np.argsort(-probabilities, kind="stable")
    ranked = np.append(probabilities[order], np.float32(0))
    right = np.cumsum(is_true[order])
    f1 = 2 * right / (np.arange(1, len(ranked)) + right[-1])
    is_last = ranked[1:] < ranked[:-1]  # of several equal ones
    best = int(np.argmax(np.where(is_last, f1, -1)))
    middle = (ranked[best] + ranked[best + 1]) / 2
    return float(min(middle, np.nextafter(ranked[best], np.float32(0))))
