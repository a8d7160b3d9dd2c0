"""The base of ensembles: several models that answer as one."""

from collections.abc import Sequence
from typing import Any

import keras

from kerasrnn.arguments import instance
from kerasrnn.layers.configured import Deserialized
from kerasrnn.typing import Config


class Ensemble(Deserialized, keras.layers.Layer):
    """Base of ensembles, whose members answer the same question.

    A subclass says what its members are, and how their answers are joined.

    Args:
        models: List of models of the class `member`, at least one.
        **kwargs: Base layer arguments, such as `name`.

    Attributes:
        member: The class of the models.

    Raises:
        ValueError: when there is no model, one is of another class, or their
            logits differ in size.
    """

    member: type[keras.Model]

    def __init__(self, models: Sequence[keras.Model], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        for model in models:
            instance("models", model, self.member)
        sizes = {self.logits_of(model) for model in models}
        if len(sizes) != 1:
            raise ValueError(
                "`models` must be at least one, with logits of the same size. "
                f"Received: {len(models)} models with logits of sizes "
                f"{sorted(sizes)}"
            )
        self.models = list(models)
        self.built = True

    def logits_of(self, model: Any) -> int:
        """Returns the number of logits of a member."""
        raise NotImplementedError(
            f"{type(self).__name__} must override `logits_of()`."
        )

    def get_config(self) -> Config:
        models = map(keras.saving.serialize_keras_object, self.models)
        return {**super().get_config(), "models": list(models)}
