"""The pipeline for forecasting, with names and times."""

from collections.abc import Sequence
from typing import Any
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from kerasrnn.arguments import positive_integer
from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.series.series_table import SeriesTable
from kerasrnn.data.series.times import zone_name
from kerasrnn.data.series.windows import series_windows
from kerasrnn.metrics import ForecastError
from kerasrnn.models.forecast_heads import Distribution
from kerasrnn.models.forecast_heads import checked_levels
from kerasrnn.models.forecaster import Forecaster
from kerasrnn.models.forecaster import ForecastStream
from kerasrnn.pipelines.forecast_scores import Baseline
from kerasrnn.pipelines.forecast_scores import baselines
from kerasrnn.pipelines.forecast_scores import score
from kerasrnn.pipelines.forecasting_task import ForecastingTask
from kerasrnn.pipelines.pipeline import TextPipeline
from kerasrnn.pipelines.signatures import after
from kerasrnn.pipelines.signatures import check_same_rows
from kerasrnn.pipelines.signatures import flat_specs
from kerasrnn.pipelines.signatures import named
from kerasrnn.pipelines.texts import text_list
from kerasrnn.training import ForecastLoss
from kerasrnn.typing import Batches
from kerasrnn.typing import Config
from kerasrnn.typing import Strings
from kerasrnn.warning import warn


class ForecastingFunctions:
    """The graph functions that a `SeriesForecaster` serves.

    Each takes tensors and returns a dictionary of tensors.

    Args:
        forecaster: The `SeriesForecaster`.
    """

    def __init__(self, forecaster):
        self.model, self.levels = forecaster.model, forecaster.levels
        self.lookback = forecaster.lookback
        self.stream = ForecastStream(self.model, self.lookback)
        self.states = self.stream.first_states(1)

    def by_name(self):
        """Returns the functions by name, each in a list with its arguments."""
        model, steps = self.model, self.stream.steps
        window = _spec("past", self.lookback, model.columns)
        now = _spec("past", model.columns)
        states = flat_specs("state", self.states)
        return {
            "serving_default": [
                self.forecast,
                window,
                *self._others(self.lookback),
            ],
            "start": [self.start, tf.TensorSpec([], tf.int32, name="count")],
            "step": [self.step, now, *self._others(steps), *states],
        }

    def _others(self, steps):
        """Returns specs of the inputs other than the past, for some steps."""
        model, specs = self.model, []
        if model.known:
            size = steps + model.horizon, model.known
            specs.append(_spec("known", *size))
        if model.static:
            specs.append(_spec("static", model.static))
        return specs

    def forecast(self, *inputs):
        """Forecasts from windows of raw values."""
        return self._answer(self.model(self._by_name(inputs), training=False))

    def start(self, count):
        """Returns the initial states of a number of streams."""
        return named("state", self.stream.first_states(count))

    def step(self, *inputs):
        """Forecasts after one more step of each stream."""
        count = len(inputs) - len(self.states)
        inputs, states = inputs[:count], list(inputs[count:])
        given = self._by_name(inputs, **named("state", states))
        forecast, states = self.stream.step(given, states)
        return {**self._answer(forecast), **named("state", states)}

    def _by_name(self, inputs, **others):
        names = self.model.scaling.scalings
        given = dict(zip(names, inputs, strict=True))
        checks = [check_same_rows(**given, **others)]
        return dict(zip(names, after(checks, *inputs), strict=True))

    def _answer(self, forecast):
        head = self.model.head
        answer = {"forecast": head.point(forecast)}
        if self.levels:
            answer["quantiles"] = head.quantiles(forecast, self.levels)
        return answer


def _spec(name, *shape):
    return tf.TensorSpec([None, *shape], tf.float32, name=name)


class Forecast(NamedTuple):
    """The forecast of one series.

    Args:
        name: String, name of the series.
        times: Array of `datetime64` of shape `(horizon,)`, in UTC if the table
            has a time zone.
        point: Array of shape `(horizon, columns)`, in the units of the series.
        quantiles: Array of shape `(horizon, columns, levels)`, in the same
            units, for the `levels` of the forecaster; `None` without quantiles.
    """

    name: str
    times: np.ndarray
    point: np.ndarray
    quantiles: np.ndarray | None


def _of_zone(zone):
    return "without a zone" if zone is None else f"in the zone {zone}"


@keras.saving.register_keras_serializable("kerasrnn")
class SeriesForecaster(TextPipeline):
    """Forecasts the columns of time series in their original units.

    It is saved to one `.keras` file, with the optimizer if the model is
    compiled. A loaded pipeline can forecast, continue its training or be
    exported. Three signatures are served. `serving_default` forecasts from a
    window of raw values, NaN where a value is missing. For a stream, `start`
    returns the initial states, and `step` forecasts after each new step.

    Args:
        model: A `kerasrnn.models.Forecaster`.
        columns: List of strings, the names of its columns.
        lookback: Positive integer, number of past steps to read.
        step: String, the time step, as in `SeriesTable`.
        season: Positive integer, steps in a season, for scores: 24 for hourly
            data with a daily pattern; 1 for no season.
        known: List of strings, the names of columns that are known in advance.
        static: List of strings, the names of static features of a series.
        levels: Increasing floats, the levels of the quantiles to forecast, if
            the model has a distribution. A `QuantileHead` has its own levels.
        zone: String, the time zone of the calendar features, into which times
            of other zones are converted; `None` for times without a zone.
            `adapt` sets it to that of the table.
        **kwargs: Base model arguments, such as `name`.

    Raises:
        ValueError: when the number of names differs from that of the model,
            names are not distinct, or a number, the levels or the zone are
            invalid.

    Example:

    >>> import pandas
    >>> days = pandas.date_range("2024-01-01", periods=120)
    >>> load = 50 + 9 * np.sin(2 * np.pi * np.arange(120) / 7)
    >>> table = read_series(pandas.DataFrame({"d": days, "load": load}), "d")
    >>> model = Forecaster(FastGRUCell(8), horizon=7, segment=7)
    >>> forecaster = SeriesForecaster(model, ["load"], 14, "D", season=7)
    >>> history = forecaster.fit(table, epochs=3, verbose=0)
    >>> (forecast,) = forecaster.forecast(table)
    >>> str(forecast.times[0])[:10], forecast.point.shape
    ('2024-04-30', (7, 1))
    """

    asked_by = "`forecast`"

    def __init__(
        self,
        model: Forecaster,
        columns: Strings,
        lookback: int,
        step: str,
        season: int = 1,
        known: Strings = (),
        static: Strings = (),
        levels: Sequence[float] = (0.1, 0.5, 0.9),
        zone: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(model, **kwargs)
        self.columns = tuple(text_list(columns))
        self.lookback = positive_integer("lookback", lookback)
        self.season = positive_integer("season", season)
        self.step = step
        self.zone = None if zone is None else zone_name(zone)
        self.known = tuple(text_list(known))
        self.static = tuple(text_list(static))
        if not isinstance(model.head, Distribution):
            levels = model.head.levels
        self.levels = checked_levels(levels)
        for name in ("columns", "known", "static"):
            names, size = getattr(self, name), getattr(model, name)
            if not len({*names}) == len(names) == size:
                raise ValueError(
                    f"`{name}` must have {size} distinct names, as many as the "
                    f"model reads. Received: {name}={names!r}"
                )

    def adapt(self, table: SeriesTable) -> None:
        """Sets the scaling and the time zone from the training data.

        Call it before `compile`, because errors are measured in these units.

        Args:
            table: A `SeriesTable`, only the training part.
        """
        self._check(table)
        self.zone = table.zone
        known, static = (
            table.stacked(name) if getattr(self, name) else None
            for name in ("known", "static")
        )
        self.model.adapt(table.stacked("values"), known, static)

    def default_loss(self) -> keras.losses.Loss:
        """Returns the `ForecastLoss` of the head, in units of the columns."""
        return ForecastLoss(self.model.head, self.model.units)

    def default_metrics(self) -> list[keras.metrics.Metric]:
        """Returns the absolute and squared errors of the point forecast."""
        head, units = self.model.head, self.model.units
        return [ForecastError(head, units, name) for name in ("mae", "mse")]

    def batches(
        self,
        table: SeriesTable,
        batch_size: int = 64,
        seed: int | None = None,
        stride: int = 1,
    ) -> tf.data.Dataset:
        """Returns the `kerasrnn.data.series_windows` of a table."""
        table = self._in_zone(table)
        size = self.lookback, self.model.horizon
        return series_windows(table, *size, batch_size, seed, stride)

    def fit(
        self,
        examples: SeriesTable | Batches,
        labels: None = None,
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Trains the model; calls `adapt` and `compile` if not compiled.

        See `TextPipeline.fit`.
        """
        if not (self.model.adapted or isinstance(examples, tf.data.Dataset)):
            self.adapt(examples)
        return super().fit(examples, labels, **kwargs)

    def task(self) -> ForecastingTask:
        return ForecastingTask(self)

    def functions(self) -> dict[str, list[Any]]:
        return ForecastingFunctions(self).by_name()

    def _check(self, table):
        """Raises `ValueError` unless the model can read a table."""
        if not isinstance(table, SeriesTable):
            raise ValueError(
                "Expected: a `SeriesTable`, such as from "
                "`kerasrnn.data.read_series`. Received: a "
                f"{type(table).__name__}"
            )
        for name in ("columns", "known", "static", "step"):
            own, given = getattr(self, name), getattr(table, name)
            if list(own) != list(given):
                raise ValueError(
                    f"The table must have the same `{name}` as the model, in "
                    f"the same order. Expected: {own!r}. Received: {given!r}"
                )
        if table.series:
            self.model.head.check(table.stacked("values"))

    def _in_zone(self, table):
        """Checks a table and converts its calendar to the training's zone."""
        self._check(table)
        zones = self.zone, table.zone
        if table.calendar and zones.count(None) == 1:
            warn(
                "The calendar features may differ from those in training. "
                f"Expected: times {_of_zone(self.zone)}. Received: times "
                f"{_of_zone(table.zone)}",
                CorpusWarning,
            )
        return table.in_zone(self.zone)

    def answers_to(
        self, inputs: dict[str, Any]
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Returns point forecasts of windows, and quantiles or `None`.

        Args:
            inputs: Dictionary of the inputs of the model.
        """
        names = self.model.scaling.scalings
        answer = self.ask(
            self.signatures["serving_default"], *map(inputs.get, names)
        )
        quantiles = answer.get("quantiles")
        return answer["forecast"].numpy(), (
            None if quantiles is None else quantiles.numpy()
        )

    def forecast(
        self, table: SeriesTable, batch_size: int = 64
    ) -> list[Forecast]:
        """Forecasts the steps after the last values of each series.

        Args:
            table: A `SeriesTable`. Rows after the last values contain the
                columns that are known in advance. A `CorpusWarning` lists
                missing ones.
            batch_size: Positive integer, series in a batch.

        Returns:
            List with a `Forecast` for each series.
        """
        table = self._in_zone(table)
        ahead = table.ahead(self.model.horizon)
        if lacking := {x: n for x, n in ahead.not_known().items() if n}:
            warn(
                "Some values that should be known in advance are missing. "
                "Expected: rows after the last values with these columns. "
                "Received: "
                + ", ".join(
                    f"no {name!r} in {count:,} of {len(ahead):,} steps"
                    for name, count in lacking.items()
                ),
                CorpusWarning,
            )
        found: list[Forecast] = []
        for inputs, _ in self.batches(ahead, batch_size):
            point, quantiles = self.answers_to(inputs)
            for row, numbers in enumerate(point):
                series = ahead.series[len(found)]
                band = None if quantiles is None else quantiles[row]
                times = series.times[series.begin :]
                found.append(Forecast(series.name, times, numbers, band))
        return found

    def baselines(
        self, table: SeriesTable | None = None
    ) -> dict[str, Baseline]:
        """Returns baseline forecasts, for `evaluate`.

        Args:
            table: A `SeriesTable`, the training part; `None` for no `"linear"`.

        Returns:
            A dictionary of functions: `"naive"`, `"seasonal naive"` and
            `"linear"`.
        """
        if table is not None:
            table = self._in_zone(table)
        size = self.lookback, self.model.horizon
        return baselines(table, *size, self.season, self.model.means)

    def evaluate(
        self,
        table: SeriesTable,
        batch_size: int = 256,
        baseline: Baseline | None = None,
    ) -> dict[str, Any]:
        """Forecasts at every step of a table and scores the forecasts.

        Args:
            table: A `SeriesTable`. Errors are measured in standard deviations
                of the training data.
            batch_size: Positive integer, windows in a batch.
            baseline: A function of `baselines` to score instead of the model.

        Returns:
            A dictionary of `"mse"`, `"mae"`, `"mase"`, `"mae_by_column"` in the
            units of the series, `"coverage"` of the quantiles, and `"windows"`,
            the number of scored forecasts (with at least one actual value).
        """
        return score(self, table, baseline, batch_size).result(self.columns)

    def served_facts(self) -> Config:
        return {
            "columns": list(self.columns),
            "known": list(self.known),
            "static": list(self.static),
            "lookback": self.lookback,
            "horizon": self.model.horizon,
            "step": self.step,
            "levels": list(self.levels),
            "zone": self.zone,
        }
