"""Training, scores and report of a forecaster in a run."""

import pathlib
from typing import Any

import numpy as np

from kerasrnn.data.series.series_table import SeriesTable
from kerasrnn.data.series.times import local_times
from kerasrnn.data.series.windows import window_starts
from kerasrnn.files import atomic_write
from kerasrnn.optional import import_pandas
from kerasrnn.pipelines.forecast_scores import score
from kerasrnn.pipelines.task import Task


class ForecastingTask(Task):
    """The task of a `SeriesForecaster`.

    Rows are a `SeriesTable`. The best epoch is the one with the lowest loss.
    """

    file_name = "forecaster"
    speed_unit = "steps"
    few = 0  # One series has many windows.

    def sizes(self, rows: SeriesTable) -> dict[str, int]:
        return {"series": len(rows.series), "steps": len(rows)}

    def plan(self) -> str:
        forecaster = self.pipeline
        lookback, season = forecaster.lookback, forecaster.season
        plan = (
            f"Forecasts {forecaster.model.horizon} steps of {forecaster.step} "
            f"from the last {lookback}; a season has {season}."
        )
        if season > lookback:
            plan += (
                "\nNo seasonal naive forecast: a season is longer than that."
            )
        return plan

    def print_table(self, scores: dict[str, dict[str, Any]]) -> None:
        """Prints the scores of the model and of the baselines.

        Args:
            scores: Dictionary of name (`"model"` or a baseline) to scores by
                part.
        """
        names = ("mse", "mae", "mase")
        for part in scores["model"]:
            print(f"\n{part:<18}" + "".join(f"{name:>9}" for name in names))
            for row, found in scores.items():
                numbers = (f"{found[part][name]:9.3f}" for name in names)
                print(f"  {row:<16}" + "".join(numbers))
            best = min(scores, key=lambda row: scores[row][part]["mae"])
            if best != "model":
                print(f"The {best} forecasts have a lower MAE than the model.")

    def headline(self, scores: dict[str, Any]) -> str:
        return (
            f"MSE {scores['mse']:.3f}, MAE {scores['mae']:.3f} (in standard "
            f"deviations of the training data), MASE {scores['mase']:.2f}"
        )

    def report(
        self, rows: SeriesTable, folder: pathlib.Path
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Draws forecasts of a table, and errors by horizon step.

        It also writes `example.csv`, the inputs of the first forecast.

        Returns:
            Facts: scores `"by_step"`. Pictures: `"forecasts"` with the actual
                values, and `"horizon"`, errors by horizon step.
        """
        from kerasrnn.plots import forecast_figure
        from kerasrnn.plots import horizon_figure

        forecaster = self.pipeline
        scores = {"model": score(forecaster, rows)}
        for name, baseline in forecaster.baselines().items():
            scores[name] = score(forecaster, rows, baseline)
        by_step = {name: found.by_step() for name, found in scores.items()}
        errors = {name: found["mae"] for name, found in by_step.items()}
        _write_example(forecaster, rows, folder / "example.csv")
        ((inputs, values),) = forecaster.batches(rows, 1).take(1)
        point, quantiles = forecaster.answers_to(inputs)
        first = forecast_figure(
            inputs["past"][0],
            point[0],
            forecaster.columns,
            values[0],
            None if quantiles is None else quantiles[0],
            forecaster.levels,
        )
        horizon = horizon_figure(errors, "mean absolute error")
        return {"by_step": by_step}, {"forecasts": first, "horizon": horizon}


def _write_example(forecaster, table, path):
    """Writes the first window as a table for `read_series`.

    Calendar columns are left out, because the times imply them.
    """
    lookback, horizon = forecaster.lookback, forecaster.model.horizon
    numbers, starts = window_starts(table, lookback, horizon)
    series, start = table.series[numbers[0]], starts[0]
    known = table.known_columns
    frame = import_pandas().DataFrame(series.values, columns=table.columns)
    frame.insert(0, table.time, local_times(series.times, table.zone))
    frame.loc[start:, table.columns] = np.nan
    frame = frame.assign(
        **dict(zip(known, series.known.T, strict=False)),
        **dict(zip(table.static, series.static, strict=True)),
    )
    end = start + horizon if known else start
    with atomic_write(path) as partial:
        frame[max(start - lookback, 0) : end].to_csv(
            partial, index=False, float_format="%.7g"
        )
