"""The loss of classes that are given by number, with smoothed labels."""

from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import rate
from kerasrnn.typing import Config
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class LabelCrossentropy(keras.losses.Loss):
    """Categorical cross-entropy of logits, with label smoothing.

    It is `keras.losses.CategoricalCrossentropy` of labels that are numbers.

    Args:
        label_smoothing: Float in `[0, 1)`, the share of each label that is
            spread over all classes.
        **kwargs: Base loss arguments, such as `name`.

    Call arguments:
        y_true: Integer tensor of shape `(batch, 1)`.
        y_pred: Logits of shape `(batch, classes)`.

    Returns:
        A scalar.

    Raises:
        ValueError: when `label_smoothing` is outside `[0, 1)`.

    Reference:
        [Szegedy et al., 2016](https://arxiv.org/abs/1512.00567), section 7.
    """

    def __init__(
        self,
        label_smoothing: float = 0.0,
        name: str = "label_crossentropy",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self.label_smoothing = rate("label_smoothing", label_smoothing)

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        classes = ops.one_hot(
            ops.cast(y_true[:, 0], "int32"), y_pred.shape[-1], dtype="float32"
        )
        return keras.losses.categorical_crossentropy(
            classes,
            y_pred,
            from_logits=True,
            label_smoothing=self.label_smoothing,
        )

    def get_config(self) -> Config:
        return {**super().get_config(), "label_smoothing": self.label_smoothing}
