"""Heads of a forecaster: a point, quantiles or a distribution per value."""

import math
import statistics
from collections.abc import Sequence
from typing import Literal

import keras
import numpy as np
from keras import ops

from kerasrnn.arguments import number
from kerasrnn.arguments import one_of
from kerasrnn.layers import _backend
from kerasrnn.saving import ByArguments
from kerasrnn.typing import Tensor

_LEAST_LEVEL = 1e-6


class ForecastHead(ByArguments):
    """Base class of the heads of a `Forecaster`.

    A forecast has the shape `(batch, horizon, columns, size)`; a point forecast
    has the shape `(batch, horizon, columns)`.
    """

    size: int
    """The number of outputs for each forecast value."""
    levels: tuple[float, ...] = ()
    """The levels of the learnt quantiles."""
    windows: tuple[str | None, ...] = (None, "last", "mean", "size")
    """The supported values of `window`; see `SeriesScaling`."""

    def forecast(self, raw: Tensor, location: Tensor, scale: Tensor) -> Tensor:
        """Returns the forecast in the units of the series.

        Args:
            raw: Tensor of shape `(..., size)`, the outputs of the network.
            location: Tensor of shape `(..., 1)`.
            scale: Tensor of that shape. A scaled value `z` stands for
                `location + scale * z`.
        """
        return location + scale * raw

    def costs(self, y_true: Tensor, forecast: Tensor, unit: Tensor) -> Tensor:
        """Returns the loss of each value, `(batch, horizon, columns)`.

        Args:
            y_true: Tensor of that shape.
            forecast: The result of `forecast`.
            unit: Tensor of shape `(columns,)`, the unit in which errors are
                measured.
        """
        raise NotImplementedError

    def check(self, values: np.ndarray) -> None:
        """Raises `ValueError` if some values have no defined loss.

        Args:
            values: Array of shape `(time, columns)`, NaN where a value is
                missing.
        """

    def point(self, forecast: Tensor) -> Tensor:
        """Reduces a forecast to one number for each value."""
        return forecast[..., 0]

    def quantiles(self, forecast: Tensor, levels: Sequence[float]) -> Tensor:
        """Returns the quantiles of a forecast, of shape `(..., levels)`."""
        raise ValueError(
            f"{type(self).__name__} has no quantiles. Expected: quantiles or "
            f"a distribution as the head. Received: levels={levels!r}"
        )


@keras.saving.register_keras_serializable("kerasrnn")
class PointHead(ForecastHead):
    """Forecasts one number for each value.

    Args:
        error: `"mae"` to minimize absolute errors (forecasts the median), or
            `"mse"` to minimize squared errors (forecasts the mean).

    Example:

    >>> PointHead().forecast(np.ones((2, 24, 7, 1)), 0.0, 1.0).shape
    (2, 24, 7)
    """

    size = 1

    def __init__(self, error: Literal["mae", "mse"] = "mae") -> None:
        self.error = one_of("error", error, ("mae", "mse"))

    def forecast(self, raw: Tensor, location: Tensor, scale: Tensor) -> Tensor:
        return (location + scale * raw)[..., 0]

    def point(self, forecast: Tensor) -> Tensor:
        return forecast

    def costs(self, y_true: Tensor, forecast: Tensor, unit: Tensor) -> Tensor:
        error = (y_true - forecast) / unit
        return ops.abs(error) if self.error == "mae" else ops.square(error)


@keras.saving.register_keras_serializable("kerasrnn")
class QuantileHead(ForecastHead):
    """Forecasts quantiles of each value, trained with the pinball loss.

        cost = 2 / Q sum_q max(q (y - y~_q), (q - 1) (y - y~_q))

    With only the level 0.5, the loss is the absolute error. The quantiles of a
    value are sorted, so they cannot cross.

    Args:
        levels: Increasing floats between 0 and 1, such as `(0.1, 0.5, 0.9)`.
            They must include the median, 0.5, which is the point forecast.

    Raises:
        ValueError: when the levels are invalid.

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
                "`levels` must include the median, 0.5. Received: "
                f"levels={levels!r}"
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
        positions = [self.levels.index(level) for level in levels]
        return ops.take(forecast, ops.array(positions, "int32"), axis=-1)


def checked_levels(levels: Sequence[float]) -> tuple[float, ...]:
    """Returns the levels of quantiles if they are valid.

    Raises:
        ValueError: when they do not increase, or are closer to 0 or 1 than
            1e-6.
    """
    bounds = {"minimum": _LEAST_LEVEL, "maximum": 1 - _LEAST_LEVEL}
    found = [number("levels", level, **bounds) for level in levels]
    if found != sorted(set(found)):
        raise ValueError(
            f"`levels` must be increasing numbers. Received: levels={levels!r}"
        )
    return tuple(found)


_LEAST = 1e-3  # prevents a distribution from collapsing to a point
_BISECTIONS = 30
_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)
# From the first number of counts on, `cdf` uses approximations; from the second
# number of failures on, it uses the one by cube roots.
_MANY, _FEW = 1000.0, 30.0


class Distribution(ForecastHead):
    """Base of distributions, trained by maximum likelihood.

    A subclass overrides `log_prob`, and either `quantiles` or `cdf` and
    `bracket`.
    """

    def costs(self, y_true: Tensor, forecast: Tensor, unit: Tensor) -> Tensor:
        # The density of the value in its unit.
        return -self.log_prob(y_true, forecast) - ops.log(unit)

    def log_prob(self, y_true: Tensor, forecast: Tensor) -> Tensor:
        """Returns the log-density or log-probability."""
        raise NotImplementedError

    def cdf(self, y: Tensor, forecast: Tensor) -> Tensor:
        """Returns the probability of values up to `y`, `(..., levels)`."""
        raise NotImplementedError

    def bracket(self, forecast: Tensor, levels: Tensor) -> tuple[Tensor, ...]:
        """Returns lower and upper bounds of the quantiles."""
        raise NotImplementedError

    def quantiles(self, forecast: Tensor, levels: Sequence[float]) -> Tensor:
        levels = ops.convert_to_tensor(levels, forecast.dtype)
        low, high = self.bracket(forecast, levels)
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            enough = self.cdf(middle, forecast) >= levels
            low = ops.where(enough, low, middle)
            high = ops.where(enough, middle, high)
        return high


@keras.saving.register_keras_serializable("kerasrnn")
class GaussianHead(Distribution):
    """Forecasts a normal distribution of each value.

    Example:

    >>> standard = np.array([[0.0, 1.0]], "float32")
    >>> found = GaussianHead().quantiles(standard, (0.5, 0.975))
    >>> [round(float(x), 2) for x in found[0]]
    [0.0, 1.96]
    """

    size = 2

    def forecast(self, raw: Tensor, location: Tensor, scale: Tensor) -> Tensor:
        mean, deviation = ops.split(raw, 2, axis=-1)
        deviation = ops.softplus(deviation) + _LEAST
        return ops.concatenate(
            [location + scale * mean, scale * deviation], axis=-1
        )

    def log_prob(self, y_true: Tensor, forecast: Tensor) -> Tensor:
        mean, deviation = forecast[..., 0], forecast[..., 1]
        z = (y_true - mean) / deviation
        return -0.5 * ops.square(z) - ops.log(deviation) - _HALF_LOG_TAU

    def quantiles(self, forecast: Tensor, levels: Sequence[float]) -> Tensor:
        z = map(statistics.NormalDist().inv_cdf, levels)
        z = ops.convert_to_tensor(list(z), forecast.dtype)
        return forecast[..., :1] + forecast[..., 1:] * z


@keras.saving.register_keras_serializable("kerasrnn")
class StudentHead(Distribution):
    """Forecasts a Student's t-distribution of each value, with heavy tails.

    Its parameters are mean, scale and degrees of freedom (more than 2).

    Example:

    >>> standard = np.array([[0.0, 1.0, 5.0]], "float32")
    >>> found = StudentHead().quantiles(standard, (0.9, 0.975))
    >>> [round(float(x), 2) for x in found[0]]
    [1.48, 2.57]
    """

    size = 3

    def forecast(self, raw: Tensor, location: Tensor, scale: Tensor) -> Tensor:
        mean, width, freedom = ops.split(raw, 3, axis=-1)
        return ops.concatenate(
            [
                location + scale * mean,
                scale * (ops.softplus(width) + _LEAST),
                2.0 + _LEAST + ops.softplus(freedom),
            ],
            axis=-1,
        )

    def log_prob(self, y_true: Tensor, forecast: Tensor) -> Tensor:
        mean, width, freedom = (forecast[..., i] for i in range(3))
        z = (y_true - mean) / width
        half = 0.5 * (freedom + 1)
        return (
            _backend.log_gamma(half)
            - _backend.log_gamma(0.5 * freedom)
            - 0.5 * ops.log(math.pi * freedom)
            - ops.log(width)
            - half * ops.log1p(ops.square(z) / freedom)
        )

    def cdf(self, y: Tensor, forecast: Tensor) -> Tensor:
        mean, width, freedom = (forecast[..., i : i + 1] for i in range(3))
        square = ops.square((y - mean) / width)
        half = 0.5 * freedom
        # The probability of the middle or of the tails, whichever is more
        # exact.
        is_near = square < freedom
        found = _backend.incomplete_beta(
            ops.where(is_near, 0.5, half),
            ops.where(is_near, half, 0.5),
            ops.where(is_near, square, freedom) / (freedom + square),
        )
        tail = 0.5 * ops.where(is_near, 1 - found, found)
        return ops.where(y > mean, 1 - tail, tail)

    def bracket(self, forecast: Tensor, levels: Tensor) -> tuple[Tensor, ...]:
        mean, width = forecast[..., :1], forecast[..., 1:2]
        # Two degrees of freedom have the heaviest tails, and their quantiles
        # lie within these bounds.
        most = width / ops.sqrt(2 * ops.minimum(levels, 1 - levels))
        return mean - most, mean + most

    def quantiles(self, forecast: Tensor, levels: Sequence[float]) -> Tensor:
        # It is symmetric, and a small tail is more exact than its complement.
        tails = [min(level, 1 - level) for level in levels]
        away = super().quantiles(forecast, tails) - forecast[..., :1]
        signs = [math.copysign(level != 0.5, 0.5 - level) for level in levels]
        return forecast[..., :1] + ops.array(signs, away.dtype) * away


@keras.saving.register_keras_serializable("kerasrnn")
class NegativeBinomialHead(Distribution):
    """Forecasts a negative binomial distribution of each value, for counts.

    Its parameters are the mean and the dispersion `a`: the variance is
    `mean + a mean^2`. Counts have no location, so `window` must be `"size"`.

    Example:

    >>> head = NegativeBinomialHead()
    >>> found = head.quantiles(np.array([[4.0, 0.5]], "float32"), (0.5, 0.9))
    >>> ops.convert_to_numpy(found).tolist()
    [[3.0, 9.0]]

    Reference:
        [Salinas et al., 2017](https://arxiv.org/abs/1704.04110).
    """

    size = 2
    windows = ("size",)

    def forecast(self, raw: Tensor, location: Tensor, scale: Tensor) -> Tensor:
        mean, dispersion = ops.split(ops.softplus(raw) + _LEAST, 2, axis=-1)
        return ops.concatenate([scale * mean, dispersion], axis=-1)

    def check(self, values: np.ndarray) -> None:
        real = values[~np.isnan(values)]
        wrong = real[(real < 0) | (real != np.floor(real))]
        if len(wrong):
            raise ValueError(
                "A negative binomial distribution needs counts. Expected: "
                "whole numbers from 0, or another head. Received: "
                f"{len(wrong):,} other values, such as {wrong[0]:g}"
            )

    def costs(self, y_true: Tensor, forecast: Tensor, unit: Tensor) -> Tensor:
        return -self.log_prob(y_true, forecast)  # A probability has no unit.

    def log_prob(self, y_true: Tensor, forecast: Tensor) -> Tensor:
        mean, failures = forecast[..., 0], 1 / forecast[..., 1]
        # Gamma functions of large counts nearly cancel each other, so
        # Stirling's formula is used, and its remainder is added last.
        total, expected = y_true + failures, mean + failures
        found = y_true * _log_quotient(
            total * mean,
            (y_true + 1) * expected,
            failures * (mean - y_true) - expected,
        )
        found += failures * _log_quotient(total, expected, y_true - mean)
        found += 0.5 * ops.log(failures / (total * (y_true + 1)))
        rest = _beyond_stirling(total) - _beyond_stirling(failures)
        return found + rest - _beyond_stirling(y_true + 1) + 1 - _HALF_LOG_TAU

    def cdf(self, y: Tensor, forecast: Tensor) -> Tensor:
        mean, dispersion = forecast[..., :1], forecast[..., 1:]
        failures, count = 1 / dispersion, ops.floor(y)
        few = _backend.incomplete_beta(
            failures,
            ops.clip(count, 0.0, _MANY) + 1,
            1 / (1 + dispersion * mean),
        )
        # For large counts, two approximations are more exact in float32: a
        # gamma distribution (Wise 1950) and cube roots (Paulson 1942).
        many = ops.maximum(count, _MANY) + 1
        gamma = _backend.incomplete_gamma(
            failures + ops.zeros_like(many),
            (many + 0.5 * (failures - 1)) * ops.log1p(failures / mean),
        )
        root, a, b = (many / mean) ** (1 / 3), 1 / failures / 9, 1 / many / 9
        z = root * (1 - b) - (1 - a)
        z = z / ops.sqrt(ops.square(root) * b + a)
        roots = 0.5 * (1 + ops.erf(z / math.sqrt(2)))
        found = ops.where(failures < _FEW, gamma, roots)
        found = ops.where(count > _MANY, found, few)
        return ops.where(count < 0, 0.0, found)

    def bracket(self, forecast: Tensor, levels: Tensor) -> tuple[Tensor, ...]:
        mean, dispersion = forecast[..., :1], forecast[..., 1:]
        deviation = ops.sqrt(mean * (1 + dispersion * mean))
        # By Cantelli's inequality. Counts are at least 0.
        most = mean + deviation * ops.sqrt(levels / (1 - levels))
        return ops.zeros_like(most) - 1, ops.ceil(most) + 1

    def quantiles(self, forecast: Tensor, levels: Sequence[float]) -> Tensor:
        return ops.floor(super().quantiles(forecast, levels) + 1e-3)


def _log_quotient(x, y, difference):
    """Returns `log(x / y)`, given an exact `x - y`."""
    change = difference / y
    return ops.where(
        change > -0.5,
        ops.log1p(ops.maximum(change, -0.5)),
        ops.log(ops.minimum(x / y, 0.5)),
    )


def _beyond_stirling(x):
    """Returns the log-gamma function minus Stirling's formula."""
    small, large = ops.minimum(x, 8.0), ops.maximum(x, 8.0)
    exact = _backend.log_gamma(small) - (
        (small - 0.5) * ops.log(small) - small + _HALF_LOG_TAU
    )
    square = ops.square(large)
    series = (1 / 12 - (1 / 360 - 1 / (1260 * square)) / square) / large
    return ops.where(x < 8, exact, series)
