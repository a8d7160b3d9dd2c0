"""What a forecaster is given: checked, in whole segments and in its units."""

from typing import Any

import keras
from keras import ops

from kerasrnn.models.forecasting.scaling import SeriesScaling
from kerasrnn.typing import Tensor


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
            if not scaling.built:
                scaling.build()

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
