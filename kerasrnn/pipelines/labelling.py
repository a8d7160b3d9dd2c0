"""What a classifier does with texts: labels, explains, is evaluated."""

import numbers
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerasrnn.data.labelled_batches import pad_rows
from kerasrnn.pipelines.label_calibration import best_temperature
from kerasrnn.pipelines.label_scores import both
from kerasrnn.pipelines.label_scores import check_count
from kerasrnn.pipelines.label_scores import label_scores
from kerasrnn.pipelines.labelling_functions import LabellingFunctions
from kerasrnn.pipelines.labelling_functions import gradient_norms
from kerasrnn.pipelines.labelling_task import LabellingTask
from kerasrnn.pipelines.text_pipeline import TextPipeline
from kerasrnn.pipelines.texts import decoded
from kerasrnn.pipelines.texts import text_list
from kerasrnn.pipelines.texts import warn_of_cut
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.training import Stopwatch
from kerasrnn.typing import Config
from kerasrnn.typing import Strings
from kerasrnn.typing import Tensor

Labels = Sequence[str | float]
"""Labels by name or by number, or probabilities of the second of two."""


class Labelling(TextPipeline):
    """The part of `TextLabeller` that works with texts once it is trained.

    See `TextLabeller`.
    """

    tokenizer: Tokenizer
    labels: tuple[str, ...]
    max_length: int | None
    temperature: float

    def task(self) -> LabellingTask:
        return LabellingTask(self)

    def functions(self) -> dict[str, list[Any]]:
        return LabellingFunctions(self).by_name()

    def reads(self) -> tuple[Tokenizer, int | None] | None:
        return self.tokenizer, self.max_length

    def label(
        self, texts: Strings, batch_size: int = 64, threshold: float = 0.0
    ) -> list[Any]:
        """Returns the predicted label of each of a list of strings.

        Args:
            texts: List of strings.
            batch_size: Positive integer, texts in a batch.
            threshold: Float. Where the most probable label is less probable,
                `None` is returned, "do not know"; `calibrate` first.
        """
        names = np.array([*self.labels, None], object)
        found = both(self.probabilities(texts, batch_size))
        unsure = found.max(axis=1, initial=0.0) < threshold
        best = np.where(unsure, len(self.labels), found.argmax(axis=1))
        return names[best].tolist()

    def calibrate(
        self, texts: Strings, labels: Labels, batch_size: int = 64
    ) -> float:
        """Sets the `temperature` at which texts are best predicted.

        Trained to the end, models are too certain. One temperature brings their
        probabilities close to the share of texts of which they are right, and
        changes no predicted label.

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
        true = np.asarray(self.numbers(labels)).round().astype(int)
        check_count(true, texts)
        self.temperature = 1.0
        found = both(self.probabilities(texts, batch_size))
        self.temperature = best_temperature(found, true)
        return self.temperature

    def probabilities(self, texts: Strings, batch_size: int = 64) -> np.ndarray:
        """Returns the probabilities of the labels of a list of strings.

        They have shape `(texts, classes)`. For a model with one logit, it is
        `(texts,)`, the probabilities of the second label.
        """
        texts, classes = text_list(texts), self.model.num_classes
        shape = (len(texts), classes) if classes > 1 else (len(texts),)
        probabilities = np.zeros(shape, "float32")
        for places, found in self.answers(texts, batch_size):
            probabilities[places] = found["probability"].numpy()
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
            labels: List of the true labels, by name or by number.
            batch_size: Positive integer, texts in a batch.

        Returns:
            A dictionary of `"accuracy"`, also the micro-averaged F1;
            `"macro_f1"`; `"loss"`, the mean negative log-likelihood;
            `"by_label"`, precision, recall, F1 and the number of texts of each
            label; `"confusion"`, for each true label how often each label was
            predicted; `"wall_seconds"` and `"cpu_seconds"`.

        Raises:
            ValueError: when the numbers of texts and labels differ, or a
                label is unknown.
        """
        clock = Stopwatch()
        scores = label_scores(
            self.labels,
            self.numbers(labels),
            self.probabilities(texts, batch_size),
        )
        return {**scores, **clock.read()}

    def numbers(self, labels: Iterable[str | float]) -> list[float]:
        """Converts names of labels to numbers; numbers stay as they are.

        If names are themselves numbers, such as "1" to "5", the integer 1 may
        mean the label "1" or the second, "2". It is refused, unless both are
        the same.

        Args:
            labels: List of labels, by name or by number; for a model with one
                logit also probabilities of the second label.

        Raises:
            ValueError: when a label is unknown, or is a number that may also
                be meant as the name of another.
        """
        labels = list(labels)
        if unclear := [x for x in labels if self._is_unclear(x)]:
            raise ValueError(
                "The names of the labels are numbers, so that a number may "
                "mean a name or an index. Expected: names, as strings; for "
                "indices, `[labels[i] for i in indices]`. Received: "
                f"{', '.join(map(repr, unclear[:5]))} for {self.labels}"
            )
        found: list[Any] = [
            self.labels.index(label) if label in self.labels else label
            for label in labels
        ]
        wrong = [label for label in found if not self._is_label(label)]
        if wrong:
            raise ValueError(
                f"`labels` must be of {self.labels}, or their numbers. "
                f"Received: {', '.join(map(repr, wrong[:5]))}"
            )
        return found

    def _is_unclear(self, label):
        if isinstance(label, str) or not isinstance(label, numbers.Real):
            return False
        if not float(label).is_integer():
            return False
        names = {str(label), str(int(label))} & set(self.labels)
        return any(self.labels.index(name) != label for name in names)

    def _is_label(self, number):
        if not isinstance(number, (numbers.Real, np.bool_)):
            return False
        if self.model.num_classes == 1:
            return 0 <= number <= 1
        return number in range(len(self.labels))

    def explain(
        self, text: str, label: str | None = None
    ) -> tuple[list[str], np.ndarray]:
        """Returns the words of one string and the weight of each.

        The weights are those of the attention. For a model without attention,
        they are the norms of the gradients of the words (`gradient_norms`),
        divided by their sum. They do not say for which label a word speaks.
        With a `label`, weights do: above 0 for the label, below 0 against it. A
        weight is then the product of the embedding of the word and the gradient
        of the log odds of the label.

        Args:
            text: String.
            label: String, the label to explain; `None` for the attention.

        Returns:
            A tuple of a list of strings and a float array of shape
            `(words,)`. A text without words has one empty word of weight 0.

        Raises:
            ValueError: when the label is unknown.

        Reference:
            [Denil et al., 2014](https://arxiv.org/abs/1412.6815).
        """
        self._warn_of_cut(text)
        given = [tf.constant([text])]
        if label is None:
            found = self.signatures["explain"](*given)
        elif label in self.labels:
            given.append(tf.constant([label]))
            found = self.signatures["explain_label"](*given)
        else:
            raise ValueError(
                f"`label` must be one of {self.labels}. "
                f"Received: label={label!r}"
            )
        words = [token.decode() for token in found["tokens"].numpy()[0]]
        return words, found["weights"].numpy()[0]

    def hidden_states(self, text: str) -> tuple[list[str], np.ndarray]:
        """Returns the words of one string and the outputs of the encoder.

        Args:
            text: String.

        Returns:
            A tuple of a list of strings and a float32 array of shape
            `(words, units)`.
        """
        self._warn_of_cut(text)
        ids = self.ids(tf.constant([text]))
        memory, mask, _ = self.model.encoder(ids)
        words = tf.where(mask, self.tokenizer.tokens(ids), "")[0]
        return decoded(words), tf.cast(memory[0], tf.float32).numpy()

    def gradient_norms(self, text: str) -> np.ndarray:
        """Returns how strongly each word of one string affects the label.

        It is the norm of the gradient of the greatest logit with respect to
        the embedding of the word, of shape `(words,)`.
        """
        self._warn_of_cut(text)
        ids = self.ids(tf.constant([text]))
        return gradient_norms(self.model, ids)[0].numpy()

    def ids(self, texts: Tensor) -> Tensor:
        """Tokenizes texts for the model.

        Args:
            texts: String tensor of shape `(batch,)`.

        Returns:
            Int32 tensor of shape `(batch, time)`, padded, with at least one
            column.
        """
        ids = self.tokenizer.tokenize(texts, self.max_length)
        return pad_rows(ids, self.tokenizer.pad_id)

    def _warn_of_cut(self, text):
        warn_of_cut([text], self.tokenizer, self.max_length)

    def served_facts(self) -> Config:
        """Returns `"labels"`, and `"max_length"`: how many tokens are read."""
        return {"labels": list(self.labels), "max_length": self.max_length}
