"""A text classifier, and ensembles of classifiers."""

import functools
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from kerasrnn.arguments import instance
from kerasrnn.arguments import number
from kerasrnn.arguments import positive_integer
from kerasrnn.arguments import rate
from kerasrnn.layers.loop import cells
from kerasrnn.models.encoder import Encoder
from kerasrnn.models.model import Ensemble
from kerasrnn.models.model import Model
from kerasrnn.models.summaries import AttentionSummary
from kerasrnn.models.summaries import DecoderSummary
from kerasrnn.models.summaries import LastSummary
from kerasrnn.models.summaries import PooledSummary
from kerasrnn.saving import build_once
from kerasrnn.typing import Config
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class TextClassifier(Model):
    """Classifies texts by a summary of their encoding.

        h_1 ... h_T, s_T = encoder(ids)
        logits = W summary(h_1 ... h_T, s_T) + b

    Args:
        encoder: An `Encoder`.
        summary: A layer that summarizes the memory in one vector, or its name:

            * `"last"`: the last output of each direction (`LastSummary`),
            * `"pooled"`: the same with maximum and mean over time
              (`PooledSummary`),
            * `"attention"`: the mean weighted by additive attention
              (`AttentionSummary`),
            * `"decoder"`: the output of a decoder step (`DecoderSummary`).
        num_classes: Positive integer, the number of logits. 1 for binary labels
            (0 and 1), with `keras.losses.BinaryCrossentropy(from_logits=True)`;
            2 or more for one logit per class, with
            `keras.losses.SparseCategoricalCrossentropy(from_logits=True)`. If a
            text can have several labels, it is the number of labels, with the
            loss for binary labels.
        dropout: Dropout rate of the summary.
        **kwargs: Base model arguments, such as `name` and `dtype`.

    Call arguments:
        ids: Integer tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout).

    Returns:
        Logits of shape `(batch, num_classes)`.

    Masking: padding is ignored.

    Raises:
        ValueError: when `encoder` is not an `Encoder`, `summary` is unknown,
            `num_classes` is not positive, or `summary` is a `DecoderSummary`
            and the encoder is bidirectional.

    Example:

    >>> encoder = Encoder(50, keras.layers.GRUCell(8))
    >>> TextClassifier(encoder, "pooled")(np.ones((2, 7), "int32")).shape
    (2, 1)
    >>> summary = AttentionSummary("general")
    >>> model = TextClassifier(encoder, summary, num_classes=4)
    >>> model(np.ones((2, 7), "int32")).shape
    (2, 4)

    References:
        [Howard & Ruder, 2018](https://arxiv.org/abs/1801.06146) for
        `"pooled"`, [Yang et al., 2016](https://aclanthology.org/N16-1174).
    """

    labels_of_steps = False

    def __init__(
        self,
        encoder: Encoder,
        summary: keras.layers.Layer | str = "last",
        num_classes: int = 1,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.encoder = instance("encoder", encoder, Encoder)
        # Not `self.summary`, which is a method of every Keras model.
        self.summary_layer = get_summary(summary, encoder)
        self.num_classes = positive_integer("num_classes", num_classes)
        self.dropout = rate("dropout", dropout)
        self.unit_dropout = keras.layers.Dropout(
            dropout, dtype=self.dtype_policy
        )
        self.output_projection = keras.layers.Dense(
            num_classes, dtype=self.dtype_policy, name="output"
        )

    def build(self, ids_shape: Shape = (None, None)) -> None:
        build_once(self.encoder, ids_shape)
        summary, _ = self._summarize(
            keras.KerasTensor((*ids_shape, self.encoder.memory_dim)),
            keras.KerasTensor(ids_shape, "bool"),
            keras.KerasTensor((ids_shape[0], self.encoder.final_dim)),
        )
        self.output_projection.build(summary.shape)

    def call(self, ids: Tensor, training: bool = False) -> Tensor:
        return self.classify_ids(ids, training)[0]

    def classify_ids(
        self, ids: Tensor, training: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Classifies texts and returns attention weights.

        Args:
            ids: Integer tensor of shape `(batch, time)`.
            training: Whether to behave as in training (dropout).

        Returns:
            The logits and the attention weights, as in `classify`.
        """
        memory, mask, final = self.encoder(ids, training=training)
        return self.classify(memory, mask, final, training)

    def classify(
        self,
        memory: Tensor,
        mask: Tensor,
        final: Tensor,
        training: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Classifies encoded texts.

        Args:
            memory: Tensor of shape `(batch, time, memory_dim)`.
            mask: Boolean tensor of shape `(batch, time)`.
            final: Tensor of shape `(batch, final_dim)`.
            training: Whether to behave as in training (dropout).

        Returns:
            The logits, of shape `(batch, num_classes)`, and the attention
            weights of shape `(batch, time)`, or `None` without attention.
        """
        summary, weights = self._summarize(
            memory, mask, final, training=training
        )
        summary = self.unit_dropout(summary, training=training)
        return self.output_projection(summary), weights

    def mask(self, ids: Tensor) -> Tensor:
        """Returns which tokens are read, a boolean tensor `(batch, time)`.

        Args:
            ids: Integer tensor of shape `(batch, time)`.
        """
        return self.encoder.mask(ids)

    def embed(self, ids: Tensor) -> Tensor:
        """Returns what is read of tokens, `(batch, time, embedding_dim)`.

        Args:
            ids: Integer tensor of shape `(batch, time)`.
        """
        return self.encoder.embed(ids)

    def classify_embedded(
        self, embeddings: Tensor, ids: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Classifies the result of `embed`, to differentiate by it.

        Args:
            embeddings: Tensor of shape `(batch, time, embedding_dim)`.
            ids: Integer tensor of shape `(batch, time)`, the tokens.

        Returns:
            The logits and the attention weights, as in `classify`.
        """
        mask = self.mask(ids)
        memory, final = self.encoder.read(embeddings, mask)
        return self.classify(memory, mask, final)

    def hidden_states(self, ids: Tensor) -> Tensor:
        """Returns the outputs of the encoder, `(batch, time, memory_dim)`.

        Args:
            ids: Integer tensor of shape `(batch, time)`.
        """
        return self.encoder(ids)[0]

    def _summarize(self, *args, **kwargs):
        found = self.summary_layer(*args, **kwargs)
        return found if isinstance(found, tuple) else (found, None)

    def get_config(self) -> Config:
        # The attribute `summary` is a method of every Keras model.
        return {
            **keras.Model.get_config(self),
            "encoder": keras.saving.serialize_keras_object(self.encoder),
            "summary": keras.saving.serialize_keras_object(self.summary_layer),
            "num_classes": self.num_classes,
            "dropout": self.dropout,
        }


def get_summary(identifier, encoder):
    """Returns a summary layer from a layer or its name.

    Args:
        identifier: `"last"`, `"pooled"`, `"attention"` (additive),
            `"decoder"` (without attention), or a layer.
        encoder: The `Encoder` whose memory is summarized.

    Raises:
        ValueError: when `identifier` is unknown, when a `DecoderSummary` gets a
            bidirectional encoder or one whose cell has other states, or when
            `backward` of the summary does not match the encoder.
    """
    if isinstance(identifier, str) and identifier in _BY_NAME:
        identifier = _BY_NAME[identifier](encoder)
    if not isinstance(identifier, keras.layers.Layer):
        raise ValueError(
            "`summary` must be a layer of `kerasrnn.models`, such as "
            f"AttentionSummary, or one of {', '.join(map(repr, _BY_NAME))}. "
            f"Received: summary={identifier!r}"
        )
    if isinstance(identifier, DecoderSummary):
        expected, found = (
            cells.flat_state_sizes(x.cell) for x in (encoder, identifier)
        )
        if encoder.bidirectional or expected != found:
            raise ValueError(
                "A DecoderSummary starts its cell from the final states of the "
                "encoder, so both must have the same states. Expected: "
                f"bidirectional=False, widths {expected}. Received: "
                f"bidirectional={encoder.bidirectional}, widths {found}"
            )
    if isinstance(identifier, LastSummary):
        expected = backward_units(encoder)
        if identifier.backward not in (None, expected):
            raise ValueError(
                "`backward` of the summary must match the encoder. Expected: "
                f"backward={expected}, or `None`. Received: "
                f"backward={identifier.backward}"
            )
        identifier.backward = expected
    return identifier


def backward_units(encoder):
    """Returns start and stop of the memory units that read backwards."""
    units = cells.output_size(encoder.cell)
    if encoder.bidirectional:
        return units, 2 * units
    return (0, units) if encoder.go_backwards else (0, 0)


_BY_NAME = {
    "last": lambda encoder: LastSummary(
        backward_units(encoder), dtype=encoder.dtype_policy
    ),
    "pooled": lambda encoder: PooledSummary(
        backward_units(encoder), dtype=encoder.dtype_policy
    ),
    "attention": lambda encoder: AttentionSummary(
        "additive", cells.output_size(encoder.cell), dtype=encoder.dtype_policy
    ),
    "decoder": lambda encoder: DecoderSummary(encoder.cell),
}


@keras.saving.register_keras_serializable("kerasrnn")
class ClassifierEnsemble(Ensemble):
    """Classifies texts by the mean of the logits of several classifiers.

        logits = 1 / n sum_i logits_i / T_i

    This is the normalized geometric mean of their probabilities. It can replace
    a `TextClassifier` in `kerasrnn.pipelines.TextLabeller`. The members must
    have the same vocabulary and classes, and may differ otherwise.

    Args:
        models: List of `TextClassifier`s, at least one.
        temperatures: List of positive floats, the temperature `T_i` of each
            model, so that overconfident models do not dominate; `None` for 1.
        **kwargs: Base layer arguments, such as `name`.

    Call arguments:
        ids: Integer tensor of shape `(batch, time)`.

    Returns:
        Logits of shape `(batch, num_classes)`, in float32.

    Masking: padding is ignored.

    Raises:
        ValueError: when there is no model, models differ in their numbers of
            classes or share a layer, or there is not one positive temperature
            for each model.

    Example:

    >>> encoders = [Encoder(50, keras.layers.GRUCell(n)) for n in (8, 12)]
    >>> models = [TextClassifier(encoder, "pooled") for encoder in encoders]
    >>> ClassifierEnsemble(models)(np.ones((2, 7), "int32")).shape
    (2, 1)

    Reference:
        [Heskes, 1997](https://mlanthology.org/neurips/1997/heskes1997neurips-selecting).
    """

    member = TextClassifier

    def __init__(
        self,
        models: Sequence[TextClassifier],
        temperatures: Sequence[float] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(models, **kwargs)
        if temperatures is None:
            temperatures = [1.0] * len(self.models)
        if np.shape(temperatures) != (len(self.models),):
            raise ValueError(
                "`temperatures` must be a list with one for each model. "
                f"Expected: {len(self.models)}. Received: "
                f"temperatures={temperatures}"
            )
        self.temperatures = [
            number("temperatures", value, above=0) for value in temperatures
        ]

    @property
    def num_classes(self) -> int:
        """The number of logits."""
        return self.models[0].num_classes

    def logits_of(self, model: TextClassifier) -> int:
        return model.num_classes

    def call(self, ids: Tensor) -> Tensor:
        return self.classify_ids(ids)[0]

    def classify_ids(self, ids: Tensor) -> tuple[Tensor, Tensor | None]:
        """Classifies texts, as `TextClassifier.classify_ids` does.

        Returns:
            The logits, and the mean of the attention weights of all members, or
            `None` if a member has no attention.
        """
        return self._joined(model.classify_ids(ids) for model in self.models)

    def mask(self, ids: Tensor) -> Tensor:
        """Returns which tokens at least one member does not mask."""
        first, *others = (model.mask(ids) for model in self.models)
        return functools.reduce(ops.logical_or, others, first)

    def embed(self, ids: Tensor) -> list[Tensor]:
        """Returns a list of the embedded tokens of each member."""
        return [model.embed(ids) for model in self.models]

    def classify_embedded(
        self, embeddings: Sequence[Tensor], ids: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Classifies the result of `embed`, as `classify_ids` does."""
        return self._joined(
            model.classify_embedded(each, ids)
            for model, each in zip(self.models, embeddings, strict=True)
        )

    def hidden_states(self, ids: Tensor) -> Tensor:
        """Returns the concatenated encoder outputs of all members."""
        return ops.concatenate(
            [
                ops.cast(model.hidden_states(ids), "float32")
                for model in self.models
            ],
            axis=-1,
        )

    def _joined(self, answers):
        """Averages the logits and the attention weights of the members."""
        logits, weights = zip(*answers, strict=True)
        if any(each is None for each in weights):
            return self._mean(logits), None
        found = [ops.cast(each, "float32") for each in weights]
        return self._mean(logits), sum(found) / len(found)

    def _mean(self, logits):
        """Averages the logits of all members."""
        scaled = [
            ops.cast(x, "float32") / temperature
            for x, temperature in zip(logits, self.temperatures, strict=True)
        ]
        return sum(scaled) / len(scaled)
