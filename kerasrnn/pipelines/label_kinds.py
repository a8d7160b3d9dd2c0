"""Single-label and multi-label classification: predictions and scores."""

import numbers
from collections.abc import Collection
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerasrnn.arguments import number
from kerasrnn.metrics.label_scores import precision_recall_f1
from kerasrnn.pipelines.task import confusion_counts
from kerasrnn.training.losses import LabelCrossentropy


def at_temperature(probabilities, temperature):
    """Rescales probabilities as if their logits were divided by a number.

    Args:
        probabilities: Array of shape `(texts, labels)`.
        temperature: Positive float. Above 1, probabilities become less certain.
    """
    logits = np.log(np.clip(probabilities, 1e-12, 1.0)) / temperature
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def best_temperature(probabilities, true):
    """Returns the temperature that maximizes the likelihood of true labels.

    One additional text with uniform labels is counted. Otherwise, a model that
    is right about a few texts would become certain about all.

    Args:
        probabilities: Array of shape `(texts, labels)`, at temperature 1.
        true: Array of integers of shape `(texts,)`.
    """
    rows = np.arange(len(true))

    def loss(temperature):
        found = at_temperature(probabilities, temperature)
        logs = np.log(np.clip(found, 1e-12, 1.0))
        return -(logs[rows, true].sum() + logs.mean())

    # Searched on two grids: the loss is convex in the inverse temperature.
    low, high = 0.05, 20.0
    for _ in range(2):
        tried = np.geomspace(low, high, 41)
        best = int(np.argmin([loss(temperature) for temperature in tried]))
        low, high = tried[max(0, best - 1)], tried[min(40, best + 1)]
    return float(tried[best])


def _by_label(names, true, found, right):
    """Returns precision, recall, F1 and number of texts of each label."""
    rows = zip(names, *(x.tolist() for x in (true, found, right)), strict=True)
    return {
        name: {**precision_recall_f1(*counts), "support": counts[0]}
        for name, *counts in rows
    }


def _macro_f1(by_label):
    return float(np.mean([x["f1"] for x in by_label.values()]))


def check_count(true, probabilities):
    """Raises `ValueError` unless there is a label for each text."""
    if not len(true) or len(true) != len(probabilities):
        raise ValueError(
            "The numbers of texts and labels must be equal, and not 0. "
            f"Received: {len(probabilities)} texts and {len(true)} labels."
        )


def both(probabilities):
    """Returns probabilities `(texts, labels)`, also from binary ones."""
    if probabilities.ndim > 1:
        return probabilities
    return np.stack([1 - probabilities, probabilities], axis=1)


def thresholds_of(given, names):
    """Returns a tuple with the threshold of each label.

    Args:
        given: Number from 0 to 1 for all labels; a list with one for each
            label; or a dictionary by name.
        names: Tuple of strings, the names of the labels.

    Raises:
        ValueError: when there is not one for each label, or one is not a
            probability.
    """
    if isinstance(given, Mapping) and given.keys() == set(names):
        given = [given[name] for name in names]
    is_one = isinstance(given, numbers.Real)
    found = [given] * len(names) if is_one else list(given)
    right = all(isinstance(x, numbers.Real) and 0 <= x <= 1 for x in found)
    if not right or len(found) != len(names):
        raise ValueError(
            "Thresholds must be probabilities. Expected: a number from 0 to 1, "
            f"or one for each of {names}. Received: {given!r}"
        )
    return tuple(map(float, found))


def are_above(probabilities, thresholds):
    """Whether probabilities `(texts, labels)` are above the thresholds."""
    return probabilities > np.asarray(thresholds, "float32")


def best_thresholds(true, probabilities, thresholds):
    """Returns the threshold of each label that maximizes its F1.

    It is the midpoint between two probabilities. Labels that no text has keep
    their thresholds.

    Args:
        true: Array of 0 and 1 of shape `(texts, labels)`.
        probabilities: Array of that shape.
        thresholds: Tuple of floats, the current thresholds.
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
    is_last = ranked[1:] < ranked[:-1]  # of equal probabilities
    best = int(np.argmax(np.where(is_last, f1, -1)))
    middle = (ranked[best] + ranked[best + 1]) / 2
    return float(min(middle, np.nextafter(ranked[best], np.float32(0))))


class OneLabel:
    """Exactly one label per text.

    Args:
        names: Tuple of strings, the names of the labels.
        num_classes: Integer, the number of logits: one for each label, or 1,
            the log-odds of the second of two labels.
    """

    def __init__(self, names, num_classes):
        self.names = names
        self.one_logit = num_classes == 1
        self.shape = () if self.one_logit else (num_classes,)

    def loss(self, label_smoothing):
        """Returns the loss of logits, with label smoothing."""
        if self.one_logit:
            return keras.losses.BinaryCrossentropy(True, label_smoothing)
        if label_smoothing:
            return LabelCrossentropy(label_smoothing)
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def numbers(self, labels):
        """Converts labels to numbers; see `TextLabeller.numbers`."""
        labels = list(labels)
        if unclear := [x for x in labels if self._is_unclear(x)]:
            raise ValueError(
                "The names of the labels are numbers, so a number could be a "
                "name or an index. Expected: names as strings; for indices, "
                "use `[labels[i] for i in indices]`. Received: "
                f"{', '.join(map(repr, unclear[:5]))} for {self.names!r:.200}"
            )
        found: list[Any] = [
            self.names.index(label)
            if isinstance(label, str) and label in self.names
            else label
            for label in labels
        ]
        if wrong := [label for label in found if not self._is_label(label)]:
            raise ValueError(
                f"Labels must be among {self.names!r:.200}, or indices of "
                f"these. Received: {', '.join(map(repr, wrong[:5]))}"
            )
        return found

    def _is_unclear(self, label):
        whole = isinstance(label, numbers.Real) and float(label).is_integer()
        texts = {str(label), str(int(label))} if whole else set()
        names = texts & set(self.names)
        return any(self.names.index(name) != label for name in names)

    def _is_label(self, number):
        if not isinstance(number, (numbers.Real, np.bool_)):
            return False
        if self.one_logit:
            return 0 <= number <= 1
        return number in range(len(self.names))

    def answer(self, logits):
        """Returns probabilities and the most probable label."""
        if self.one_logit:
            probability = tf.sigmoid(logits[:, 0])
            label = tf.cast(probability > 0.5, tf.int32)
        else:
            probability = tf.nn.softmax(logits)
            label = tf.argmax(logits, axis=1)
        return {
            "probability": probability,
            "label": tf.gather(tf.constant(self.names), label),
        }

    def log_odds(self, logits, is_label):
        """Returns the log-odds of a label of each text, `(batch,)`."""
        if self.one_logit:
            return tf.where(is_label[:, 1], logits[:, 0], -logits[:, 0])
        own = tf.reduce_sum(tf.where(is_label, logits, 0.0), axis=1)
        others = tf.where(is_label, logits.dtype.min, logits)
        return own - tf.reduce_logsumexp(others, axis=1)

    def chosen(self, probabilities, threshold):
        """Returns the most probable labels; `None` below a threshold."""
        least = 0.0 if threshold is None else threshold
        number("threshold", least, minimum=0, maximum=1)
        names = np.array([*self.names, None], object)
        found = both(probabilities)
        unsure = found.max(axis=1, initial=0.0) < least
        best = np.where(unsure, len(self.names), found.argmax(axis=1))
        return names[best].tolist()

    def scores(self, true, probabilities):
        """Compares predicted probabilities with the true labels.

        Args:
            true: List of the number of the true label of each text; for two
                labels, also probabilities of the second one.
            probabilities: Array of shape `(texts,)` or `(texts, labels)`.

        Returns:
            A dictionary of `"accuracy"`, which is also the micro-averaged F1;
            `"macro_f1"`, the mean F1 of the labels; `"loss"`, the mean negative
            log-likelihood of the true labels; `"by_label"`, with `"precision"`,
            `"recall"`, `"f1"` and `"support"` (number of texts) of each label;
            and `"confusion"`, with the counts of predicted labels for each true
            label.

        Raises:
            ValueError: when there are no texts, or the lists differ in length.
        """
        check_count(true, probabilities)
        names, given = self.names, np.asarray(true)
        true = given.round().astype(int)
        probabilities = both(probabilities)
        found = probabilities.argmax(axis=1)
        shares = both(given) if len(names) == 2 else np.eye(len(names))[true]
        costs = -np.log(np.clip(probabilities, 1e-7, 1.0)) * shares
        counts = confusion_counts(true, found, len(names))
        by_label = _by_label(
            names, counts.sum(1), counts.sum(0), counts.diagonal()
        )
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

    def decisions(self, true, probabilities):
        """Returns the decisions of the model: one per text.

        Returns:
            A tuple of the probabilities `(decisions, options)` and the index of
            the true option of each decision.
        """
        return both(probabilities), np.asarray(true).round().astype(int)


class SeveralLabels:
    """Any number of labels per text, each with its own sigmoid.

    Args:
        names: Tuple of strings, the names of the labels.
        thresholds: Tuple of floats. A text has the labels whose probabilities
            exceed their thresholds.
    """

    def __init__(self, names, thresholds):
        self.names = names
        self.thresholds = thresholds
        self.shape = (len(names),)

    def loss(self, label_smoothing):
        """Returns the mean binary cross-entropy over all labels."""
        return keras.losses.BinaryCrossentropy(True, label_smoothing)

    def numbers(self, labels):
        """Returns labels as an array of 0 and 1; see `TextLabeller.numbers`."""
        if isinstance(labels, np.ndarray) and labels.dtype.kind in "biuf":
            right = labels.ndim == 2 and labels.shape[1] == len(self.names)
            if not right or not np.isin(labels, (0, 1)).all():
                raise ValueError(
                    "An array of `labels` must have the shape (texts, "
                    f"{len(self.names)}), with 1 for the labels of a text and "
                    f"0 for others. Received: shape {labels.shape}, "
                    f"{labels.ravel()[:5].tolist()} ..."
                )
            return labels.astype("int32")
        labels, known = list(labels), {x: n for n, x in enumerate(self.names)}
        found = np.zeros((len(labels), len(known)), "int32")
        for row, names in zip(found, labels, strict=True):
            is_list = isinstance(names, Collection)
            if not is_list or isinstance(names, str | Mapping):
                raise ValueError(
                    "With `multi_label`, a text can have several labels. "
                    "Expected: a list of names for each text (`[]` for none), "
                    f"or an array of 0 and 1 of shape (texts, {len(known)}). "
                    f"Received: {names!r}"
                )
            wrong = [
                x for x in names if not isinstance(x, str) or x not in known
            ]
            if wrong:
                raise ValueError(
                    f"Labels must be names among {self.names!r:.200}, or an "
                    "array of 0 and 1. For lists of indices, use "
                    "`[[names[n] for n in row] for row in labels]`. Received: "
                    f"{', '.join(map(repr, wrong[:5]))}"
                )
            row[[known[x] for x in names]] = 1
        return found

    def answer(self, logits):
        """Returns probabilities, and the labels above their thresholds.

        Both have shape `(batch, labels)`; other labels are empty strings.
        """
        probability = tf.sigmoid(logits)
        names = tf.constant(self.names)[None]
        is_above = probability > tf.constant(self.thresholds, tf.float32)
        return {
            "probability": probability,
            "label": tf.where(is_above, names, ""),
        }

    def log_odds(self, logits, is_label):
        """Returns the log-odds of a label of each text, `(batch,)`."""
        return tf.reduce_sum(tf.where(is_label, logits, 0.0), axis=1)

    def chosen(self, probabilities, threshold):
        """Returns the labels of each text with probabilities, best first."""
        thresholds = self.thresholds
        if threshold is not None:
            thresholds = thresholds_of(threshold, self.names)
        return [
            {
                self.names[n]: float(row[n])
                for n in np.argsort(-row, kind="stable")
                if above[n]
            }
            for row, above in zip(
                probabilities, are_above(probabilities, thresholds), strict=True
            )
        ]

    def scores(self, true, probabilities):
        """Compares predicted and true labels of multi-label texts.

        Args:
            true: Array of 0 and 1 of shape `(texts, labels)`.
            probabilities: Array of that shape.

        Returns:
            A dictionary of `"micro_f1"`, over all pairs of text and label;
            `"macro_f1"`, the mean F1 of the labels; `"subset_accuracy"`, the
            fraction of texts whose labels are all correct; `"loss"`, the mean
            cross-entropy over pairs; and `"by_label"`, with `"precision"`,
            `"recall"`, `"f1"` and `"support"` of each label.

        Raises:
            ValueError: when there are no texts, or the numbers of texts and
                true labels differ.
        """
        check_count(true, probabilities)
        is_true = np.asarray(true, bool)
        found = are_above(probabilities, self.thresholds)
        of_true = np.where(is_true, probabilities, 1 - probabilities)
        counts = is_true.sum(0), found.sum(0), (is_true & found).sum(0)
        by_label = _by_label(self.names, *counts)
        micro = precision_recall_f1(*(int(count.sum()) for count in counts))
        return {
            "micro_f1": micro["f1"],
            "macro_f1": _macro_f1(by_label),
            "subset_accuracy": float(np.mean((is_true == found).all(axis=1))),
            "loss": float(-np.mean(np.log(np.clip(of_true, 1e-7, 1.0)))),
            "by_label": by_label,
        }

    def decisions(self, true, probabilities):
        """Returns the decisions of the model: one per text and label."""
        return both(probabilities.ravel()), true.ravel()
