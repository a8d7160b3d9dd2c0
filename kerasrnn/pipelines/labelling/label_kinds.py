"""What labels a text has: one of several, or any number of them.

Both kinds turn labels into what a model is trained on, and its logits and
probabilities into labels.
"""

import numbers
from collections.abc import Collection
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerasrnn.pipelines.labelling.scores import both
from kerasrnn.pipelines.labelling.scores import label_scores
from kerasrnn.pipelines.labelling.scores import multi_label_scores
from kerasrnn.pipelines.labelling.thresholds import are_above
from kerasrnn.pipelines.labelling.thresholds import is_probability
from kerasrnn.pipelines.labelling.thresholds import thresholds_of
from kerasrnn.training.losses import LabelCrossentropy


class OneLabel:
    """One label a text.

    Args:
        names: Tuple of strings, the names of the labels.
        num_classes: Integer, the number of logits: one for each label, or 1,
            the log odds of the second of two.
    """

    def __init__(self, names, num_classes):
        self.names = names
        self.one_logit = num_classes == 1
        self.shape = () if self.one_logit else (num_classes,)

    def loss(self, label_smoothing):
        """The loss of logits, with a share of each label spread over all."""
        if self.one_logit:
            return keras.losses.BinaryCrossentropy(True, label_smoothing)
        if label_smoothing:
            return LabelCrossentropy(label_smoothing)
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def numbers(self, labels):
        """Labels by number, see `Labelling.numbers`."""
        labels = list(labels)
        if unclear := [x for x in labels if self._is_unclear(x)]:
            raise ValueError(
                "The names of the labels are numbers, so that a number may "
                "mean a name or an index. Expected: names, as strings; for "
                "indices, `[labels[i] for i in indices]`. Received: "
                f"{', '.join(map(repr, unclear[:5]))} for {self.names!r:.200}"
            )
        found: list[Any] = [
            self.names.index(label)
            if isinstance(label, str) and label in self.names
            else label
            for label in labels
        ]
        wrong = [label for label in found if not self._is_label(label)]
        if wrong:
            raise ValueError(
                f"Labels must be of {self.names!r:.200}, or their numbers. "
                f"Received: {', '.join(map(repr, wrong[:5]))}"
            )
        return found

    def _is_unclear(self, label):
        if isinstance(label, str) or not isinstance(label, numbers.Real):
            return False
        if not float(label).is_integer():
            return False
        names = {str(label), str(int(label))} & set(self.names)
        return any(self.names.index(name) != label for name in names)

    def _is_label(self, number):
        if not isinstance(number, (numbers.Real, np.bool_)):
            return False
        if self.one_logit:
            return 0 <= number <= 1
        return number in range(len(self.names))

    def answer(self, logits):
        """The probabilities of logits, and the most probable label."""
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
        """The log odds of a label of each text, `(batch,)`."""
        if self.one_logit:
            return tf.where(is_label[:, 1], logits[:, 0], -logits[:, 0])
        own = tf.reduce_sum(tf.where(is_label, logits, 0.0), axis=1)
        others = tf.where(is_label, logits.dtype.min, logits)
        return own - tf.reduce_logsumexp(others, axis=1)

    def chosen(self, probabilities, threshold):
        """The most probable label of each text; `None` below a threshold."""
        least = 0.0 if threshold is None else threshold
        if not is_probability(least):
            raise ValueError(
                "Each text has one label. Expected: a number from 0 to 1 as "
                f"`threshold`. Received: threshold={threshold!r}"
            )
        names = np.array([*self.names, None], object)
        found = both(probabilities)
        unsure = found.max(axis=1, initial=0.0) < least
        best = np.where(unsure, len(self.names), found.argmax(axis=1))
        return names[best].tolist()

    def scores(self, true, probabilities):
        """What `Labelling.evaluate` returns."""
        return label_scores(self.names, true, probabilities)

    def decisions(self, true, probabilities):
        """The choices that are made, of one label for each text.

        Returns:
            A tuple of the probabilities `(choices, options)` and the number
            of the true option of each.
        """
        return both(probabilities), np.asarray(true).round().astype(int)


class SeveralLabels:
    """Any number of labels a text, each with a sigmoid of its own.

    Args:
        names: Tuple of strings, the names of the labels.
        thresholds: Tuple of floats. A text has the labels whose probability
            is above theirs.
    """

    def __init__(self, names, thresholds):
        self.names = names
        self.thresholds = thresholds
        self.shape = (len(names),)

    def loss(self, label_smoothing):
        """The mean loss of the logits of all labels."""
        return keras.losses.BinaryCrossentropy(True, label_smoothing)

    def numbers(self, labels):
        """An array `(texts, labels)` of 0 and 1, see `Labelling.numbers`."""
        if isinstance(labels, np.ndarray) and labels.dtype.kind in "biuf":
            return self._checked_array(labels)
        labels, known = list(labels), {x: n for n, x in enumerate(self.names)}
        found = np.zeros((len(labels), len(known)), "int32")
        for row, names in zip(found, labels, strict=True):
            is_list = isinstance(names, Collection)
            if not is_list or isinstance(names, str | Mapping):
                raise ValueError(
                    "A text may have several labels. Expected: a list of "
                    "names for each text, `[]` for none; or an array of 0 and "
                    f"1 of shape (texts, {len(known)}). Received: {names!r}"
                )
            wrong = [
                x for x in names if not isinstance(x, str) or x not in known
            ]
            if wrong:
                raise ValueError(
                    f"Labels must be names of {self.names!r:.200}, or an "
                    "array of 0 and 1; for numbers, such as a corpus has, "
                    "`[[names[n] for n in row] for row in labels]`. Received: "
                    f"{', '.join(map(repr, wrong[:5]))}"
                )
            row[[known[x] for x in names]] = 1
        return found

    def _checked_array(self, labels):
        right = labels.ndim == 2 and labels.shape[1] == len(self.names)
        if not right or not np.isin(labels, (0, 1)).all():
            raise ValueError(
                "An array of `labels` must have 1 for the labels of a text and "
                f"0 for others, of shape (texts, {len(self.names)}). Received: "
                f"shape {labels.shape}, {labels.ravel()[:5].tolist()} ..."
            )
        return labels.astype("int32")

    def answer(self, logits):
        """The probabilities of logits, and the labels above their thresholds.

        Both have shape `(batch, labels)`: others are empty strings.
        """
        probability = tf.sigmoid(logits)
        names = tf.constant(self.names)[None]
        is_above = probability > tf.constant(self.thresholds, tf.float32)
        return {
            "probability": probability,
            "label": tf.where(is_above, names, ""),
        }

    def log_odds(self, logits, is_label):
        """The log odds of a label of each text, `(batch,)`."""
        return tf.reduce_sum(tf.where(is_label, logits, 0.0), axis=1)

    def chosen(self, probabilities, threshold):
        """The labels of each text and their probabilities, in falling order."""
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
        """What `Labelling.evaluate` returns."""
        found = are_above(probabilities, self.thresholds)
        return multi_label_scores(self.names, true, found, probabilities)

    def decisions(self, true, probabilities):
        """The choices that are made: whether a text has a label, of each."""
        return both(probabilities.ravel()), true.ravel()
