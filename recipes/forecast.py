"""Trains and exports a forecaster of time series.

    python recipes/forecast.py                         # generated hours
    python recipes/forecast.py --corpus load.csv --time date --horizon 24
    python recipes/forecast.py --corpus etth1          # a published table
    python recipes/forecast.py --corpus more.csv --time date --from OTHER.keras

Naive, seasonal naive and linear forecasts are scored as baselines. See
`translate.py` for the files that a run writes and how to resume it.
"""

import kerasrnn_commands.quiet  # noqa: F401  # isort: skip
import dataclasses
import math
from pathlib import Path
from typing import Literal

from corpora.daily_rhythm import daily_rhythm

from kerasrnn import models
from kerasrnn import training

Cycle = Literal["minute", "hour", "weekday", "monthday", "yearday"]
Joined = Literal["mean", "sum", "min", "max", "first", "last"]
Head = Literal["mae", "mse", "quantiles", "gaussian", "student", "counts"]
HEADS = {
    "quantiles": models.QuantileHead,
    "gaussian": models.GaussianHead,
    "student": models.StudentHead,
    "counts": models.NegativeBinomialHead,
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(training.Settings):
    """Settings of data, model and training."""

    saved = training.Settings.saved | {
        *("cell", "units", "depth", "dropout", "micro_steps", "window"),
        *("head", "segment", "lookback", "horizon", "season", "shared"),
        *("parallel", "missing"),
    }
    not_identity = training.Settings.not_identity | {"corpus", "season"}
    needs = training.Settings.needs | {
        "micro_steps": training.cell_needs()["micro_steps"],
        "resample": ("step",),
    }

    output: Path = Path("saved_models/forecast")
    corpus: str = "generated"
    """generated, etth1, or a file: CSV, Parquet, JSON lines."""
    limit: training.Count | None = None
    """Train only on the last N steps of the training set."""
    time: tuple[str, ...] = ("date",)
    """Column of times, or several columns, such as date and hour."""
    time_format: str | None = None
    """Time format, such as %d.%m.%Y, s or ms; default: detected."""
    decimal: Literal[".", ","] = "."
    """Decimal separator of numbers."""
    columns: tuple[str, ...] = ()
    """Columns to forecast; default: all that no other flag uses."""
    key: tuple[str, ...] = ()
    """Columns that identify each of several series."""
    known: tuple[str, ...] = ()
    """Columns whose future values are known, such as prices."""
    static: tuple[str, ...] = ()
    """Columns that are constant within a series."""
    calendar: tuple[Cycle, ...] = ()
    """Calendar features to add: hour, weekday, ..."""
    step: str | None = None
    """Time step, such as h, 15min, D, MS; default: detected."""
    resample: Joined | None = None
    """How to aggregate irregular rows in each step."""
    held_out: training.Rate = 0.15
    """Fraction of steps for the test (the last) and for validation, each."""
    horizon: training.Count = 24
    """Number of steps to forecast."""
    lookback: training.Count = 168
    """Number of past steps that a forecast reads."""
    season: training.Count | None = None
    """Steps per season, for the scores; 1: no season; default: by the step."""
    segment: training.Count = 12
    """Number of steps read at once by the cell; try half a season."""
    head: Head = "quantiles"
    """Output: a point forecast, quantiles, or a distribution."""
    window: Literal["last", "mean", "size"] | None = "last"
    """Scaling of each window; None: one scale for all, for streams."""
    shared: bool = True
    """Whether columns are read separately, with shared weights."""
    parallel: bool = True
    """Whether all steps are forecast at once."""
    missing: bool = True
    """Whether the model is told which values are missing."""
    cell: training.CellName = "gru"
    """Recurrent cell."""
    micro_steps: training.Count | None = None
    """Micro-steps of rhn and gam_rhn; default: 3 and 2."""
    units: training.Count = 64
    """Width of the cells."""
    depth: training.Count = 1
    """Number of recurrent layers."""
    dropout: training.Rate = 0.1
    """Dropout rate of the outputs of the recurrent layers."""
    epochs: training.Count | None = None
    batch_size: training.Count | None = None
    learning_rate: training.Positive = 2e-3

    def __post_init__(self):
        super().__post_init__()
        if not 0 < self.held_out < 0.5:
            message = "`held_out` must be above 0 and below 0.5. Received: "
            raise ValueError(f"{message}held_out={self.held_out}")

    def without_effect(self):
        idle = super().without_effect()
        return idle | {"held_out"} if self.corpus == "etth1" else idle


SIZES = {  # for up to this many windows to train on
    5_000: {"batch_size": 16, "epochs": 20},
    50_000: {"batch_size": 32, "epochs": 15},
    math.inf: {"batch_size": 64, "epochs": 10},
}
PRESETS = {
    "generated": Settings(
        calendar=("hour", "weekday"), epochs=10, batch_size=64
    ),
    "etth1": Settings(
        corpus="etth1",
        lookback=720,
        horizon=96,
        segment=24,
        head="mae",
        missing=False,
        units=128,
        epochs=8,
        batch_size=64,
        learning_rate=1e-3,
    ),
    "own": Settings(),
}
ETTH1 = (8640, 11520, 14400)  # months: 12 to train, 4 and 4 to score on


def load_parts(settings):
    """Returns the training, validation and test sets, in order of time."""
    import pandas

    from kerasrnn import data

    if settings.corpus == "generated":
        source = pandas.DataFrame(daily_rhythm(8766, settings.seed))
    else:
        source = data.find_corpus(settings.corpus, settings.data_dir)
    table = data.read_series(
        source,
        settings.time,
        settings.columns or None,
        **settings.pick("key", "known", "static", "calendar"),
        **settings.pick("step", "resample", "time_format", "decimal"),
    )
    is_published, share = settings.corpus == "etth1", settings.held_out
    borders = ETTH1 if is_published else (1 - 2 * share, 1 - share)
    train, dev, test, *_ = data.split_series(table, *borders)
    if settings.limit and settings.limit < len(train.grid()):
        train = data.split_series(train, -settings.limit)[1]
    return train, dev, test


def build_model(settings, columns, known=0, static=0):
    """Returns an untrained model."""
    head = HEADS[settings.head]() if settings.head in HEADS else settings.head
    parts = settings.cell, settings.units, settings.micro_steps
    names = "segment", "window", "shared", "parallel", "depth", "dropout"
    return models.Forecaster(
        *(training.build_cell(*parts), settings.horizon, columns),
        **{"known": known, "static": static, "head": head},
        **settings.pick(*names, "missing"),
    )


def build_forecaster(settings, table):
    """Returns the model as a pipeline, in the units of a table."""
    # Imported here, because the models do not need TensorFlow.
    from kerasrnn import data
    from kerasrnn import pipelines

    if settings.start_from:
        return pipelines.SeriesForecaster.open(settings.start_from)
    names = table.columns, table.known, table.static
    season = settings.season or data.usual_season(table.step)
    forecaster = pipelines.SeriesForecaster(
        build_model(settings, *map(len, names)),
        *(table.columns, settings.lookback, table.step, season),
        *(table.known, table.static),
    )
    forecaster.adapt(table)
    return forecaster


def scores_beside(forecaster, train, parts):
    """Returns the scores of the baselines, by name and part."""
    return {
        name: {
            part: forecaster.evaluate(table, baseline=baseline)
            for part, table in parts.items()
        }
        for name, baseline in forecaster.baselines(train).items()
    }


def run(settings):
    """Trains, evaluates and exports."""
    from kerasrnn import data
    from kerasrnn import pipelines

    with pipelines.Run(settings) as this_run:
        train, dev, test = load_parts(settings)
        forecaster = build_forecaster(settings, train)
        size = forecaster.lookback, forecaster.model.horizon
        _, starts = data.window_starts(train, *size)
        settings = this_run.by_size(len(starts), SIZES)
        steps = math.ceil(len(starts) / settings.batch_size)
        forecaster.compile(training.build_optimizer(settings, steps))
        beside = scores_beside(forecaster, train, {"dev": dev, "test": test})
        this_run.fit(forecaster, train, dev)
        this_run.finish(forecaster, dev, test, beside=beside)
        forecaster.task().print_table({"model": this_run.scores, **beside})


def main():
    run(training.read_settings(PRESETS, description=__doc__))


if __name__ == "__main__":
    main()
