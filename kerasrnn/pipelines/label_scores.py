"""Scores of predicted labels."""

import keras
import numpy as np
from keras import ops

from kerasrnn.metrics.precision_recall import precision_recall_f1


@keras.saving.register_keras_serializable("kerasrnn")
def label_accuracy(labels, logits):
    """Returns whether the most probable class is the true one.

    Args:
        labels: Tensor of shape `(batch, 1)`: classes, or, for two classes,
            the probability of the second.
        logits: Tensor of shape `(batch, num_classes)`, or `(batch, 1)` for
            two classes.

    Returns:
        Boolean tensor of shape `(batch, 1)`.
    """
    if logits.shape[-1] == 1:
        return ops.equal(ops.cast(labels, "float32") > 0.5, logits > 0.0)
    found = ops.argmax(logits, axis=-1, keepdims=True)
    return ops.equal(ops.cast(labels, found.dtype), found)


def label_scores(names, true, probabilities):
    """Compares predicted probabilities with the true labels.

    Args:
        names: List of strings, the name of each label.
        true: List of integers, the true labels by number.
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
        ValueError: when there is no text, the lists differ in length, or a
            true label has no name.
    """
    check_count(true, probabilities)
    if not np.isin(true, range(len(names))).all():
        raise ValueError(
            f"`labels` must be of {names}, or their numbers from 0. "
            f"Received: {sorted(set(true))}"
        )
    true = np.asarray(true, int)
    probabilities = both(probabilities)
    found = probabilities.argmax(axis=1)
    of_true = probabilities[np.arange(len(true)), true]
    counts = np.zeros((len(names), len(names)), int)
    np.add.at(counts, (true, found), 1)
    by_label = {
        name: {
            **precision_recall_f1(
                *map(int, (counts[i].sum(), counts[:, i].sum(), counts[i, i]))
            ),
            "support": int(counts[i].sum()),
        }
        for i, name in enumerate(names)
    }
    return {
        "accuracy": float(np.mean(found == true)),
        "macro_f1": float(np.mean([x["f1"] for x in by_label.values()])),
        "loss": float(-np.mean(np.log(np.clip(of_true, 1e-7, 1.0)))),
        "by_label": by_label,
        "confusion": {
            name: dict(zip(names, row, strict=True))
            for name, row in zip(names, counts.tolist(), strict=True)
        },
    }


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
