"""Inputs of a forecaster: checked, in whole segments, in comparable units."""

from typing import Any

import keras
import numpy as np
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.saving import Configured
from kerasrnn.saving import build_once
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor

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
        observed = np.sum(~np.isnan(values), axis=0)
        if not observed.all() or np.isinf(values).any():
            raise ValueError(
                "Every column of `values` must have one that is not missing, "
                f"and all must be finite. Received: {observed} values, "
                f"{np.isinf(values).sum()} of them infinite"
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
            # One more, as in DeepAR: all values of a window may be 0.
            scale = 1.0 + _mean(ops.abs(x), observed, 0.0)
        return observed * (x - location) / scale, location, scale


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


class ForecastInputs(keras.layers.Layer):
    """The scaling of the past, of what is known ahead, and of features.

    Args:
        columns: Positive integer, numbers of a step of the past.
        segment: Positive integer. Missing steps are added before the past, so
            that it has a whole number of segments.
        horizon: Positive integer. The same is done after what is known ahead.
        known: Integer, numbers of each step that are known ahead.
        static: Integer, numbers that describe a whole series.
        window: How windows of the past are scaled, see `SeriesScaling`.
        **kwargs: Base layer arguments, such as `name`.

    Call arguments:
        inputs: The past, or a dictionary of inputs, as of a `Forecaster`.

    Returns:
        A dictionary of tensors: the `"values"` of the past, where they are
        `"missing"`, their `"location"` and `"scale"`, and what is `"known"` and
        `"static"`, or `None`.
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
        self.scalings = [
            SeriesScaling(
                size, window if name == "past" else None, name=f"{name}_scaling"
            )
            for name, size in sizes.items()
            if size
        ]
        self.names = [name for name, size in sizes.items() if size]

    def build(self, *shapes: Any) -> None:
        for scaling in self.scalings:
            build_once(scaling)

    def check(self, given: Any) -> None:
        """Raises `ValueError` unless inputs have the names of the model's."""
        if sorted(given) != sorted(self.names):
            raise ValueError(
                f"This model reads {', '.join(self.names)}. "
                f"Received: {', '.join(given)}"
            )

    def adapt(self, **given: Any) -> None:
        """Sets the scaling of each input, see `SeriesScaling.adapt`."""
        given = {name: x for name, x in given.items() if x is not None}
        self.check(given)
        for name, scaling in zip(self.names, self.scalings, strict=True):
            scaling.adapt(given[name])

    def call(self, inputs: Any) -> dict[str, Tensor | None]:
        if not isinstance(inputs, dict):
            inputs = {"past": inputs}
        self.check(inputs)
        inputs = {name: ops.cast(x, "float32") for name, x in inputs.items()}
        self._check_shapes(inputs)
        scale = dict(zip(self.names, self.scalings, strict=True))
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
                "The steps of a window are divided into segments while a graph "
                "is traced. Expected: `past` with a known number of steps. "
                f"Received: shape {tuple(inputs['past'].shape)}"
            )
        ahead = [steps + self.horizon for steps in time]
        steps = {"past": time, "known": ahead, "static": ()}
        for name, scaling in zip(self.names, self.scalings, strict=True):
            expected = (*steps[name], scaling.columns)
            if tuple(inputs[name].shape[1:]) != expected:
                raise ValueError(
                    f"`{name}` must have the shape (batch, "
                    f"{', '.join(map(str, expected))}). "
                    f"Received: shape {tuple(inputs[name].shape)}"
                )


def _padded(x, before, after):
    """Adds steps of missing values before and after those of a tensor."""
    if before == after == 0:
        return x
    pads = [[0, 0], [before, after], [0, 0]]
    return ops.pad(x, pads, constant_values=float("nan"))
