"""What a forecaster says of each value: a point, or quantiles of it."""

import numbers
from collections.abc import Sequence
from typing import Any
from typing import Literal
from typing import Self

import keras
import numpy as np
from keras import ops

from kerasrnn.arguments import one_of
from kerasrnn.typing import Config
from kerasrnn.typing import Tensor

_LEAST_LEVEL = 1e-6


class ForecastHead:
    """Base of what a `Forecaster` says of each value that it forecasts.

    A forecast has the shape `(batch, horizon, columns, size)`, that of a point
    `(batch, horizon, columns)`. `distributions.py` has distributions.
    """

    size: int
    """How many numbers are said of each value."""
    levels: tuple[float, ...] = ()
    """The levels of the quantiles that it learns."""
    windows: tuple[str | None, ...] = (None, "last", "mean", "size")
    """The scalings of windows that suit it, see `SeriesScaling`."""

    def forecast(self, raw: Tensor, location: Tensor, scale: Tensor) -> Tensor:
        """Returns the forecast in the units of the series.

        Args:
            raw: Tensor of shape `(..., size)`, the numbers of the network.
            location: Tensor of shape `(..., 1)`.
            scale: Tensor of that shape. `location + scale * z` stands for `z`.
        """
        return location + scale * raw

    def costs(self, y_true: Tensor, forecast: Tensor, unit: Tensor) -> Tensor:
        """Returns the cost of each value, `(batch, horizon, columns)`.

        Args:
            y_true: Tensor of that shape.
            forecast: What `forecast` returned.
            unit: Tensor of shape `(columns,)`, the unit of errors.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must override `costs()`."
        )

    def check(self, values: np.ndarray) -> None:
        """Raises `ValueError` if this head has no cost for some values.

        Args:
            values: Array of shape `(time, columns)`, NaN where one is missing.
        """

    def point(self, forecast: Tensor) -> Tensor:
        """Returns a forecast as one number for each value."""
        return forecast[..., 0]

    def quantiles(self, forecast: Tensor, levels: Sequence[float]) -> Tensor:
        """Returns the quantiles of a forecast, `(..., levels)`."""
        raise ValueError(
            f"{type(self).__name__} has no quantiles. Expected: quantiles or "
            f"a distribution as the head. Received: levels={levels!r}"
        )

    def get_config(self) -> Config:
        return {}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**config)


@keras.saving.register_keras_serializable("kerasrnn")
class PointHead(ForecastHead):
    """One number for each value, the least in absolute or squared error.

    Args:
        error: `"mae"`, whose best point is the median, or `"mse"`, whose best
            point is the mean.

    Example:

    >>> PointHead().forecast(np.ones((2, 24, 7, 1)), 0.0, 1.0).shape
    (2, 24, 7)
    """

    size = 1

    def __init__(self, error: Literal["mae", "mse"] = "mae") -> None:
        one_of("error", error, ("mae", "mse"))
        self.error = error

    def forecast(self, raw: Tensor, location: Tensor, scale: Tensor) -> Tensor:
        return (location + scale * raw)[..., 0]

    def point(self, forecast: Tensor) -> Tensor:
        return forecast

    def costs(self, y_true: Tensor, forecast: Tensor, unit: Tensor) -> Tensor:
        error = (y_true - forecast) / unit
        return ops.abs(error) if self.error == "mae" else ops.square(error)

    def get_config(self) -> Config:
        return {"error": self.error}


@keras.saving.register_keras_serializable("kerasrnn")
class QuantileHead(ForecastHead):
    """Quantiles of each value, learnt by the pinball loss.

        cost = 2 / Q sum_q max(q (y - y~_q), (q - 1) (y - y~_q))

    With the level 0.5 alone, it is the absolute error. The quantiles of a
    value are sorted, so that none crosses another.

    Args:
        levels: Rising floats between 0 and 1, such as `(0.1, 0.5, 0.9)`. The
            median, 0.5, is among them: it is the point that is forecast.

    Raises:
        ValueError: when the levels are not such.

    Example:

    >>> head = QuantileHead((0.1, 0.5, 0.9))
    >>> float(head.point(np.array([1.0, 2.0, 5.0])))
    2.0

    Reference:
        [Wen et al., 2017](https://arxiv.org/abs/1711.11053).
    """

    def __init__(self, levels: Sequence[float] = (0.1, 0.5, 0.9)) -> None:
        self.levels = checked_levels(levels)
        if 0.5 not in self.levels:
            raise ValueError(
                "`levels` must have the median, 0.5, among them. "
                f"Received: levels={levels!r}"
            )
        self.size = len(self.levels)

    def forecast(self, raw: Tensor, location: Tensor, scale: Tensor) -> Tensor:
        return location + scale * ops.sort(raw, axis=-1)

    def costs(self, y_true: Tensor, forecast: Tensor, unit: Tensor) -> Tensor:
        error = ops.expand_dims(y_true, -1) - forecast
        error = error / ops.expand_dims(unit, -1)
        levels = ops.convert_to_tensor(self.levels, error.dtype)
        costs = ops.maximum(levels * error, (levels - 1) * error)
        return 2 * ops.mean(costs, axis=-1)

    def point(self, forecast: Tensor) -> Tensor:
        return forecast[..., self.levels.index(0.5)]

    def quantiles(self, forecast: Tensor, levels: Sequence[float]) -> Tensor:
        unknown = sorted(set(levels) - set(self.levels))
        if unknown:
            raise ValueError(
                f"Only the quantiles {self.levels} were learnt. "
                f"Received: {unknown}"
            )
        positions = [self.levels.index(level) for level in levels]
        return ops.take(forecast, ops.array(positions, "int32"), axis=-1)

    def get_config(self) -> Config:
        return {"levels": list(self.levels)}


def checked_levels(levels: Sequence[float]) -> tuple[float, ...]:
    """Returns the levels of quantiles, if they are such.

    Raises:
        ValueError: when they do not rise, or are nearer to 0 or 1 than 1e-6.
    """
    rising = np.iterable(levels) and all(
        isinstance(level, numbers.Real) for level in levels
    )
    rising = rising and list(levels) == sorted(set(levels))
    if not rising or not all(
        _LEAST_LEVEL <= level <= 1 - _LEAST_LEVEL for level in levels
    ):
        raise ValueError(
            "`levels` must be rising numbers between 0 and 1, and no nearer "
            f"to them than {_LEAST_LEVEL}. Received: levels={levels!r}"
        )
    return tuple(map(float, levels))


def head_of(head: Any) -> ForecastHead:
    """Returns a head, given one, or `"mae"`, `"mse"`."""
    if head in ("mae", "mse"):
        return PointHead(head)
    if isinstance(head, ForecastHead):
        return head
    raise ValueError(
        "`head` must be 'mae', 'mse' or a head, such as "
        f"`QuantileHead()`. Received: head={head!r}"
    )
