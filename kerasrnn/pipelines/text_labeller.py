"""Text classification: a tokenizer and a classifier in one model."""

import numbers
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerasrnn.data.labelled_batches import labelled_batches
from kerasrnn.data.labelled_batches import pad_rows
from kerasrnn.models import TextClassifier
from kerasrnn.pipelines.label_scores import label_accuracy
from kerasrnn.pipelines.label_scores import label_scores
from kerasrnn.pipelines.labelling_functions import LabellingFunctions
from kerasrnn.pipelines.labelling_functions import gradient_norms
from kerasrnn.pipelines.text_pipeline import TextPipeline
from kerasrnn.pipelines.text_pipeline import decoded
from kerasrnn.pipelines.text_pipeline import ready
from kerasrnn.pipelines.text_pipeline import text_list
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.training import Stopwatch
from kerasrnn.typing import Batches
from kerasrnn.typing import Config
from kerasrnn.typing import Strings
from kerasrnn.typing import Tensor

Labels = Sequence[str | float]
"""Labels by name or by number, or probabilities of the second of two."""


@keras.saving.register_keras_serializable("kerasrnn")
class TextLabeller(TextPipeline):
    """Labels strings, in the same way in evaluation and when served.

    It is saved to one `.keras` file, with the optimizer if the model is
    compiled. A loaded pipeline can label texts, continue its training or be
    exported.

    Args:
        model: A `kerasrnn.models.TextClassifier`.
        tokenizer: The `Tokenizer` that the model is trained with.
        labels: List of strings, one for each class. For a model with one
            logit: the labels of probability 0 and of probability 1.
        max_length: Positive integer. Longer texts are truncated to so many
            tokens. `None` keeps all tokens.
        **kwargs: Base model arguments, such as `name`.

    Raises:
        ValueError: when the number of `labels` is not that of the classes.

    Example:

    >>> texts = ["a late goal", "a close game", "a new law", "a long debate"]
    >>> labels = ["sports", "sports", "politics", "politics"]
    >>> tokenizer = ReviewTokenizer.train(texts)
    >>> size, pad_id = tokenizer.vocabulary_size, tokenizer.pad_id
    >>> encoder = Encoder(size, FastGRUCell(8), 8, pad_id=pad_id)
    >>> model = TextClassifier(encoder, "attention")
    >>> labeller = TextLabeller(model, tokenizer, ["politics", "sports"])
    >>> labeller.compile(keras.optimizers.Adam(0.05))
    >>> history = labeller.fit(texts, labels, epochs=20, verbose=0)
    >>> labeller.label(["a late game", "a new debate"])
    ['sports', 'politics']
    >>> labeller.save("labeller.keras")
    """

    def __init__(
        self,
        model: TextClassifier,
        tokenizer: Tokenizer,
        labels: Strings = ("negative", "positive"),
        max_length: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(model, **kwargs)
        self.tokenizer = tokenizer
        self.labels = tuple(labels)
        classes = max(2, model.num_classes)
        if len(self.labels) != classes:
            raise ValueError(
                f"`labels` must be {classes}, one for each class of the model. "
                f"Received: labels={labels!r}"
            )
        self.max_length = max_length

    def default_loss(self) -> keras.losses.Loss:
        """Returns binary or categorical cross-entropy of logits."""
        if self.model.num_classes == 1:
            return keras.losses.BinaryCrossentropy(from_logits=True)
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def default_metrics(self) -> list[keras.metrics.Metric]:
        """Returns the accuracy; probabilities as labels are rounded."""
        accuracy = keras.metrics.MeanMetricWrapper(
            label_accuracy, name="accuracy"
        )
        return [accuracy]

    def functions(self) -> dict[str, list[Any]]:
        return LabellingFunctions(self).by_name()

    def label(self, texts: Strings, batch_size: int = 64) -> list[str]:
        """Returns the predicted label of each of a list of strings."""
        texts = text_list(texts)
        labels = np.full(len(texts), "", object)
        for places, found in self.answers(texts, batch_size):
            labels[places] = decoded(found["label"])
        return labels.tolist()

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

    def evaluate(
        self, texts: Strings, labels: Labels, batch_size: int = 64
    ) -> dict[str, Any]:
        """Labels texts and compares the labels with the true ones.

        Args:
            texts: List of strings.
            labels: List of the true labels, by name or by number.
            batch_size: Positive integer, texts in a batch.

        Returns:
            A dictionary of `"accuracy"`; `"loss"`, the mean negative
            log-likelihood; `"confusion"`, for each true label how often each
            label was predicted; `"wall_seconds"` and `"cpu_seconds"`.

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

    def numbers(self, labels: Labels) -> list[float]:
        """Converts names of labels to numbers; numbers stay as they are.

        Args:
            labels: List of labels, by name or by number; for a model with one
                logit also probabilities of the second label.

        Raises:
            ValueError: when a label is unknown.
        """
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

    def _is_label(self, number):
        if not isinstance(number, (numbers.Real, np.bool_)):
            return False
        if self.model.num_classes == 1:
            return 0 <= number <= 1
        return number in range(len(self.labels))

    def batches(
        self,
        texts: Strings,
        labels: Labels | None,
        batch_size: int = 64,
        seed: int | None = None,
    ) -> tf.data.Dataset:
        """Batches of labelled texts, truncated to `max_length` as in serving.

        Args:
            texts: List of strings.
            labels: List of labels, by name or by number.
            batch_size: Positive integer, texts in a batch.
            seed: Integer, the seed of the shuffling; `None` sorts by length.

        Returns:
            The `tf.data.Dataset` of `kerasrnn.data.labelled_batches`.

        Raises:
            ValueError: when `labels` is `None`, or a label is unknown.
        """
        if labels is None:
            raise ValueError(
                "Training on texts needs their labels. Received: labels=None"
            )
        return labelled_batches(
            text_list(texts),
            self.numbers(labels),
            self.tokenizer,
            batch_size,
            self.max_length,
            seed,
        )

    def fit(
        self,
        texts: Strings | Batches,
        labels: Labels | None = None,
        batch_size: int = 64,
        validation_data: tuple[Strings, Labels] | Batches = None,
        seed: int = 0,
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Trains the inner model, after `compile()` if it is not compiled.

        Args:
            texts: List of strings, or a dataset that `batches` returned.
            labels: List of labels, by name or by number; `None` with a
                dataset.
            batch_size: Positive integer, texts in a batch.
            validation_data: A tuple `(texts, labels)`, or a dataset; `None`
                for no validation.
            seed: Integer, the seed of the shuffling.
            **kwargs: Other arguments of `keras.Model.fit`, such as `epochs`
                and `callbacks`.

        Returns:
            The `keras.callbacks.History` of the training.
        """
        return super().fit(
            ready(texts, lambda x: self.batches(x, labels, batch_size, seed)),
            ready(
                validation_data,
                lambda x: self.batches(x[0], x[1], batch_size),
            ),
            **kwargs,
        )

    def explain(self, text: str) -> tuple[list[str], np.ndarray]:
        """Returns the words of one string and the weight of each.

        The weights are those of the attention. For a model without attention,
        they are the norms of the gradients of the words (`gradient_norms`),
        divided by their sum.

        Args:
            text: String.

        Returns:
            A tuple of a list of strings and a float array of shape
            `(words,)`. A text without words has one empty word of weight 0.
        """
        found = self.signatures["explain"](tf.constant([text]))
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
        ids = self.ids(tf.constant([text]))
        memory, mask, _ = self.model.encoder(ids)
        words = tf.where(mask, self.tokenizer.tokens(ids), "")[0]
        return decoded(words), tf.cast(memory[0], tf.float32).numpy()

    def gradient_norms(self, text: str) -> np.ndarray:
        """Returns how strongly each word of one string affects the label.

        It is the norm of the gradient of the greatest logit with respect to
        the embedding of the word, of shape `(words,)`.
        """
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

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "tokenizer": keras.saving.serialize_keras_object(self.tokenizer),
            "labels": list(self.labels),
            "max_length": self.max_length,
        }
