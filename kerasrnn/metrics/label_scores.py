"""Scores of labels and phrases: accuracy, precision, recall and F1."""

import collections
from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import is_integer


def precision_recall_f1(true: int, found: int, right: int) -> dict[str, float]:
    """Returns precision, recall and F1; 0 where undefined.

    Args:
        true: Integer, number of true items.
        found: Integer, number of predicted items.
        right: Integer, number of correct predictions.

    Returns:
        A dictionary of `"precision"`, `"recall"` and `"f1"`.
    """
    return {
        "precision": right / max(1, found),
        "recall": right / max(1, true),
        "f1": 2 * right / max(1, true + found),
    }


@keras.saving.register_keras_serializable("kerasrnn")
def label_accuracy(labels, logits):
    """Returns whether the most probable class is the true one.

    Args:
        labels: Tensor of shape `(batch, 1)`: classes, or, for two classes, the
            probability of the second one. For multi-label texts, of shape
            `(batch, labels)`, 1 for labels of the text and 0 for others.
        logits: Tensor of shape `(batch, num_classes)`, or `(batch, 1)` for
            two classes.

    Returns:
        Boolean tensor of the shape of `labels`.
    """
    if logits.shape[-1] in (1, labels.shape[-1]):
        return ops.equal(ops.cast(labels, "float32") > 0.5, logits > 0.0)
    found = ops.argmax(logits, axis=-1, keepdims=True)
    return ops.equal(ops.cast(labels, found.dtype), found)


Phrases = Sequence[tuple[int, int, str]]


def phrase_scores(
    true: Sequence[Phrases], found: Sequence[Phrases]
) -> dict[str, Any]:
    """Computes span-level precision, recall and F1, such as for names.

    A predicted phrase is correct if start, end and label are. Over all
    sentences:

        precision = right / found       recall = right / true
        F1 = 2 right / (found + true)

    This is the CoNLL evaluation. Undefined scores are 0.

    Args:
        true: For each sentence, the list of its phrases
            `(start, end, label)`.
        found: The same for the predicted phrases.

    Returns:
        A dictionary of `"precision"`, `"recall"` and `"f1"`, and of
        `"by_label"`, a dictionary of the same for each label with its number of
        true phrases, `"support"`.

    Raises:
        ValueError: when the numbers of sentences differ, or a phrase is not
            such a tuple (`kerasrnn.data.phrases_of` converts tags to phrases).

    Example:

    >>> true = [[(0, 2, "PER"), (3, 4, "LOC")]]
    >>> scores = phrase_scores(true, [[(0, 2, "PER"), (3, 5, "LOC")]])
    >>> scores["f1"], scores["by_label"]["PER"]["f1"]
    (0.5, 1.0)

    Reference:
        [Tjong Kim Sang & Buchholz, 2000](https://aclanthology.org/W00-0726).
    """
    counts: dict[str, collections.Counter[str]] = {
        name: collections.Counter() for name in ("true", "found", "right")
    }
    for expected, given in zip(true, found, strict=True):
        expected, given = _phrases(expected), _phrases(given)
        for name, phrases in (
            ("true", expected),
            ("found", given),
            ("right", expected & given),
        ):
            counts[name].update(str(label) for *_, label in phrases)
    by_label = {
        label: {
            **precision_recall_f1(*(counts[name][label] for name in counts)),
            "support": counts["true"][label],
        }
        for label in sorted(counts["true"] | counts["found"])
    }
    return {
        **precision_recall_f1(*(counts[name].total() for name in counts)),
        "by_label": by_label,
    }


def _phrases(phrases):
    """Returns the phrases of a sentence as a set of tuples."""
    found = set(map(tuple, phrases))
    for phrase in found:
        if len(phrase) != 3 or not all(map(is_integer, phrase[:2])):
            raise ValueError(
                "A phrase must be a tuple (start, end, label). "
                "`kerasrnn.data.phrases_of` converts tags to phrases. "
                f"Received: {phrase!r}"
            )
    return found
