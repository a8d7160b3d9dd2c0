"""Columns of numbers in comparable units, and the way back."""

from typing import Any

import keras
import numpy as np
from keras import ops

from kerasrnn.arguments import one_of
from kerasrnn.arguments import positive_integer
from kerasrnn.saving import Configured
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor

WINDOWS = (None, "last", "mean", "size")
_LEAST = 1e-4  # deviation of a window, of that of its column


@keras.saving.register_keras_serializable("kerasrnn")
class SeriesScaling(Configured, keras.layers.Layer):
    """Scales columns, and each window of them, and says how to undo it.

        z_t = (x_t - location) / scale

    The mean and deviation of each column, and whether they are those of data,
    are weights that are not trained: `adapt` sets them. A window then has a
    location and a scale of its own:

    | `window` | location            | scale                    |
    |----------|---------------------|--------------------------|
    | `None`   | mean of the column  | deviation of the column  |
    | `"last"` | last value          | deviation of the column  |
    | `"mean"` | mean of the window  | deviation of the window  |
    | `"size"` | 0                   | 1 + mean size of values  |

    Missing values, NaN, count nowhere, and become 0. In a window without any
    value, the mean of the column counts as its last value and as its mean, and
    the deviation of the column as its deviation.

    Args:
        columns: Positive integer.
        window: `None`, `"last"`, `"mean"` or `"size"`.
        **kwargs: Base layer arguments, such as `name`.

    Call arguments:
        inputs: Tensor of shape `(batch, time, columns)`, NaN where a value is
            missing.

    Returns:
        The scaled values of that shape, and the location and the scale of
        shape `(batch, 1, columns)`, all in float32.

    Raises:
        ValueError: when `window` is something else, or the values given to
            `adapt` have another shape or a column without any.

    Example:

    >>> scaling = SeriesScaling(1, window="last")
    >>> scaling.adapt(np.array([[2.0], [np.nan], [4.0]]))
    >>> z, location, scale = scaling(np.array([[[6.0], [5.0]]], "float32"))
    >>> ops.convert_to_numpy(z).tolist()
    [[[1.0], [0.0]]]
    """

    def __init__(
        self, columns: int, window: str | None = None, **kwargs: Any
    ) -> None:
        # In half precision, 1013 hPa and 1016 hPa would be the same.
        super().__init__(**{**kwargs, "dtype": "float32"})
        self.columns = positive_integer("columns", columns)
        one_of("window", window, WINDOWS)
        self.window = window

    def build(self, input_shape: Shape | None = None) -> None:
        self.mean, self.deviation = (
            self.add_weight(
                (self.columns,), initializer, trainable=False, name=name
            )
            for name, initializer in (("mean", "zeros"), ("deviation", "ones"))
        )
        # A number, so that weights may be averaged.
        self.is_adapted = self.add_weight(
            (), "zeros", trainable=False, name="is_adapted"
        )

    @property
    def adapted(self) -> bool:
        """Whether mean and deviation are those of data."""
        return self.built and bool(ops.convert_to_numpy(self.is_adapted))

    def adapt(self, values: Any) -> None:
        """Sets mean and deviation to those of the columns of an array.

        Args:
            values: Array of shape `(time, columns)`, the values to train on,
                NaN where one is missing. A column of equal values keeps a
                deviation of 1.
        """
        # In float32, a sum of many values or a square would be lost.
        values = ops.convert_to_numpy(values).astype("float64")
        if values.ndim != 2 or values.shape[1] != self.columns:
            raise ValueError(
                f"`values` must have the shape (time, {self.columns}). "
                f"Received: shape {values.shape}"
            )
        observed = np.sum(~np.isnan(values), axis=0)
        if not observed.all():
            raise ValueError(
                "Every column of `values` must have one that is not missing. "
                f"Received: numbers of values {observed}"
            )
        if np.isinf(values).any():
            raise ValueError(
                "`values` must be finite, or NaN where one is missing. "
                f"Received: {np.isinf(values).sum()} infinite values"
            )
        if not self.built:
            self.build()
        varies = np.nanmax(values, axis=0) > np.nanmin(values, axis=0)
        deviation = np.where(varies, np.nanstd(values, axis=0), 1.0)
        self.mean.assign(np.nanmean(values, axis=0).astype("float32"))
        self.deviation.assign(deviation.astype("float32"))
        self.is_adapted.assign(1.0)

    def call(self, inputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        missing = ops.isnan(inputs)
        observed = ops.cast(ops.logical_not(missing), inputs.dtype)
        mean = self.mean * ops.ones_like(inputs[:, :1])
        deviation = self.deviation * ops.ones_like(mean)
        x = ops.where(missing, 0.0, inputs)
        location, scale = mean, deviation
        if self.window == "last":
            location = _last(x, observed, mean)
        elif self.window == "mean":
            location = _mean(x, observed, mean)
            squares = ops.square((x - location) / deviation)
            spread = ops.sqrt(_mean(squares, observed, 1.0) + _LEAST**2)
            scale = deviation * spread
        elif self.window == "size":
            location = ops.zeros_like(mean)
            # One more, as in DeepAR: all values of a window may be 0.
            scale = 1.0 + _mean(ops.abs(x), observed, 0.0)
        return observed * (x - location) / scale, location, scale

    def compute_output_shape(self, input_shape: Shape) -> Any:
        batch, _, columns = input_shape
        return input_shape, (batch, 1, columns), (batch, 1, columns)


def _last(x, observed, otherwise):
    """The last observed value of each column, `(batch, 1, columns)`."""
    later = ops.flip(ops.cumsum(ops.flip(observed, 1), axis=1), 1)
    is_last = observed * ops.cast(later < 1.5, x.dtype)
    found = ops.any(observed > 0, axis=1, keepdims=True)
    return ops.where(
        found, ops.sum(is_last * x, axis=1, keepdims=True), otherwise
    )


def _mean(x, observed, otherwise):
    """The mean of the observed values of each column."""
    count = ops.sum(observed, axis=1, keepdims=True)
    total = ops.sum(observed * x, axis=1, keepdims=True)
    return ops.where(count > 0, total / ops.maximum(count, 1.0), otherwise)
