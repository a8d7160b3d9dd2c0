"""Text classification: a tokenizer and a classifier in one model."""

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Self

import keras
import tensorflow as tf

from kerasrnn.arguments import number
from kerasrnn.arguments import optional_positive_integer
from kerasrnn.data.labelled_batches import labelled_batches
from kerasrnn.metrics.label_scores import label_accuracy
from kerasrnn.models import ClassifierEnsemble
from kerasrnn.models import TextClassifier
from kerasrnn.pipelines.batching import ready
from kerasrnn.pipelines.class_weights import weights_by_number
from kerasrnn.pipelines.ensembles import members_of
from kerasrnn.pipelines.fit_arguments import check_beside_dataset
from kerasrnn.pipelines.labelling.labelling import Labelling
from kerasrnn.pipelines.labelling.labelling import Labels
from kerasrnn.pipelines.labelling.parts import check_parts
from kerasrnn.pipelines.labelling.parts import joined_model
from kerasrnn.pipelines.labelling.thresholds import thresholds_of
from kerasrnn.pipelines.labelling.weights import weights_of_classes
from kerasrnn.pipelines.texts import text_list
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.typing import Batches
from kerasrnn.typing import Config
from kerasrnn.typing import Strings


@keras.saving.register_keras_serializable("kerasrnn")
class TextLabeller(Labelling):
    """Labels strings, in the same way in evaluation and when served.

    It is saved to one `.keras` file, with the optimizer if the model is
    compiled. A loaded pipeline can label texts, continue its training or be
    exported.

    Args:
        model: A `kerasrnn.models.TextClassifier`, or a `ClassifierEnsemble`,
            which is not trained further.
        tokenizer: The `Tokenizer` that the model is trained with.
        labels: List of strings, one for each class. For a model with one
            logit: the labels of probability 0 and of probability 1.
        max_length: Positive integer. Longer texts are truncated to this many
            tokens, with a warning. `None` keeps all tokens.
        temperature: Positive float by which logits are divided before they
            become probabilities; see `calibrate`.
        multi_label: Whether a text may have several labels, or none. Each
            label then has a logit and a sigmoid of its own.
        thresholds: Float, the probability above which a text has a label, if
            it may have several; or a list of them, one for each label; or a
            dictionary of them by name. See `tune_thresholds`.
        **kwargs: Base model arguments, such as `name`.

    Raises:
        ValueError: when `labels` are not different strings, as many as there
            are classes, a number is out of its range, or the model was built
            for another tokenizer.

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

    Several labels a text:

    >>> model = TextClassifier(encoder, "attention", num_classes=2)
    >>> names = ["politics", "sports"]
    >>> labeller = TextLabeller(model, tokenizer, names, multi_label=True)
    >>> labeller.compile(keras.optimizers.Adam(0.05))
    >>> tags = [["sports"], ["sports"], ["politics"], []]
    >>> history = labeller.fit(texts, tags, epochs=40, verbose=0)
    >>> [list(found) for found in labeller.label(["a late goal", "a debate"])]
    [['sports'], []]
    """

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
                "A classifier pads texts. Expected: a vocabulary with `<pad>`; "
                "a language model of subwords has one. Received: one without"
            )
        self.tokenizer = tokenizer
        self.labels = tuple(labels)
        self.max_length = optional_positive_integer("max_length", max_length)
        self.temperature = number("temperature", temperature, above=0)
        self.multi_label = multi_label
        check_parts(self)
        self.thresholds = thresholds_of(thresholds, self.labels)

    @classmethod
    def ensemble(cls, labellers: Sequence[Self]) -> Self:
        """Joins labellers into one that answers with all of them.

        Its logits are the mean of those of all models, each divided by the
        temperature of its labeller: `calibrate` the labellers before, so that
        one that is too certain does not decide alone, and the ensemble
        afterwards. It is saved, served and exported like any other, but not
        trained further. It shares the models; it does not copy them.

        Args:
            labellers: List of `TextLabeller`s with the same tokenizer and the
                same labels, as many logits, and no layer in common; they may
                differ in all else. Of an ensemble, all models are joined. The
                new one has the `max_length` and the `thresholds` of the first,
                and a temperature of 1.

        Returns:
            A `TextLabeller` of a `kerasrnn.models.ClassifierEnsemble`; of one
            labeller, that one.

        Raises:
            ValueError: when there is no labeller, one is not a
                `TextLabeller`, or they differ in what they must have in common.
        """
        members = members_of("labellers", labellers, cls, "tokenizer")
        first, *others = members
        if not others:
            return first
        return cls(
            joined_model(members),
            first.tokenizer,
            first.labels,
            first.max_length,
            multi_label=first.multi_label,
            thresholds=first.thresholds,
        )

    def default_loss(self, label_smoothing: float = 0.0) -> keras.losses.Loss:
        """Returns binary or categorical cross-entropy of logits.

        With `multi_label`, it is the mean of the binary ones of all labels.

        Args:
            label_smoothing: Float in `[0, 1)`, the share of each label that is
                spread over all of them.
        """
        return self.kind.loss(label_smoothing)

    def default_metrics(self) -> list[keras.metrics.Metric]:
        """Returns the accuracy; probabilities as labels are rounded.

        With `multi_label`, it counts each label of each text.
        """
        accuracy = keras.metrics.MeanMetricWrapper(
            label_accuracy, name="accuracy"
        )
        return [accuracy]

    def batches(
        self,
        texts: Strings,
        labels: Labels | None,
        batch_size: int = 64,
        seed: int | None = None,
        sample_weight: Sequence[float] | None = None,
    ) -> tf.data.Dataset:
        """Batches of labelled texts, truncated to `max_length` as in serving.

        Args:
            texts: List of strings.
            labels: List of labels, by name or by number, see `numbers`.
            batch_size: Positive integer, texts in a batch.
            seed: Integer, the seed of the shuffling; `None` sorts by length.
            sample_weight: List of floats, the weight of each text in the
                loss; `None` for equal weights.

        Returns:
            The `tf.data.Dataset` of `kerasrnn.data.labelled_batches`; with
            weights, each batch is a tuple `(ids, labels, weights)`.

        Raises:
            ValueError: when `labels` is `None`, a label is unknown, or there
                are not as many weights as texts.
        """
        return labelled_batches(
            text_list(texts),
            self.numbers(labels),
            self.tokenizer,
            batch_size,
            self.max_length,
            seed,
            sample_weight,
        )

    def fit(
        self,
        texts: Strings | Batches,
        labels: Labels | None = None,
        batch_size: int = 64,
        validation_data: tuple[Any, ...] | Batches = None,
        seed: int = 0,
        sample_weight: Sequence[float] | None = None,
        class_weight: Mapping[str | int, float] | None = None,
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Trains the inner model, after `compile()` if it is not compiled.

        Args:
            texts: List of strings, or a dataset that `batches` returned.
            labels: List of labels, by name or by number, see `numbers`;
                `None` with a dataset.
            batch_size: Positive integer, texts in a batch.
            validation_data: A tuple `(texts, labels)` or `(texts, labels,
                sample_weight)`, or a dataset; `None` for no validation.
            seed: Integer, the seed of the shuffling.
            sample_weight: List of floats, the weight of each text in the
                loss; `None` for equal weights, and with a dataset.
            class_weight: Dictionary from labels, by name or by number, to the
                weight of their texts, 1 for others. It multiplies
                `sample_weight`. Not with `multi_label`.
            **kwargs: Other arguments of `keras.Model.fit`, such as `epochs`
                and `callbacks`.

        Returns:
            The `keras.callbacks.History` of the training.

        Raises:
            ValueError: when a label is unknown, `sample_weight` does not
                fit the texts, there is a `class_weight` of several labels, or
                labels or weights beside a dataset.
        """
        if class_weight is not None and self.multi_label:
            raise ValueError(
                "Texts with several labels have no class weights. Expected: "
                "`sample_weight`, or thresholds of `tune_thresholds`. "
                f"Received: class_weight={class_weight!r}"
            )
        by_number = class_weight and weights_by_number(
            class_weight, self.labels, self.kind.numbers, "label"
        )
        if isinstance(texts, tf.data.Dataset):
            beside = {"labels": labels, "sample_weight": sample_weight}
            check_beside_dataset(texts, beside)
            kwargs["class_weight"] = by_number
        elif by_number is not None:
            sample_weight = weights_of_classes(
                self.numbers(labels), by_number, sample_weight
            )
        return super().fit(
            ready(
                texts,
                lambda x: self.batches(
                    x, labels, batch_size, seed, sample_weight
                ),
            ),
            ready(
                validation_data,
                lambda x: self._validation_batches(x, batch_size),
            ),
            **kwargs,
        )

    def _validation_batches(self, data, batch_size):
        if not isinstance(data, (tuple, list)) or len(data) not in (2, 3):
            raise ValueError(
                "`validation_data` must be a dataset, `(texts, labels)` or "
                f"`(texts, labels, sample_weight)`. Received: {data!r:.80}"
            )
        texts, labels, *weights = data
        return self.batches(texts, labels, batch_size, None, *weights)

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "tokenizer": keras.saving.serialize_keras_object(self.tokenizer),
            "labels": list(self.labels),
            "max_length": self.max_length,
            "temperature": self.temperature,
            "multi_label": self.multi_label,
            "thresholds": list(self.thresholds),
        }
