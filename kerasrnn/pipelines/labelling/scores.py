"""Scores of predicted labels."""

import numpy as np

from kerasrnn.metrics.label_scores import precision_recall_f1
from kerasrnn.pipelines.confusion import confusion_counts


def label_scores(names, true, probabilities):
    """Compares predicted probabilities with the true labels.

    Args:
        names: List of strings, the name of each label.
        true: List of integers, the true labels by number; or, for two labels,
            probabilities of the second, which are rounded where labels are
            counted.
        probabilities: Array of shape `(texts, labels)`, or `(texts,)` with
            the probability of the second of two labels.

    Returns:
        A dictionary of `"accuracy"`, which is also the micro-averaged F1;
        `"macro_f1"`, the mean of the F1 of the labels; `"loss"`, the mean
        negative logarithm of the probability of the true label; `"by_label"`:
        for each label `"precision"`, `"recall"`, `"f1"` and `"support"`, the
        number of its texts; and `"confusion"`: for each true label, how often
        each label was predicted.

    Raises:
        ValueError: when there is no text, or the lists differ in length.
    """
    check_count(true, probabilities)
    given = np.asarray(true)
    true = given.round().astype(int)
    probabilities = both(probabilities)
    found = probabilities.argmax(axis=1)
    shares = both(given) if len(names) == 2 else np.eye(len(names))[true]
    costs = -np.log(np.clip(probabilities, 1e-7, 1.0)) * shares
    counts = confusion_counts(true, found, len(names))
    by_label = _by_label(names, counts.sum(1), counts.sum(0), counts.diagonal())
    return {
        "accuracy": float(np.mean(found == true)),
        "macro_f1": _macro_f1(by_label),
        "loss": float(np.mean(costs.sum(axis=1))),
        "by_label": by_label,
        "confusion": {
            name: dict(zip(names, row, strict=True))
            for name, row in zip(names, counts.tolist(), strict=True)
        },
    }


def multi_label_scores(names, true, found, probabilities):
    """Compares the labels of texts that may have several with the true ones.

    Args:
        names: List of strings, the name of each label.
        true: Array of 0 and 1 of shape `(texts, labels)`.
        found: Boolean array of that shape, the labels that were predicted.
        probabilities: Array of that shape.

    Returns:
        A dictionary of `"micro_f1"`, that of all pairs of a text and a label;
        `"macro_f1"`, the mean of the F1 of the labels; `"subset_accuracy"`,
        the share of texts of which all labels are right; `"loss"`, the mean
        cross-entropy of a text and a label; and `"by_label"`, for each label
        `"precision"`, `"recall"`, `"f1"` and `"support"`.

    Raises:
        ValueError: when there is no text, or not as many true labels.
    """
    check_count(true, probabilities)
    is_true = np.asarray(true, bool)
    of_true = np.where(is_true, probabilities, 1 - probabilities)
    counts = is_true.sum(0), found.sum(0), (is_true & found).sum(0)
    by_label = _by_label(names, *counts)
    micro = precision_recall_f1(*(int(count.sum()) for count in counts))
    return {
        "micro_f1": micro["f1"],
        "macro_f1": _macro_f1(by_label),
        "subset_accuracy": float(np.mean((is_true == found).all(axis=1))),
        "loss": float(-np.mean(np.log(np.clip(of_true, 1e-7, 1.0)))),
        "by_label": by_label,
    }


def _by_label(names, true, found, right):
    """Precision, recall and F1 of each label, and how many texts have it."""
    rows = zip(names, *(x.tolist() for x in (true, found, right)), strict=True)
    return {
        name: {**precision_recall_f1(*counts), "support": counts[0]}
        for name, *counts in rows
    }


def _macro_f1(by_label):
    return float(np.mean([x["f1"] for x in by_label.values()]))


def check_count(true, probabilities):
    """Raises a `ValueError` unless there is a label for each text."""
    if not len(true) or len(true) != len(probabilities):
        raise ValueError(
            "There must be as many labels as texts, and at least one. "
            f"Received: {len(probabilities)} texts and {len(true)} labels."
        )


def both(probabilities):
    """Returns probabilities `(texts, labels)`, also for those of the second."""
    if probabilities.ndim > 1:
        return probabilities
    return np.stack([1 - probabilities, probabilities], axis=1)
