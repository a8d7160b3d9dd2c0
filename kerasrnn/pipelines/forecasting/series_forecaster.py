"""Forecasting: a model of series, with the names and times of what it says."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from kerasrnn.arguments import positive_integer
from kerasrnn.data.series.series_table import SeriesTable
from kerasrnn.data.series.times import zone_name
from kerasrnn.data.series.windows import series_windows
from kerasrnn.metrics import ForecastError
from kerasrnn.models.forecast_heads import Distribution
from kerasrnn.models.forecast_heads import checked_levels
from kerasrnn.models.forecaster import Forecaster
from kerasrnn.pipelines.forecasting.forecasting import Forecasting
from kerasrnn.pipelines.texts import text_list
from kerasrnn.training import ForecastLoss
from kerasrnn.typing import Batches
from kerasrnn.typing import Config
from kerasrnn.typing import Strings


@keras.saving.register_keras_serializable("kerasrnn")
class SeriesForecaster(Forecasting):
    """Forecasts the columns of a table of series, in their own units.

    It is saved to one `.keras` file, with the optimizer if the model is
    compiled. A loaded pipeline can forecast, continue its training or be
    exported. Three signatures are served: `serving_default` forecasts from a
    window of raw values, NaN where one is missing; for a stream, `start` gives
    the first states, and `step` forecasts after the values of one more step.

    Args:
        model: A `kerasrnn.models.Forecaster`.
        columns: List of strings, the names of its columns.
        lookback: Positive integer, how many steps of the past it reads.
        step: String, the step of time, as of a `SeriesTable`.
        season: Positive integer, steps of a season, for scores: 24 for hours
            that repeat every day; 1 for none.
        known: List of strings, the names of what it is given ahead.
        static: List of strings, the names of what describes a series.
        levels: Rising floats, the levels of the quantiles to forecast, if the
            model has a distribution. Those of a `QuantileHead` are its own.
        zone: String, the time zone of the calendar that it reads, also of
            times of other zones; `None` for times that have none. `adapt` sets
            it to that of the table.
        **kwargs: Base model arguments, such as `name`.

    Raises:
        ValueError: when the names are not as many as the model reads, or not
            different, or a number, the levels or the zone are wrong.

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
                    f"`{name}` must be {size} names, as many as the model "
                    f"reads, all different. Received: {name}={names!r}"
                )

    def adapt(self, table: SeriesTable) -> None:
        """Sets the scaling and the time zone to those of the data to train on.

        It is needed before `compile`: errors are measured in these units.

        Args:
            table: A `SeriesTable`, the part to train on, and no more.
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
        """Returns the absolute and the squared error of the point."""
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
        table: SeriesTable | Batches,
        batch_size: int = 64,
        validation_data: SeriesTable | Batches = None,
        seed: int = 0,
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Trains the model, after `adapt` and `compile` if it is not compiled.

        Args:
            table: A `SeriesTable`, or a dataset that `batches` returned.
            batch_size: Positive integer, windows in a batch.
            validation_data: As `table`; `None` for no validation.
            seed: Integer, the seed of the shuffling.
            **kwargs: Other arguments of `keras.Model.fit`, such as `epochs`
                and `callbacks`.

        Returns:
            The `keras.callbacks.History` of the training.
        """
        if not (self.model.adapted or isinstance(table, tf.data.Dataset)):
            self.adapt(table)
        both = self.batched(table, validation_data, batch_size, seed)
        return super().fit(*both, **kwargs)

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "columns": list(self.columns),
            "lookback": self.lookback,
            "step": self.step,
            "season": self.season,
            "known": list(self.known),
            "static": list(self.static),
            "levels": list(self.levels),
            "zone": self.zone,
        }
