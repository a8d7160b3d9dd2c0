"""The loss of models that forecast numbers."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import check_shape
from kerasrnn.arguments import number
from kerasrnn.training.losses import PooledLoss
from kerasrnn.typing import Config
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class ForecastLoss(PooledLoss):
    """Mean cost of a forecast value, without the missing ones.

    What a value costs is said by the head of the model: an absolute or
    squared error, the pinball loss of quantiles, or a negative log-likelihood.
    Errors are measured in a unit for each column, so
    that columns of large numbers do not drown the others.

    Args:
        head: The `head` of a `kerasrnn.models.Forecaster`.
        units: List of floats, the unit of each column: its deviation.
        name: Name of the loss.

    Call arguments:
        y_true: Tensor of shape `(batch, horizon, columns)`, NaN where a value
            is missing.
        y_pred: What the model returned.
        sample_weight: Optional tensor of shape `(batch,)`, by which costs are
            multiplied. Their sum is still divided by the number of values.

    Returns:
        A scalar. It is 0 for a batch without values.

    Masking: missing values have no cost and no gradient.

    Raises:
        ValueError: when a unit is not positive; when shapes do not match.

    Example:

    >>> loss = ForecastLoss(PointHead("mae"), units=[2.0])
    >>> y_true = np.array([[[1.0], [np.nan], [3.0]]])
    >>> float(loss(y_true, np.ones((1, 3, 1))))   # of 0 and 2 / 2
    0.5
    """

    def __init__(
        self,
        head: Any,
        units: Sequence[float],
        name: str = "forecast_loss",
    ) -> None:
        super().__init__(name)
        self.head = head
        self.units = [number("units", unit, above=0) for unit in units]

    def __call__(
        self,
        y_true: Tensor,
        y_pred: Tensor,
        sample_weight: Tensor | None = None,
    ) -> Tensor:
        costs = self.call(y_true, y_pred)
        if sample_weight is not None:
            weights = ops.cast(sample_weight, self.dtype)
            check_shape("sample_weight", weights, y_true.shape[:1])
            costs = costs * ops.reshape(weights, (-1, 1, 1))
        return self._total(costs)

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Returns the part of each value in the mean."""
        y_true = ops.cast(y_true, self.dtype)
        y_pred = ops.cast(y_pred, self.dtype)
        check_shape("y_true", y_true, (*y_pred.shape[:2], len(self.units)))
        real = ops.logical_not(ops.isnan(y_true))
        # Not 0, whose cost may have no finite gradient.
        point = ops.stop_gradient(self.head.point(y_pred))
        check_shape("y_pred", point, y_true.shape)
        costs = self.head.costs(
            ops.where(real, y_true, point),
            y_pred,
            ops.convert_to_tensor(self.units, self.dtype),
        )
        return self._parts(ops.where(real, costs, 0.0), real)

    def get_config(self) -> Config:
        return {
            "name": self.name,
            "head": keras.saving.serialize_keras_object(self.head),
            "units": self.units,
        }

    @classmethod
    def from_config(cls, config: Config) -> "ForecastLoss":
        head = keras.saving.deserialize_keras_object(config["head"])
        return cls(**{**config, "head": head})
