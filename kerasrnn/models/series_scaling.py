"""Checks, pads and scales the inputs of a forecaster."""

from typing import Any

import keras
import numpy as np
from keras import ops

from kerasrnn.arguments import check_shape
from kerasrnn.arguments import positive_integer
from kerasrnn.saving import Configured
from kerasrnn.saving import build_once
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor

_LEAST = 1e-4  # minimum deviation of a window, relative to its column


@keras.saving.register_keras_serializable("kerasrnn")
class SeriesScaling(Configured, keras.layers.Layer):
    """Scales columns and windows; returns location and scale to undo it.

        z_t = (x_t - location) / scale

    `adapt` sets the mean and standard deviation of each column, which are
    non-trainable weights. Each window then has its own location and scale:

    | `window` | location           | scale                            |
    |----------|--------------------|----------------------------------|
    | `None`   | mean of the column | standard deviation of the column |
    | `"last"` | last value         | standard deviation of the column |
    | `"mean"` | mean of the window | standard deviation of the window |
    | `"size"` | 0                  | 1 + mean absolute value          |

    Missing values (NaN) are ignored and become 0. A window without any value
    has the mean and standard deviation of the column.

    Args:
        columns: Positive integer.
        window: `None`, `"last"`, `"mean"` or `"size"`.
        **kwargs: Base layer arguments, such as `name`.

    Call arguments:
        inputs: Tensor of shape `(batch, time, columns)`, NaN where a value is
            missing.

    Returns:
        The scaled values, of the same shape, and the location and scale, of
        shape `(batch, 1, columns)`, all in float32.

    Raises:
        ValueError: when `window` is unknown, or the values given to `adapt`
            have another shape or a column without any value.

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
        self.window = window

    def build(self, input_shape: Shape | None = None) -> None:
        self.mean, self.deviation = (
            self.add_weight(
                (self.columns,), initializer, trainable=False, name=name
            )
            for name, initializer in (("mean", "zeros"), ("deviation", "ones"))
        )
        # A float, so that weights can be averaged.
        self.is_adapted = self.add_weight(
            (), "zeros", trainable=False, name="is_adapted"
        )

    @property
    def adapted(self) -> bool:
        """Whether `adapt` has set mean and deviation."""
        return self.built and bool(ops.convert_to_numpy(self.is_adapted))

    def adapt(self, values: Any) -> None:
        """Computes the mean and standard deviation of each column.

        Args:
            values: Array of shape `(time, columns)`, the training data, NaN
                where a value is missing. A constant column gets a deviation of
                1.
        """
        # In float32, sums of many values and squares would lose digits.
        values = ops.convert_to_numpy(values).astype("float64")
        observed = np.sum(~np.isnan(values), axis=0)
        if not observed.all() or np.isinf(values).any():
            raise ValueError(
                "Every column of `values` must have at least one value that is "
                "not missing, and all values must be finite. Received: "
                f"{observed} values, {np.isinf(values).sum()} of them infinite"
            )
        build_once(self)
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
            # Plus 1, as in DeepAR, because all values of a window may be 0.
            scale = 1.0 + _mean(ops.abs(x), observed, 0.0)
        return observed * (x - location) / scale, location, scale


def _last(x, observed, otherwise):
    """Returns the last observed value of each column."""
    later = ops.flip(ops.cumsum(ops.flip(observed, 1), axis=1), 1)
    is_last = observed * ops.cast(later < 1.5, x.dtype)
    found = ops.any(observed > 0, axis=1, keepdims=True)
    return ops.where(
        found, ops.sum(is_last * x, axis=1, keepdims=True), otherwise
    )


def _mean(x, observed, otherwise):
    """Returns the mean of the observed values of each column."""
    count = ops.sum(observed, axis=1, keepdims=True)
    total = ops.sum(observed * x, axis=1, keepdims=True)
    return ops.where(count > 0, total / ops.maximum(count, 1.0), otherwise)


class ForecastInputs(keras.layers.Layer):
    """Scales the past, the values known in advance, and static features.

    Args:
        columns: Positive integer, number of values in a step of the past.
        segment: Positive integer, steps in a segment. Missing steps are added
            before the past to complete its first segment.
        horizon: Positive integer, steps to forecast. Missing steps are added
            after the known values to complete their last segment.
        known: Integer, number of values of each step that are known in advance.
        static: Integer, number of static features of a series.
        window: How windows of the past are scaled; see `SeriesScaling`.
        **kwargs: Base layer arguments, such as `name`.

    Call arguments:
        inputs: The past, or a dictionary of inputs, as in `Forecaster`.

    Returns:
        A dictionary of tensors: the `"values"` of the past, which of them are
        `"missing"`, their `"location"` and `"scale"`, and `"known"` and
        `"static"` inputs or `None`.
    """

    def __init__(
        self,
        columns: int,
        segment: int,
        horizon: int,
        known: int = 0,
        static: int = 0,
        window: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{**kwargs, "dtype": "float32"})
        self.segment, self.horizon = segment, horizon
        sizes = {"past": columns, "known": known, "static": static}
        self.scalings = {
            name: SeriesScaling(
                size, window if name == "past" else None, name=f"{name}_scaling"
            )
            for name, size in sizes.items()
            if size
        }

    def build(self, *shapes: Any) -> None:
        for scaling in self.scalings.values():
            build_once(scaling)

    def check(self, given: Any) -> None:
        """Raises `ValueError` unless the inputs have the expected names."""
        if sorted(given) != sorted(self.scalings):
            raise ValueError(
                f"This model reads {', '.join(self.scalings)}. "
                f"Received: {', '.join(given)}"
            )

    def adapt(self, **given: Any) -> None:
        """Sets the scaling of each input; see `SeriesScaling.adapt`."""
        given = {name: x for name, x in given.items() if x is not None}
        self.check(given)
        for name, scaling in self.scalings.items():
            scaling.adapt(given[name])

    def call(self, inputs: Any) -> dict[str, Tensor | None]:
        if not isinstance(inputs, dict):
            inputs = {"past": inputs}
        self.check(inputs)
        inputs = {name: ops.cast(x, "float32") for name, x in inputs.items()}
        self._check_shapes(inputs)
        scale = self.scalings
        before = -inputs["past"].shape[1] % self.segment
        past = _padded(inputs["past"], before, 0)
        found: dict[str, Any] = {"missing": ops.isnan(past)}
        found["values"], found["location"], found["scale"] = scale["past"](past)
        found["known"] = found["static"] = None
        if "known" in scale:
            known = _padded(
                inputs["known"], before, -self.horizon % self.segment
            )
            found["known"], _, _ = scale["known"](known)
        if "static" in scale:
            static = ops.expand_dims(inputs["static"], 1)
            found["static"] = scale["static"](static)[0][:, 0]
        return found

    def _check_shapes(self, inputs):
        time = inputs["past"].shape[1:2]
        if None in time:
            raise ValueError(
                "Windows are divided into segments while the graph is traced. "
                "Expected: `past` with a known number of steps. Received: "
                f"shape {tuple(inputs['past'].shape)}"
            )
        steps = {
            "past": time,
            "known": [steps + self.horizon for steps in time],
            "static": (),
        }
        for name, scaling in self.scalings.items():
            check_shape(
                name, inputs[name], ("batch", *steps[name], scaling.columns)
            )


def _padded(x, before, after):
    """Adds missing steps before and after the steps of a tensor."""
    if before == after == 0:
        return x
    return ops.pad(
        x, [[0, 0], [before, after], [0, 0]], constant_values=float("nan")
    )
