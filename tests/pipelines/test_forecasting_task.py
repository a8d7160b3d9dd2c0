"""What a run of a forecaster says before and after its training."""

import types

from kerasrnn.pipelines.forecasting_task import ForecastingTask


def task(season):
    model = types.SimpleNamespace(horizon=24)
    facts = {"lookback": 168, "season": season, "step": "15min"}
    return ForecastingTask(types.SimpleNamespace(model=model, **facts))


def row(mae):
    return {"test": {"mse": 1.0, "mae": mae, "mase": 1.0}}


def test_a_plan_is_in_steps():
    expected = "Forecasts 24 steps of 15min from the last 168; a season"
    assert task(96).plan() == f"{expected} has 96."
    first, second = task(288).plan().splitlines()
    assert first == f"{expected} has 288."
    assert second.startswith("No seasonal naive forecast")


def test_a_table_says_what_is_better_than_the_model(capsys):
    task(96).print_table({"model": row(0.2), "naive": row(0.3)})
    assert "lower MAE" not in capsys.readouterr().out
    scores = {"model": row(0.2), "naive": row(0.3), "linear": row(0.1)}
    task(96).print_table(scores)
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "The linear forecasts have a lower MAE than the model."
