"""An ensemble of text classifiers."""

import functools
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from kerasrnn.arguments import number
from kerasrnn.models.classification.text_classifier import TextClassifier
from kerasrnn.models.ensemble import Ensemble
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class ClassifierEnsemble(Ensemble):
    """Classifies a text by the mean of the logits of several classifiers.

        logits = 1 / n sum_i logits_i / T_i

    This is the normalized geometric mean of their probabilities. It takes the
    place of a `TextClassifier` in `kerasrnn.pipelines.TextLabeller`. The
    members may differ in everything but their vocabulary and their classes.

    Args:
        models: List of `TextClassifier`s, at least one.
        temperatures: List of positive floats, the temperature `T_i` of each
            model, so that a model that is too certain counts no more than
            others; `None` for 1.
        **kwargs: Base layer arguments, such as `name`.

    Call arguments:
        ids: Integer tensor of shape `(batch, time)`.

    Returns:
        Logits of shape `(batch, num_classes)`, in float32.

    Masking: padding is ignored.

    Raises:
        ValueError: when there is no model, they differ in their numbers of
            classes or share a layer, or there is not one positive temperature
            for each.

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
                "`temperatures` must be one for each model. Expected: "
                f"{len(self.models)}. Received: temperatures={temperatures}"
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
            The logits, and the mean of the attention weights of all members,
            or `None` if one has no attention.
        """
        return self._joined(model.classify_ids(ids) for model in self.models)

    def mask(self, ids: Tensor) -> Tensor:
        """Returns which tokens at least one member reads."""
        first, *others = (model.mask(ids) for model in self.models)
        return functools.reduce(ops.logical_or, others, first)

    def embed(self, ids: Tensor) -> list[Tensor]:
        """Returns what each member reads of tokens, a list of tensors."""
        return [model.embed(ids) for model in self.models]

    def classify_embedded(
        self, embeddings: Sequence[Tensor], ids: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Classifies what `embed` returned, as `classify_ids` does."""
        return self._joined(
            model.classify_embedded(each, ids)
            for model, each in zip(self.models, embeddings, strict=True)
        )

    def hidden_states(self, ids: Tensor) -> Tensor:
        """Returns the outputs of the encoders of all members, side by side."""
        return ops.concatenate(
            [
                ops.cast(model.hidden_states(ids), "float32")
                for model in self.models
            ],
            axis=-1,
        )

    def _joined(self, answers):
        """The mean of the logits, and of the attention weights, of members."""
        logits, weights = zip(*answers, strict=True)
        if any(each is None for each in weights):
            return self._mean(logits), None
        found = [ops.cast(each, "float32") for each in weights]
        return self._mean(logits), sum(found) / len(found)

    def _mean(self, logits):
        """The mean of the logits of all members."""
        scaled = [
            ops.cast(x, "float32") / temperature
            for x, temperature in zip(logits, self.temperatures, strict=True)
        ]
        return sum(scaled) / len(scaled)
