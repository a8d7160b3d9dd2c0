import forecast
import numpy as np
import pandas
import pytest
from corpora.daily_rhythm import daily_rhythm

from kerasrnn import data
from kerasrnn.layers import FastLSTMCell
from kerasrnn.models import StudentHead
from tests import helpers
from tests.recipes import brief
from tests.recipes.brief import unlearnt  # noqa: F401  a fixture


def test_parts_follow_each_other():
    settings = forecast.Settings(limit=500, calendar=("hour",))
    train, dev, test = forecast.load_parts(settings)
    assert len(train) == 500
    ends = [part.series[0].times[-1] for part in (train, dev, test)]
    assert ends == sorted(set(ends))
    assert train.series[0].times[-1] < dev.series[0].times[dev.series[0].begin]


def test_a_run_is_as_its_settings_say(tmp_path, unlearnt):  # noqa: F811
    """A limit is one of time, however many the series."""
    brief.write_shops(tmp_path / "shops.csv")
    options = {"time": ("day",), "time_format": "%d.%m.%Y", "key": ("shop",)}
    options |= {"columns": ("visits", "sales"), "known": ("price",)}
    options |= {"horizon": 6, "lookback": 28, "segment": 4, "units": 8}
    settings = forecast.Settings(
        **{"corpus": str(tmp_path / "shops.csv"), **options},
        **{"calendar": ("weekday",), "missing": True, "window": "mean"},
        **{"held_out": 0.1, "limit": 200, "clip": 3.0, "head": "student"},
        **{"cell": "lstm", "depth": 2, "dropout": 0.25, "shared": False},
        **{"parallel": False, "epochs": 2, "batch_size": 9, "season": 14},
        output=tmp_path / "out",
    )
    forecast.run(settings)
    (forecaster, (train, dev), _), (_, (scored, test), facts) = unlearnt
    parts = train, dev, test
    assert scored is dev
    assert [len(part.grid()) for part in parts] == [200, 30, 30]
    assert len(train) == 400
    beside = facts["beside"]
    assert [*beside] == ["naive", "seasonal naive", "linear"]
    for name, table in (("dev", dev), ("test", test)):
        naive = forecaster.baselines()["naive"]
        found = forecaster.evaluate(table, baseline=naive)
        assert beside["naive"][name] == found
    model = forecaster.model
    assert forecaster.columns == ("visits", "sales")
    assert forecaster.known[:1] == ("price",) and len(forecaster.known) == 3
    assert (forecaster.lookback, forecaster.season) == (28, 14)
    names = "horizon", "segment", "window", "missing", "depth", "dropout"
    names += "shared", "parallel"
    assert brief.has(model, **settings.pick(*names))
    assert isinstance(model.cell, FastLSTMCell) and model.cell.units == 8
    assert isinstance(model.head, StudentHead)
    # 195 windows in each of two series, which look back before the limit.
    assert helpers.schedule(model.optimizer)[0] == 2 * -(-390 // 9)
    other = forecast.dataclasses.replace(settings, season=None)
    assert forecast.build_forecaster(other, train).season == 7


def test_a_table_is_read_as_the_settings_say(tmp_path):
    times = pandas.date_range("2024-05-01", periods=400, freq="30min")
    frame = pandas.DataFrame({"date": times, "load": np.arange(400) / 2})
    frame["size"] = 7.5
    path = tmp_path / "load.csv"
    frame.to_csv(path, sep=";", decimal=",", index=False)
    options = {"step": "h", "resample": "sum", "decimal": ",", "held_out": 0.25}
    settings = forecast.Settings(corpus=str(path), static=("size",), **options)
    train, _, _ = forecast.load_parts(settings)
    assert (train.step, len(train)) == ("h", 100)
    (series,) = train.series
    assert series.values[:, 0].tolist() == [2 * n + 0.5 for n in range(100)]
    assert series.static.tolist() == [7.5]


def test_the_published_table_is_split_as_published(tmp_path):
    times = pandas.date_range("2016-07-01", periods=17420, freq="h")
    frame = pandas.DataFrame({"date": times, "OT": np.arange(17420)})
    (tmp_path / "series").mkdir()
    frame.to_csv(tmp_path / "series" / "ETTh1.csv", index=False)
    settings = forecast.PRESETS["etth1"]
    settings = forecast.dataclasses.replace(
        settings, corpus="etth1", data_dir=tmp_path
    )
    assert settings.without_effect() >= {"held_out"}
    train, dev, test = forecast.load_parts(settings)
    assert [len(part) for part in (train, dev, test)] == [8640, 2880, 2880]
    counts = [
        len(data.window_starts(part, 720, 96)[1]) for part in (train, dev, test)
    ]
    assert counts == [8640 - 720 - 96 + 1, 2785, 2785]
    assert test.series[0].values[test.series[0].begin, 0] == 11520


def test_generated_hours_have_their_rhythms():
    found = daily_rhythm(2000, seed=3)
    assert found["date"][25] == "2023-01-03T01"
    again, other = daily_rhythm(2000, seed=3), daily_rhythm(2000, seed=4)
    np.testing.assert_array_equal(found["load"], again["load"])
    assert (found["load"] != other["load"]).any()
    load = found["load"][: 11 * 168].reshape(11, 7, 24)
    assert load[:, :5].mean() > load[:, 5:].mean() + 50
    assert np.ptp(load.mean(axis=(0, 1))) > 60


def test_something_is_left_to_train_on():
    for share in 0, 0.5:
        with pytest.raises(ValueError, match="`held_out` must be above 0"):
            forecast.Settings(held_out=share)
