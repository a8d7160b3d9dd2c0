"""What a forecaster does with tables: forecasts them, and is evaluated."""

from typing import Any
from typing import NamedTuple

import numpy as np

from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.series.series_table import SeriesTable
from kerasrnn.pipelines.finite import check_answer
from kerasrnn.pipelines.forecasting.baselines import Baseline
from kerasrnn.pipelines.forecasting.baselines import baselines
from kerasrnn.pipelines.forecasting.functions import ForecastingFunctions
from kerasrnn.pipelines.forecasting.scores import score
from kerasrnn.pipelines.forecasting.task import ForecastingTask
from kerasrnn.pipelines.text_pipeline import TextPipeline
from kerasrnn.typing import Config
from kerasrnn.warning import warn


class Forecast(NamedTuple):
    """What is forecast of one series.

    Args:
        name: String, the series.
        times: Array of shape `(horizon,)`, of `datetime64`; in UTC, if the
            table has a zone.
        point: Array of shape `(horizon, columns)`.
        quantiles: Array of shape `(horizon, columns, levels)`, or `None`.
    """

    name: str
    times: np.ndarray
    point: np.ndarray
    quantiles: np.ndarray | None


class Forecasting(TextPipeline):
    """The part of `SeriesForecaster` that works once it is trained.

    See `SeriesForecaster`.
    """

    asked_by = "`forecast`"
    columns: tuple[str, ...]
    lookback: int
    step: str
    season: int
    known: tuple[str, ...]
    static: tuple[str, ...]
    levels: tuple[float, ...]
    zone: str | None

    def task(self) -> ForecastingTask:
        return ForecastingTask(self)

    def functions(self) -> dict[str, list[Any]]:
        return ForecastingFunctions(self).by_name()

    def _check(self, table):
        """Raises `ValueError` unless the model can read a table."""
        if not isinstance(table, SeriesTable):
            raise ValueError(
                "A `SeriesTable` is expected, as `kerasrnn.data.read_series` "
                f"returns it. Received: a {type(table).__name__}"
            )
        for name in ("columns", "known", "static"):
            own, given = getattr(self, name), tuple(getattr(table, name))
            if own != given:
                raise ValueError(
                    f"The table must have the `{name}` {list(own)}, in this "
                    f"order. Received: {list(given)}"
                )
        if table.step != self.step:
            raise ValueError(
                f"The table must have a step of time of {self.step!r}. "
                f"Received: {table.step!r}"
            )
        if table.series:
            self.model.head.check(table.stacked("values"))

    def _in_zone(self, table):
        """A checked table, with the calendar of the zone of the training."""
        self._check(table)
        zones = self.zone, table.zone
        if table.calendar and zones.count(None) == 1:
            warn(
                "The calendar of a table may be another than in training. "
                f"Expected: times {_of_zone(self.zone)}. Received: times "
                f"{_of_zone(table.zone)}",
                CorpusWarning,
            )
        return table.in_zone(self.zone)

    def answers_to(
        self, inputs: dict[str, Any]
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Returns the point, and the quantiles or `None`, of windows.

        Args:
            inputs: Dictionary of the inputs of the model.
        """
        names = self.model.scaling.names
        answer = self.signatures["serving_default"](*map(inputs.get, names))
        check_answer(self.model, answer)
        quantiles = answer.get("quantiles")
        return answer["forecast"].numpy(), (
            None if quantiles is None else quantiles.numpy()
        )

    def forecast(
        self, table: SeriesTable, batch_size: int = 64
    ) -> list[Forecast]:
        """Forecasts what follows the last values of each series.

        Args:
            table: A `SeriesTable`. Rows after the last values hold what is
                known ahead; a `CorpusWarning` names those that are missing.
            batch_size: Positive integer, series in a batch.

        Returns:
            List of `Forecast`, one for each series.
        """
        table = self._in_zone(table)
        ahead = table.ahead(self.model.horizon)
        lacking = {x: n for x, n in ahead.not_known().items() if n}
        if lacking:
            warn(
                "Some values of columns that are known ahead are missing. "
                "Expected: rows after the last values, with these columns. "
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
        """Returns forecasts without a network, for `evaluate`.

        Args:
            table: A `SeriesTable`, the part to train on; `None` for no
                `"linear"`.

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
        """Forecasts at every step of a table, and compares with what came.

        Args:
            table: A `SeriesTable`. Errors are measured in the deviations of
                the columns of what the model was trained on.
            batch_size: Positive integer, windows in a batch.
            baseline: A function of `baselines` to score in place of the model.

        Returns:
            A dictionary of `"mse"`, `"mae"`, `"mase"`, `"mae_by_column"` in
            units of the series, `"coverage"` of the quantiles, and
            `"windows"`, how many forecasts were scored: those with a value.
        """
        if not (baseline is None or callable(baseline)):
            raise ValueError(
                "`baseline` must be a function, one of those in `baselines`. "
                f"Received: baseline={baseline!r:.80}"
            )
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


def _of_zone(zone):
    return "without a zone" if zone is None else f"of the zone {zone}"
