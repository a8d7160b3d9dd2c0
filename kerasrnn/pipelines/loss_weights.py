"""Class weights and sample weights in losses."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
import tensorflow as tf

from kerasrnn.arguments import number
from kerasrnn.data.batches import checked_weights

ClassWeight = Mapping[str | int, float] | Literal["balanced"] | None
"""Dictionary from labels or tags (names or numbers) to weights."""


def weights_by_number(class_weight, names, numbers, kind, true=None):
    """Converts class weights to a dictionary with numbers of labels as keys.

    Args:
        class_weight: Dictionary from labels (names or numbers) to weights; or
            `"balanced"`, which gives all labels the same total weight.
        names: List of strings, the names of all labels.
        numbers: Function from a list of labels to their numbers.
        kind: String, the word for a label in messages.
        true: Array of integers, the labels of the data; `None` if unknown, so
            that they cannot be balanced.

    Raises:
        ValueError: when a label is unknown or given twice, or a weight is not a
            non-negative number.
    """
    # An array cannot be compared with a string.
    if str(class_weight) == "balanced" and true is not None:
        labels, counts = np.unique(true, return_counts=True)
        weights = counts.sum() / (len(counts) * counts)
        return dict(zip(labels.tolist(), weights.tolist(), strict=True))
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            f"`class_weight` must be a dictionary from {kind}s to weights, or "
            f"'balanced' if {kind}s are given. Received: "
            f"class_weight={class_weight!r}"
        )
    labels = numbers(list(class_weight))
    found = {
        label: number("class_weight", weight, minimum=0)
        for label, weight in zip(labels, class_weight.values(), strict=True)
    }
    if not found.keys() <= {*range(len(names))}:
        raise ValueError(
            f"The keys of `class_weight` must be {kind}s, among "
            f"{names!r:.200}, or their numbers. Received: "
            f"class_weight={class_weight!r:.200}"
        )
    if len(found) < len(labels):
        raise ValueError(
            f"`class_weight` must not have a {kind} twice, by name and by "
            f"number. Received: class_weight={class_weight!r}"
        )
    return found


def weights_of_labels(numbers, by_number, sample_weight=None):
    """Returns the weight of each text by its label.

    Args:
        numbers: List of numbers of labels, or probabilities of the second
            label.
        by_number: Dictionary from the number of a label to its weight. The
            default weight is 1.
        sample_weight: List of weights to multiply by; `None` for 1.

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


def weights_of_words(numbers, tags, sample_weight, class_weight):
    """Returns a weight for each sentence or, with class weights, each word.

    Args:
        numbers: Ragged integer tensor of shape `(sentences, words)`, the tags.
        tags: List of strings, the names of the tags.
        sample_weight: List of floats, the weight of each sentence; or `None`.
        class_weight: As in `weights_by_number`, or `None`.

    Returns:
        Float32 tensor of shape `(sentences,)`; with `class_weight`, a ragged
        one of shape `(sentences, words)`.
    """
    count = int(numbers.nrows())
    if sample_weight is None:
        sample_weight = [1.0] * count
    weights = tf.constant(checked_weights(sample_weight, count, "sentence"))
    if class_weight is None:
        return weights

    def by_name(given):
        return [tags.index(tag) if tag in tags else tag for tag in given]

    true = numbers.flat_values.numpy()
    found = weights_by_number(class_weight, tags, by_name, "tag", true)
    of_tag = tf.constant([found.get(n, 1.0) for n in range(len(tags))])
    words = tf.gather(of_tag, numbers.flat_values)
    words *= tf.gather(weights, numbers.value_rowids())
    return numbers.with_flat_values(words)
