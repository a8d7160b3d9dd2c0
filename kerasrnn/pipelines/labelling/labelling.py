"""What a classifier does with texts: labels them, is evaluated."""

from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerasrnn.pipelines.labelling.calibration import best_temperature
from kerasrnn.pipelines.labelling.explaining import Explaining
from kerasrnn.pipelines.labelling.functions import LabellingFunctions
from kerasrnn.pipelines.labelling.label_kinds import OneLabel
from kerasrnn.pipelines.labelling.label_kinds import SeveralLabels
from kerasrnn.pipelines.labelling.multi_label_task import MultiLabelTask
from kerasrnn.pipelines.labelling.scores import both
from kerasrnn.pipelines.labelling.scores import check_count
from kerasrnn.pipelines.labelling.task import LabellingTask
from kerasrnn.pipelines.labelling.thresholds import at_other_temperature
from kerasrnn.pipelines.labelling.thresholds import best_thresholds
from kerasrnn.pipelines.texts import text_list
from kerasrnn.pipelines.xla import XlaShapes
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.training import Stopwatch
from kerasrnn.typing import Config
from kerasrnn.typing import Strings

Labels = Sequence[str | float] | Sequence[Collection[str]] | np.ndarray
"""Labels by name or by number, or probabilities of the second of two.

Of texts that may have several, a list of names for each, or an array of 0 and 1
of shape `(texts, labels)`.
"""


class Labelling(Explaining):
    """The part of `TextLabeller` that works with texts once it is trained.

    See `TextLabeller`.
    """

    asked_by = "`label` or `probabilities`"
    temperature: float
    multi_label: bool
    thresholds: tuple[float, ...]
    # XLA makes batches of texts no faster.
    usual_shapes = XlaShapes(rows=[1], lengths=[32, 64, 128, 256])

    @property
    def kind(self) -> OneLabel | SeveralLabels:
        """What labels a text has, one or several."""
        if self.multi_label:
            return SeveralLabels(self.labels, self.thresholds)
        return OneLabel(self.labels, self.model.num_classes)

    def task(self) -> LabellingTask:
        task = MultiLabelTask if self.multi_label else LabellingTask
        return task(self)

    def functions(self) -> dict[str, list[Any]]:
        return LabellingFunctions(self).by_name()

    def reads(self) -> tuple[Tokenizer, int | None] | None:
        return self.tokenizer, self.max_length

    def label(
        self,
        texts: Strings,
        batch_size: int = 64,
        threshold: float | Mapping[str, float] | None = None,
    ) -> list[Any]:
        """Returns the predicted label of each of a list of strings.

        Args:
            texts: List of strings.
            batch_size: Positive integer, texts in a batch.
            threshold: Float. Where the most probable label is less probable,
                `None` is returned, "do not know"; `calibrate` first. With
                `multi_label`, the probability above which a text has a label,
                one for all or one for each by name, instead of `thresholds`.

        Returns:
            A list of strings or `None`. With `multi_label`, a list of
            dictionaries, from the labels that a text has to their
            probabilities, the most probable first; some may be empty.
        """
        found = self.probabilities(texts, batch_size)
        return self.kind.chosen(found, threshold)

    def calibrate(
        self, texts: Strings, labels: Labels, batch_size: int = 64
    ) -> float:
        """Sets the `temperature` at which texts are best predicted.

        Trained to the end, models are too certain. One temperature brings their
        probabilities close to the share of texts of which they are right, and
        changes no predicted label: the `thresholds` of several labels move
        along.

        Args:
            texts: List of strings that the model was not trained on.
            labels: List of their true labels, by name or by number.
            batch_size: Positive integer, texts in a batch.

        Returns:
            The temperature, also `labeller.temperature`.

        Raises:
            ValueError: as `evaluate`.

        Reference:
            [Guo et al., 2017](https://arxiv.org/abs/1706.04599).
        """
        kind, true, before = self.kind, self.numbers(labels), self.temperature
        texts = text_list(texts)
        check_count(true, texts)
        self.temperature = 1.0
        try:
            found = self.probabilities(texts, batch_size)
        finally:
            self.temperature = before
        self.temperature = best_temperature(*kind.decisions(true, found))
        self.thresholds = at_other_temperature(
            self.thresholds, self.temperature / before
        )
        return self.temperature

    def tune_thresholds(
        self, texts: Strings, labels: Labels, batch_size: int = 64
    ) -> dict[str, float]:
        """Sets the `thresholds` at which the F1 of each label is highest.

        On the same texts, scores are then too good: evaluate it on others. A
        label that none of them has keeps its threshold.

        Args:
            texts: List of strings that the model was not trained on.
            labels: List of the true labels of each, see `numbers`.
            batch_size: Positive integer, texts in a batch.

        Returns:
            A dictionary from the names of all labels to their thresholds.

        Raises:
            ValueError: as `evaluate`, or without `multi_label`.
        """
        if not self.multi_label:
            raise ValueError(
                "The most probable label needs no thresholds. Expected: "
                "several labels a text. Received: multi_label=False"
            )
        true, texts = self.numbers(labels), text_list(texts)
        check_count(true, texts)
        found = self.probabilities(texts, batch_size)
        self.thresholds = best_thresholds(true, found, self.thresholds)
        return dict(zip(self.labels, self.thresholds, strict=True))

    def probabilities(self, texts: Strings, batch_size: int = 64) -> np.ndarray:
        """Returns the probabilities of the labels of a list of strings.

        They have shape `(texts, classes)`. For a model with one logit, it is
        `(texts,)`, the probabilities of the second label. With `multi_label`,
        those of a text do not sum to 1.
        """
        texts = text_list(texts)
        probabilities = np.zeros((len(texts), *self.kind.shape), "float32")
        for indices, found in self.answers(texts, batch_size):
            probabilities[indices] = found["probability"].numpy()
        return probabilities

    def label_probabilities(
        self, texts: Strings, batch_size: int = 64
    ) -> list[dict[str, float]]:
        """Returns the probability of every label for each of a list of strings.

        Unlike `probabilities`, it is the same for any number of labels.

        Args:
            texts: List of strings.
            batch_size: Positive integer, texts in a batch.

        Returns:
            For each text a dictionary from the names of all labels, in their
            order, to their probabilities.
        """
        found = both(self.probabilities(texts, batch_size))
        return [
            dict(zip(self.labels, row, strict=True)) for row in found.tolist()
        ]

    def evaluate(
        self, texts: Strings, labels: Labels, batch_size: int = 64
    ) -> dict[str, Any]:
        """Labels texts and compares the labels with the true ones.

        Args:
            texts: List of strings.
            labels: List of the true labels, see `numbers`. Probabilities of
                the second of two are rounded where labels are counted.
            batch_size: Positive integer, texts in a batch.

        Returns:
            A dictionary of `"accuracy"`, also the micro-averaged F1;
            `"macro_f1"`; `"loss"`, the mean negative log-likelihood;
            `"by_label"`, precision, recall, F1 and the number of texts of each
            label; `"confusion"`, for each true label how often each label was
            predicted; `"wall_seconds"` and `"cpu_seconds"`. With
            `multi_label`, instead of accuracy and confusion, `"micro_f1"` of
            all labels of all texts, and `"subset_accuracy"`, the share of
            texts of which all labels are right.

        Raises:
            ValueError: when the numbers of texts and labels differ, or a
                label is unknown.
        """
        clock = Stopwatch()
        scores = self.kind.scores(
            self.numbers(labels), self.probabilities(texts, batch_size)
        )
        return {**scores, **clock.read()}

    def numbers(self, labels: Iterable[Any] | None) -> Any:
        """Converts names of labels to numbers; numbers stay as they are.

        If names are themselves numbers, such as "1" to "5", the integer 1 may
        mean the label "1" or the second, "2". It is refused, unless both are
        the same.

        Args:
            labels: List of labels, by name or by number; for a model with one
                logit also probabilities of the second label. With
                `multi_label`, a list of names for each text, `[]` for none; or
                an array of 0 and 1 of shape `(texts, labels)`.

        Returns:
            A list of numbers. With `multi_label`, an array of 0 and 1 of shape
            `(texts, labels)`.

        Raises:
            ValueError: when a label is unknown, or is a number that may also
                be meant as the name of another, or `labels` are in no order.
        """
        in_order = isinstance(labels, Iterable)
        if not in_order or isinstance(labels, Mapping | set | frozenset):
            raise ValueError(
                "`labels` must be a list, the label of each text. "
                f"Received: labels={labels!r:.80}"
            )
        return self.kind.numbers(labels)

    def served_facts(self) -> Config:
        """Returns what a client must know.

        `"labels"`, `"max_length"`: how many tokens are read; with
        `multi_label`, that, and the `"thresholds"` by label. Also those of
        every `XlaPipeline`.
        """
        facts = {
            **super().served_facts(),
            "labels": list(self.labels),
            "max_length": self.max_length,
        }
        if self.multi_label:
            by_label = dict(zip(self.labels, self.thresholds, strict=True))
            facts |= {"multi_label": True, "thresholds": by_label}
        return facts

    def lengths(self, texts: Strings) -> np.ndarray:
        ids = self.tokenizer.tokenize(tf.constant(texts), self.max_length)
        return ids.row_lengths().numpy()
