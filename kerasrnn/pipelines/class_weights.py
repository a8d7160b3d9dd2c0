"""Weights of labels or tags in a loss."""

from collections.abc import Mapping

from kerasrnn.arguments import number


def weights_by_number(class_weight, names, numbers, kind):
    """Returns a dictionary from the numbers of labels to their weights.

    Args:
        class_weight: Dictionary from labels, by name or by number, to weights.
        names: List of strings, the names of all labels.
        numbers: Function from a list of labels to their numbers.
        kind: String, what a label is called.

    Raises:
        ValueError: when a label is unknown or there twice, or a weight is not
            a non-negative number.
    """
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            f"`class_weight` must be a dictionary from {kind}s to weights. "
            f"Received: class_weight={class_weight!r}"
        )
    labels = numbers(list(class_weight))
    weights = [
        number("class_weight", x, minimum=0) for x in class_weight.values()
    ]
    found = dict(zip(labels, weights, strict=True))
    if not found.keys() <= {*range(len(names))}:
        raise ValueError(
            f"`class_weight` must be of {kind}s: {names!r:.200}, or their "
            f"numbers. Received: class_weight={class_weight!r:.200}"
        )
    if len(found) < len(labels):
        raise ValueError(
            f"`class_weight` must have a {kind} once, by name or by number. "
            f"Received: class_weight={class_weight!r}"
        )
    return found
