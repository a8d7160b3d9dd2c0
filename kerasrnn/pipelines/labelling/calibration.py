"""Probabilities that say how often a classifier is right."""

import numpy as np

_RANGE = 0.05, 20.0  # of temperatures


def at_temperature(probabilities, temperature):
    """Returns the probabilities of logits divided by a temperature.

    Args:
        probabilities: Array of shape `(texts, labels)`.
        temperature: Positive float. Above 1, they are less certain.
    """
    logits = np.log(np.clip(probabilities, 1e-12, 1.0)) / temperature
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def best_temperature(probabilities, true):
    """Returns the temperature at which the true labels are most probable.

    One more text counts, whose labels are equally frequent: else a model that
    is right about a few texts would become certain of all.

    Args:
        probabilities: Array of shape `(texts, labels)`, at temperature 1.
        true: Array of integers of shape `(texts,)`.
    """
    rows = np.arange(len(true))

    def loss(temperature):
        found = at_temperature(probabilities, temperature)
        logs = np.log(np.clip(found, 1e-12, 1.0))
        return -(logs[rows, true].sum() + logs.mean())

    # On two grids: convex in its inverse, the loss has one valley.
    low, high = _RANGE
    for _ in range(2):
        tried = np.geomspace(low, high, 41)
        best = int(np.argmin([loss(temperature) for temperature in tried]))
        low, high = tried[max(0, best - 1)], tried[min(40, best + 1)]
    return float(tried[best])
