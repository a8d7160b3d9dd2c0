"""Errors of forecasts, without missing values."""

from collections.abc import Sequence
from typing import Any
from typing import Literal

import keras
from keras import ops

from kerasrnn.arguments import check_shape
from kerasrnn.arguments import number
from kerasrnn.arguments import one_of
from kerasrnn.metrics.pooled_mean import PooledMean
from kerasrnn.metrics.pooled_mean import check_unweighted
from kerasrnn.typing import Tensor

_POWERS = {"mae": 1, "mse": 2}


@keras.saving.register_keras_serializable("kerasrnn")
class ForecastError(PooledMean):
    """Mean absolute or squared error of point forecasts.

    The mean is over all values of all batches that are not missing, in units of
    their columns. With the standard deviations of the training set as units,
    results are comparable to published tables.

    Args:
        head: The `head` of a `kerasrnn.models.Forecaster`.
        units: List of floats, the unit of each column.
        error: `"mae"` or `"mse"`, which is also its name.

    Call arguments:
        y_true: Tensor of shape `(batch, horizon, columns)`, NaN where a value
            is missing.
        y_pred: The outputs of the model.
        sample_weight: Must be `None`.

    Masking: missing values are ignored.

    Raises:
        ValueError: when `error` is unknown, a unit is not positive, shapes do
            not match, or there are weights.

    Example:

    >>> error = ForecastError(PointHead(), [2.0], "mse")
    >>> y_true = np.array([[[1.0], [np.nan], [5.0]]])
    >>> error.update_state(y_true, np.ones((1, 3, 1)))
    >>> float(error.result())   # the mean of 0 and (4 / 2) ** 2
    2.0
    """

    def __init__(
        self,
        head: Any,
        units: Sequence[float],
        error: Literal["mae", "mse"] = "mae",
    ) -> None:
        super().__init__(error)
        self.error = one_of("error", error, _POWERS)
        self.head = head
        self.units = [number("units", unit, above=0) for unit in units]
        self.power = _POWERS[error]

    def update_state(
        self,
        y_true: Tensor,
        y_pred: Tensor,
        sample_weight: Tensor | None = None,
    ) -> None:
        check_unweighted("The values of forecasts", sample_weight)
        y_true = ops.cast(y_true, "float32")
        point = self.head.point(ops.cast(y_pred, "float32"))
        check_shape("y_true", y_true, (*y_pred.shape[:2], len(self.units)))
        check_shape("y_pred", point, y_true.shape)
        errors = ops.abs((y_true - point) / ops.array(self.units, "float32"))
        self.add(
            errors**self.power,
            ops.cast(ops.logical_not(ops.isnan(y_true)), "float32"),
        )
