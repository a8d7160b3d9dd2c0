"""The pipeline for text classification."""

import dataclasses
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Self

import keras
import numpy as np
import tensorflow as tf

from kerasrnn.arguments import is_text
from kerasrnn.arguments import number
from kerasrnn.arguments import optional_positive_integer
from kerasrnn.data.batches import pad_to
from kerasrnn.data.labelled_batches import labelled_batches
from kerasrnn.metrics.label_scores import label_accuracy
from kerasrnn.models import ClassifierEnsemble
from kerasrnn.models import TextClassifier
from kerasrnn.pipelines.backbone_features import features_of
from kerasrnn.pipelines.label_kinds import OneLabel
from kerasrnn.pipelines.label_kinds import SeveralLabels
from kerasrnn.pipelines.label_kinds import at_temperature
from kerasrnn.pipelines.label_kinds import best_temperature
from kerasrnn.pipelines.label_kinds import best_thresholds
from kerasrnn.pipelines.label_kinds import both
from kerasrnn.pipelines.label_kinds import check_count
from kerasrnn.pipelines.label_kinds import thresholds_of
from kerasrnn.pipelines.labelling_task import LabellingTask
from kerasrnn.pipelines.labelling_task import MultiLabelTask
from kerasrnn.pipelines.loss_weights import ClassWeight
from kerasrnn.pipelines.loss_weights import weights_by_number
from kerasrnn.pipelines.loss_weights import weights_of_labels
from kerasrnn.pipelines.pipeline import XlaPipeline
from kerasrnn.pipelines.signatures import IDS
from kerasrnn.pipelines.signatures import TEXTS
from kerasrnn.pipelines.signatures import after
from kerasrnn.pipelines.signatures import check_same_rows
from kerasrnn.pipelines.signatures import checked_ids
from kerasrnn.pipelines.signatures import graph_function
from kerasrnn.pipelines.signatures import served_ids
from kerasrnn.pipelines.texts import decoded
from kerasrnn.pipelines.texts import text_list
from kerasrnn.pipelines.texts import warn_of_cut
from kerasrnn.pipelines.vocabularies import check_vocabulary
from kerasrnn.pipelines.vocabularies import members_of
from kerasrnn.pipelines.vocabularies import models_of
from kerasrnn.pipelines.xla import AXES
from kerasrnn.pipelines.xla import XlaShapes
from kerasrnn.pipelines.xla import in_programs
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.training import Stopwatch
from kerasrnn.typing import Config
from kerasrnn.typing import Strings
from kerasrnn.typing import Tensor


def _answers(labeller):
    """Describes the labels of a labeller in words."""
    count = labeller.model.num_classes
    logits = "one logit" if count == 1 else f"{count} logits"
    several = " (multi-label)" if labeller.multi_label else ""
    return f"{labeller.labels}{several}, by {logits}"


LABELS = tf.TensorSpec([None], tf.string, name="label")


class LabellingFunctions:
    """The graph functions that a `TextLabeller` serves.

    Each maps tensors to a dictionary of tensors. They tokenize and classify in
    the same graph.

    Args:
        labeller: The `TextLabeller`.
    """

    def __init__(self, labeller):
        self.labeller, self.kind = labeller, labeller.kind
        self.model, self.tokenizer = labeller.model, labeller.tokenizer
        self.ids = graph_function(labeller.ids, TEXTS)
        self.classify = graph_function(self.model.classify_ids, IDS)
        self.logits = lambda ids: self.classify(ids)[0]
        if labeller.xla is not None:
            self.logits = in_programs(
                lambda ids: self.model.classify_ids(ids)[0],
                self.logits,
                [(AXES, self.tokenizer.pad_id)],
                dataclasses.asdict(labeller.xla),
            )

    def by_name(self):
        """Returns the functions by name, each in a list with its arguments."""
        return {
            "serving_default": [self.label, TEXTS],
            "label_ids": [self.label_ids, IDS],
            "explain": [self.explain, TEXTS],
            "explain_label": [self.explain_label, TEXTS, LABELS],
            "tokenize": [self.tokenize, TEXTS],
        }

    def label(self, text):
        """Returns the label or labels of each text, and the probabilities."""
        return self._answer(self.logits(self.ids(text)))

    def label_ids(self, ids):
        """The same for ids."""
        pad_id = self.tokenizer.pad_id
        ids = checked_ids(ids, self.tokenizer.vocabulary_size, pad_id)
        ids = pad_to(ids, pad_id, most=self.labeller.max_length)
        return self._answer(self.logits(ids))

    def explain(self, text):
        """The same, with the tokens and their weights."""
        ids = self.ids(text)
        logits, weights = self.classify(ids)
        if weights is None:
            weights = gradient_norms(self.model, ids)
            total = tf.reduce_sum(weights, axis=1, keepdims=True)
            weights = tf.math.divide_no_nan(weights, total)
        return self._explained(ids, tf.cast(weights, tf.float32), logits)

    def explain_label(self, text, label):
        """The same, with weights for or against a given label per text.

        A weight is the product of the embedding of a word and its gradient
        (Denil et al. 2014, https://arxiv.org/abs/1412.6815).
        """
        ids = self.ids(text)
        [label] = after([check_same_rows(text=text, label=label)], label)
        names = self.kind.names
        is_label = tf.equal(label[:, None], tf.constant(names)[None])
        known = tf.debugging.Assert(
            tf.reduce_all(tf.reduce_any(is_label, axis=1)),
            [f"`label` must be among {', '.join(names)}. Received:", label],
        )
        [is_label] = after([known], is_label)

        def log_odds(logits):
            return self.kind.log_odds(tf.cast(logits, tf.float32), is_label)

        embeddings, gradients, logits = _gradients(self.model, ids, log_odds)
        weights = tf.reduce_sum(embeddings * gradients, axis=-1)
        return self._explained(ids, weights, logits)

    def _explained(self, ids, weights, logits):
        mask = self.model.mask(ids)
        return {
            "tokens": tf.where(mask, self.tokenizer.tokens(ids), ""),
            "weights": tf.where(mask, weights, 0.0),
            **self._answer(logits),
        }

    def tokenize(self, text):
        """Returns the ids that the model reads."""
        return {"ids": served_ids(self.ids(text), self.tokenizer.pad_id)}

    def _answer(self, logits):
        logits = tf.cast(logits, tf.float32) / self.labeller.temperature
        return self.kind.answer(logits)


def gradient_norms(model, ids):
    """Returns gradient norms of the largest logit.

    Args:
        model: A `TextClassifier` or `ClassifierEnsemble`.
        ids: Int32 tensor of shape `(batch, time)`, padded.

    Returns:
        Float32 tensor of shape `(batch, time)`, the norms of the gradients with
        respect to the embeddings.
    """
    _, gradients, _ = _gradients(
        model, ids, lambda logits: tf.reduce_max(logits, axis=1)
    )
    return tf.norm(gradients, axis=-1)


def _gradients(model, ids, function):
    """Returns embeddings, gradients of a function of logits, and logits.

    The embeddings of the members of an ensemble are concatenated.
    """
    embeddings = model.embed(ids)
    with tf.GradientTape() as tape:
        tape.watch(embeddings)
        logits, _ = model.classify_embedded(embeddings, ids)
        value = function(logits)
    gradients = tape.gradient(value, embeddings)
    return _side_by_side(embeddings), _side_by_side(gradients), logits


def _side_by_side(tensors):
    columns = [tf.cast(x, tf.float32) for x in tf.nest.flatten(tensors)]
    return tf.concat(columns, axis=-1)


Labels = Sequence[str | float] | Sequence[Collection[str]] | np.ndarray
"""Names or numbers of labels, or probabilities of the second of two labels.

For multi-label texts, a list of names for each, or an array of 0 and 1 of shape
`(texts, labels)`.
"""


@keras.saving.register_keras_serializable("kerasrnn")
class TextLabeller(XlaPipeline):
    """Classifies strings, in Python and when served.

    It is saved to one `.keras` file, with the optimizer if the model is
    compiled. A loaded pipeline can label texts, continue its training or be
    exported.

    Args:
        model: A `kerasrnn.models.TextClassifier`, or a `ClassifierEnsemble`,
            which cannot be trained.
        tokenizer: The `Tokenizer` of the model.
        labels: List of strings, one for each class. For a model with one logit,
            the labels for probability 0 and probability 1.
        max_length: Positive integer. Longer texts are truncated to this many
            tokens, with a warning. `None` for no limit.
        temperature: Positive float that divides the logits; see `calibrate`.
        multi_label: Whether a text can have any number of labels. Each label
            then has its own logit and sigmoid.
        thresholds: With `multi_label`, the probability above which a text has a
            label: a float, a list with one for each label, or a dictionary by
            name. See `tune_thresholds`.
        **kwargs: Base model arguments, such as `name`.

    Raises:
        ValueError: when `labels` are not distinct strings, one for each class,
            a number is out of range, or the model was built for another
            tokenizer.

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

    Several labels per text:

    >>> model = TextClassifier(encoder, "attention", num_classes=2)
    >>> names = ["politics", "sports"]
    >>> labeller = TextLabeller(model, tokenizer, names, multi_label=True)
    >>> labeller.compile(keras.optimizers.Adam(0.05))
    >>> tags = [["sports"], ["sports"], ["politics"], []]
    >>> history = labeller.fit(texts, tags, epochs=40, verbose=0)
    >>> [list(found) for found in labeller.label(["a late goal", "a debate"])]
    [['sports'], []]
    """

    asked_by = "`label` or `probabilities`"
    # XLA does not speed up batches of texts.
    usual_shapes = XlaShapes(rows=[1], lengths=[32, 64, 128, 256])

    def __init__(
        self,
        model: TextClassifier | ClassifierEnsemble,
        tokenizer: Tokenizer,
        labels: Strings = ("negative", "positive"),
        max_length: int | None = None,
        temperature: float = 1.0,
        multi_label: bool = False,
        thresholds: float | Sequence[float] | Mapping[str, float] = 0.5,
        **kwargs: Any,
    ) -> None:
        super().__init__(model, **kwargs)
        if tokenizer.built and tokenizer.pad_id < 0:
            raise ValueError(
                "A classifier needs a padding token. Expected: a vocabulary "
                "with `<pad>`, such as that of a subword language model. "
                "Received: a vocabulary without it"
            )
        self.tokenizer = tokenizer
        self.labels = tuple(labels)
        self.max_length = optional_positive_integer("max_length", max_length)
        self.temperature = number("temperature", temperature, above=0)
        self.multi_label = multi_label
        for part in models_of(model):
            check_vocabulary(tokenizer, part.encoder)
        # For clients, "" means no label.
        names = {x for x in self.labels if isinstance(x, str) and x}
        classes = max(1 if multi_label else 2, model.num_classes)
        if not len(names) == len(self.labels) == classes:
            raise ValueError(
                f"`labels` must be {classes} distinct, non-empty strings, one "
                "for each class of the model. Received: "
                f"labels={list(self.labels)!r}"
            )
        self.thresholds = thresholds_of(thresholds, self.labels)

    @classmethod
    def ensemble(cls, labellers: Sequence[Self]) -> Self:
        """Joins labellers to an ensemble.

        Its logits are the mean of those of all models, each divided by the
        temperature of its labeller. `calibrate` the labellers before, so that
        an overconfident one does not dominate, and the ensemble afterwards. The
        ensemble can be saved, served and exported like any labeller, but not
        trained. It shares the models and does not copy them.

        Args:
            labellers: List of `TextLabeller`s with the same tokenizer, labels
                and number of logits, and without common layers. They may differ
                otherwise. For an ensemble, all of its models are used. The
                result has the `max_length` and `thresholds` of the first
                labeller, and a temperature of 1.

        Returns:
            A `TextLabeller` with a `kerasrnn.models.ClassifierEnsemble`; a
            single labeller is returned unchanged.

        Raises:
            ValueError: when there is no labeller, one is not a `TextLabeller`,
                or they differ in a common property.
        """
        members = members_of("labellers", labellers, cls, "tokenizer")
        first, *others = members
        if not others:
            return first
        expected = _answers(first)
        for found in map(_answers, others):
            if found != expected:
                raise ValueError(
                    "All `labellers` must have the same labels in the same "
                    f"order. Expected: {expected}. Received: {found}"
                )
        models = [x for member in members for x in models_of(member.model)]
        temperatures = [
            member.temperature * own
            for member in members
            for own in getattr(member.model, "temperatures", [1.0])
        ]
        return cls(
            ClassifierEnsemble(models, temperatures),
            first.tokenizer,
            first.labels,
            first.max_length,
            multi_label=first.multi_label,
            thresholds=first.thresholds,
        )

    def default_loss(self, label_smoothing: float = 0.0) -> keras.losses.Loss:
        """Returns binary or categorical cross-entropy of logits.

        With `multi_label`, it is the mean binary cross-entropy over all labels.

        Args:
            label_smoothing: Float in `[0, 1)`, the probability mass of each
                label that is spread over all labels.
        """
        return self.kind.loss(label_smoothing)

    def default_metrics(self) -> list[keras.metrics.Metric]:
        """Returns the accuracy; soft labels are rounded.

        With `multi_label`, it is over all pairs of text and label.
        """
        metric = keras.metrics.MeanMetricWrapper
        return [metric(label_accuracy, name="accuracy")]

    def batches(
        self,
        texts: Strings,
        labels: Labels | None,
        batch_size: int = 64,
        seed: int | None = None,
        sample_weight: Sequence[float] | None = None,
        class_weight: ClassWeight = None,
    ) -> tf.data.Dataset:
        """Returns batches of labelled texts, truncated to `max_length`.

        Args:
            texts: List of strings.
            labels: List of labels (names or numbers); see `numbers`.
            batch_size: Positive integer, texts in a batch.
            seed: Integer, the seed of the shuffling; `None` sorts by length.
            sample_weight: List of floats, the weight of each text in the
                loss; `None` for equal weights.
            class_weight: As in `fit`. Not with `multi_label`.

        Returns:
            The `tf.data.Dataset` of `kerasrnn.data.labelled_batches`; with
            weights, each batch is a tuple `(ids, labels, weights)`.

        Raises:
            ValueError: when `labels` is `None`, a label is unknown, the number
                of weights differs from that of texts, or `class_weight` is
                given with `multi_label`.
        """
        numbers = self.numbers(labels)
        if class_weight is not None:
            true = np.asarray(numbers).round().astype(int)
            by_number = self.numbered_class_weight(class_weight, true)
            sample_weight = weights_of_labels(numbers, by_number, sample_weight)
        return labelled_batches(
            text_list(texts),
            numbers,
            self.tokenizer,
            batch_size,
            self.max_length,
            seed,
            sample_weight,
            features_of(getattr(self.model, "encoder", None)),
        )

    def validation_batches(self, examples: Any, **size: Any) -> tf.data.Dataset:
        is_tuple = isinstance(examples, (tuple, list))
        if not is_tuple or len(examples) not in (2, 3):
            raise ValueError(
                "`validation_data` must be a dataset, `(texts, labels)` or "
                f"`(texts, labels, sample_weight)`. Received: {examples!r:.80}"
            )
        texts, labels, *weights = examples
        given = dict(zip(["sample_weight"], weights, strict=False))
        return self.batches(texts, labels, **given, **size)

    def numbered_class_weight(
        self, class_weight: Any, true: np.ndarray | None = None
    ) -> dict[int, float]:
        if self.multi_label:
            raise ValueError(
                "`class_weight` is not supported with `multi_label`. Expected: "
                "`sample_weight`, or thresholds from `tune_thresholds`. "
                f"Received: class_weight={class_weight!r}"
            )
        return weights_by_number(
            class_weight, self.labels, self.kind.numbers, "label", true
        )

    @property
    def kind(self) -> OneLabel | SeveralLabels:
        """The kind of classification: `OneLabel` or `SeveralLabels`."""
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
        """Returns the predicted label of each string in a list.

        Args:
            texts: List of strings.
            batch_size: Positive integer, texts in a batch.
            threshold: Float. If the most probable label is below it, the result
                is `None` ("do not know"); `calibrate` first. With
                `multi_label`, it replaces `thresholds`: one number for all
                labels, or a dictionary by name.

        Returns:
            A list of strings or `None`. With `multi_label`, a list of
            dictionaries from the labels of a text to their probabilities, most
            probable first. Some may be empty.
        """
        found = self.probabilities(texts, batch_size)
        return self.kind.chosen(found, threshold)

    def calibrate(
        self, texts: Strings, labels: Labels, batch_size: int = 64
    ) -> float:
        """Calibrates the probabilities by setting the `temperature`.

        Trained models are usually overconfident. A temperature brings their
        probabilities close to the actual accuracy, and does not change
        predicted labels: with `multi_label`, the `thresholds` are converted,
        too.

        Args:
            texts: List of strings that the model was not trained on.
            labels: List of their true labels (names or numbers).
            batch_size: Positive integer, texts in a batch.

        Returns:
            The temperature, which is also `labeller.temperature`.

        Raises:
            ValueError: as in `evaluate`.

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
        # With these, the new temperature changes no labels.
        thresholds = at_temperature(
            both(np.asarray(self.thresholds)), self.temperature / before
        )
        self.thresholds = tuple(thresholds[:, 1].tolist())
        return self.temperature

    def tune_thresholds(
        self, texts: Strings, labels: Labels, batch_size: int = 64
    ) -> dict[str, float]:
        """Sets the `thresholds` that maximize the F1 of each label.

        On the same texts, scores are then optimistic: evaluate on other texts.
        A label that no text has keeps its threshold.

        Args:
            texts: List of strings that the model was not trained on.
            labels: List of the true labels of each text; see `numbers`.
            batch_size: Positive integer, texts in a batch.

        Returns:
            A dictionary of the threshold of each label by name.

        Raises:
            ValueError: as in `evaluate`, or without `multi_label`.
        """
        if not self.multi_label:
            raise ValueError(
                "With one label per text, there are no thresholds. Expected: "
                "multi_label=True. Received: multi_label=False"
            )
        true, texts = self.numbers(labels), text_list(texts)
        check_count(true, texts)
        found = self.probabilities(texts, batch_size)
        self.thresholds = best_thresholds(true, found, self.thresholds)
        return dict(zip(self.labels, self.thresholds, strict=True))

    def probabilities(self, texts: Strings, batch_size: int = 64) -> np.ndarray:
        """Returns the probabilities of labels for a list of strings.

        They have the shape `(texts, classes)`. For a model with one logit, the
        shape is `(texts,)`: probabilities of the second label. With
        `multi_label`, the probabilities of a text do not sum to 1.
        """
        texts = text_list(texts)
        probabilities = np.zeros((len(texts), *self.kind.shape), "float32")
        for indices, found in self.answers(texts, batch_size):
            probabilities[indices] = found["probability"].numpy()
        return probabilities

    def label_probabilities(
        self, texts: Strings, batch_size: int = 64
    ) -> list[dict[str, float]]:
        """Returns the probability of every label for each string in a list.

        Unlike `probabilities`, the format is the same for any number of labels.

        Args:
            texts: List of strings.
            batch_size: Positive integer, texts in a batch.

        Returns:
            For each text, a dictionary of the probability of each label by
            name.
        """
        found = both(self.probabilities(texts, batch_size))
        return [
            dict(zip(self.labels, row, strict=True)) for row in found.tolist()
        ]

    def evaluate(
        self, texts: Strings, labels: Labels, batch_size: int = 64
    ) -> dict[str, Any]:
        """Classifies texts and compares predicted with true labels.

        Args:
            texts: List of strings.
            labels: List of the true labels; see `numbers`. Probabilities of the
                second of two labels are rounded to count labels.
            batch_size: Positive integer, texts in a batch.

        Returns:
            A dictionary of `"accuracy"`, which is also the micro-averaged F1;
            `"macro_f1"`; `"loss"`, the mean negative log-likelihood;
            `"by_label"`, with precision, recall, F1 and number of texts of each
            label; `"confusion"`, with the counts of predicted labels for each
            true label; `"wall_seconds"` and `"cpu_seconds"`. With
            `multi_label`, instead of accuracy and confusion, `"micro_f1"` over
            all pairs of text and label, and `"subset_accuracy"`, the fraction
            of texts whose labels are all correct.

        Raises:
            ValueError: when the numbers of texts and labels differ, or a
                label is unknown.
        """
        clock = Stopwatch()
        true = self.numbers(labels)
        found = self.probabilities(texts, batch_size)
        return {**self.kind.scores(true, found), **clock.read()}

    def numbers(self, labels: Iterable[Any] | None) -> Any:
        """Converts names of labels to numbers; numbers are not changed.

        If names are numbers, such as "1" to "5", the integer 1 could mean the
        label "1" or the second label, "2". It is refused, unless both are the
        same.

        Args:
            labels: List of labels (names or numbers); for a model with one
                logit, also probabilities of the second label. With
                `multi_label`, a list of names for each text (`[]` for none), or
                an array of 0 and 1 of shape `(texts, labels)`.

        Returns:
            A list of numbers. With `multi_label`, an array of 0 and 1 of shape
            `(texts, labels)`.

        Raises:
            ValueError: when a label is unknown or ambiguous, or `labels` have
                no order.
        """
        if not isinstance(labels, Iterable) or isinstance(
            labels, Mapping | set | frozenset
        ):
            raise ValueError(
                "`labels` must be a list with the label of each text. "
                f"Received: labels={labels!r:.80}"
            )
        return self.kind.numbers(labels)

    def served_facts(self) -> Config:
        """Returns facts that clients need.

        They are `"labels"`, `"max_length"` (number of tokens that are read)
        and, with `multi_label`, this flag and the `"thresholds"` by label; and
        those of every `XlaPipeline`.
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

    def explain(
        self, text: str, label: str | None = None
    ) -> tuple[list[str], np.ndarray]:
        """Returns the words of a string and their weights.

        The weights are attention weights. For a model without attention, they
        are gradient norms (`gradient_norms`), divided by their sum. They do not
        tell which label a word supports. With a `label`, they do: positive
        weights support the label, negative weights oppose it. A weight is then
        the product of the embedding of the word and the gradient of the label's
        log-odds.

        Args:
            text: String.
            label: String, the label to explain; `None` for attention weights.

        Returns:
            A tuple of a list of strings and a float array of shape
            `(words,)`. A text without words has one empty word of weight 0.

        Raises:
            ValueError: when the label is unknown, or `text` is not a string.

        Reference:
            [Denil et al., 2014](https://arxiv.org/abs/1412.6815).
        """
        given = self._given(text)
        if label is None:
            found = self.ask(self.signatures["explain"], given)
        elif label in self.labels:
            label = tf.constant([label])
            found = self.ask(self.signatures["explain_label"], given, label)
        else:
            raise ValueError(
                f"`label` must be one of {self.labels}. "
                f"Received: label={label!r}"
            )
        return decoded(found["tokens"][0]), found["weights"].numpy()[0]

    def hidden_states(self, text: str) -> tuple[list[str], np.ndarray]:
        """Returns the words of a string and the outputs of the encoder.

        Args:
            text: String.

        Returns:
            A tuple of a list of strings and a float32 array of shape
            `(words, units)`.
        """
        ids = self.ids(self._given(text))
        states = self.model.hidden_states(ids)
        mask = self.model.mask(ids)
        words = tf.where(mask, self.tokenizer.tokens(ids), "")[0]
        return decoded(words), tf.cast(states[0], tf.float32).numpy()

    def gradient_norms(self, text: str) -> np.ndarray:
        """Returns the influence of each word of a string on the label.

        It is the norm of the gradient of the largest logit with respect to the
        embedding of the word, an array of shape `(words,)`.
        """
        ids = self.ids(self._given(text))
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
        return pad_to(ids, self.tokenizer.pad_id)

    def _given(self, text):
        """Returns a batch with one text; warns if it is truncated."""
        if not is_text(text):
            raise ValueError(f"Expected: a string. Received: {text!r:.80}")
        warn_of_cut([text], self.tokenizer, self.max_length)
        return tf.constant([text])
