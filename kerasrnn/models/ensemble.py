"""The base of ensembles: several models that answer as one."""

from collections.abc import Sequence
from typing import Any

import keras

from kerasrnn.arguments import instance
from kerasrnn.models.model import ReadsIds
from kerasrnn.models.model import give_weights
from kerasrnn.saving import Configured


class Ensemble(ReadsIds, Configured, keras.layers.Layer):
    """Base of ensembles, whose members answer the same question.

    A subclass says what its members are, and how their answers are joined.
    One model may be a member twice.

    Args:
        models: List of models of the class `member`, at least one.
        **kwargs: Base layer arguments, such as `name`.

    Attributes:
        member: The class of the models.

    Raises:
        ValueError: when there is no model, one is of another class, they differ
            in their numbers of logits, or two share a layer.
    """

    member: type[keras.Model]

    def __init__(self, models: Sequence[keras.Model], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        for model in models:
            instance("models", model, self.member)
            give_weights(model)
        sizes = {self.logits_of(model) for model in models}
        if len(sizes) != 1:
            raise ValueError(
                "`models` must be one or more, all with the same number of "
                f"logits. Received: {len(models)} models, with "
                f"{sorted(sizes)} logits"
            )
        _check_apart(models)
        self.models = list(models)
        self.built = True

    def logits_of(self, model: Any) -> int:
        """Returns the number of logits of a member."""
        raise NotImplementedError(
            f"{type(self).__name__} must override `logits_of()`."
        )


def _check_apart(models):
    """Raises `ValueError` if two models share a layer.

    Keras saves such a pair without complaint, but cannot load it.
    """
    owners = {}
    for model in models:
        for variable in model.weights:
            other = owners.setdefault(id(variable), model)
            if other is not model:
                raise ValueError(
                    "`models` must not share layers. Expected: each with "
                    "layers of its own. Received: two models with the "
                    f"variable {variable.path!r}"
                )
