import json

import keras
import numpy as np
import pandas
import pytest
import tensorflow as tf

from kerasrnn.data import CorpusError
from kerasrnn.data import CorpusWarning
from kerasrnn.data import read_series
from kerasrnn.data import split_series
from kerasrnn.models import GaussianHead
from kerasrnn.models import NegativeBinomialHead
from kerasrnn.models import QuantileHead
from kerasrnn.pipelines import Forecast
from kerasrnn.pipelines import SeriesForecaster
from kerasrnn.pipelines.forecast_scores import naive_errors
from kerasrnn.pipelines.pipeline import TextPipeline
from tests import fresh_process
from tests.helpers import one_now
from tests.helpers import reloaded
from tests.pipelines import small

# Answers of a SavedModel to a window, and to its steps one by one.
SERVE = """
import json, sys
import numpy as np
import tensorflow as tf

assert "kerasrnn" not in sys.modules
path, window = sys.argv[1:]
served = tf.saved_model.load(path).signatures
window = np.array(json.loads(window), "float32")
states = served["start"](count=tf.constant(len(window)))
for values in np.swapaxes(window, 0, 1):
    found = served["step"](past=tf.constant(values), **states)
    states = {name: found[name] for name in states}
whole = served["serving_default"](past=tf.constant(window))
answer = {"step": found, "window": whole}
print(json.dumps({
    name: {key: x.numpy().tolist() for key, x in outputs.items()
           if not key.startswith("state")}
    for name, outputs in answer.items()
}))
"""


def table(**options):
    return read_series(small.series(**options), "date")


@pytest.fixture(scope="module")
def trained():
    keras.utils.set_random_seed(0)
    # Keras does not save the state of the generators of dropout.
    forecaster = small.forecaster(QuantileHead(), missing=True, dropout=0)
    train, dev = split_series(table(count=400), 300)
    forecaster.adapt(train)
    forecaster.compile(keras.optimizers.Adam(0.01))
    forecaster.fit(train, epochs=16, batch_size=32, verbose=0)
    return forecaster, train, dev


@pytest.mark.slow
def test_it_is_better_than_what_needs_no_network(trained, tmp_path):
    forecaster, train, dev = trained
    scores = forecaster.evaluate(dev)
    others = {
        name: forecaster.evaluate(dev, baseline=baseline)
        for name, baseline in forecaster.baselines(train).items()
    }
    assert list(others) == ["naive", "seasonal naive", "linear"]
    assert scores["mae"] < 0.5 * others["naive"]["mae"]
    assert scores["windows"] == others["linear"]["windows"] == 89
    # A season is repeated with the noise of both days.
    assert others["seasonal naive"]["mase"] == pytest.approx(1, abs=0.15)
    assert others["linear"]["mase"] < 1 < scores["mase"] < 6
    assert (
        scores["mae_by_column"]["load"] > 10 * scores["mae_by_column"]["temp"]
    )
    assert 0 < scores["coverage"]["0.1"] < scores["coverage"]["0.9"] < 1
    task = forecaster.task()
    facts, pictures = task.report(dev, tmp_path)
    steps = facts["by_step"]["model"]["mae"]
    assert len(steps) == 12 and np.mean(steps) == pytest.approx(scores["mae"])
    assert set(pictures) == {"forecasts", "horizon"}


@pytest.mark.parametrize(
    "known, calendar",
    [([], []), (["hour_sin", "hour_cos"], []), ([], ["hour"])],
)
def test_a_run_leaves_an_example_to_forecast(known, calendar, tmp_path):
    given = small.series(60).assign(hour_sin=1.0, hour_cos=2.0, size=3)
    columns = "date", ["load", "temp"]
    given = given[["date", "load", "temp", *known, "size"]]
    options = {"known": known, "calendar": calendar, "static": ["size"]}
    rows = read_series(given, *columns, **options)
    forecaster = small.forecaster(known=len(rows.known), static=1)
    forecaster.adapt(rows)
    forecaster.task().report(rows, tmp_path)
    lookback = forecaster.lookback
    end = lookback + forecaster.model.horizon * bool(known)
    expected = given[:end]
    expected.loc[lookback:, ["load", "temp"]] = np.nan
    found = pandas.read_csv(tmp_path / "example.csv", parse_dates=["date"])
    pandas.testing.assert_frame_equal(
        found, expected, check_dtype=False, rtol=1e-6
    )


def test_an_example_has_the_hour_that_comes_twice(tmp_path):
    rows = read_series(in_berlin(), "date", calendar=["hour"])
    forecaster = small.forecaster(known=2)
    forecaster.adapt(rows)
    forecaster.task().report(rows, tmp_path)
    found = read_series(tmp_path / "example.csv", "date", calendar=["hour"])
    (series,), (given,) = found.series, rows.series
    np.testing.assert_array_equal(series.times, given.times[: len(found)])
    assert len(found) == forecaster.lookback


def in_berlin():
    """Hours in which the clock goes back."""
    given = small.series(60)
    times = pandas.date_range(
        "2024-10-26", periods=60, freq="h", tz="Europe/Berlin"
    )
    return given.assign(date=times)


def test_a_forecaster_knows_the_zone_of_its_calendar(tmp_path):
    rows = read_series(in_berlin(), "date", calendar=["hour"])
    in_berlin().to_csv(tmp_path / "x.csv", index=False)
    offsets = read_series(tmp_path / "x.csv", "date", calendar=["hour"])
    assert offsets.zone == "UTC"
    forecaster = small.forecaster(known=2)
    forecaster.adapt(rows)
    forecaster = reloaded(forecaster, tmp_path)
    assert forecaster.zone == "Europe/Berlin"
    (expected,), (found,) = map(forecaster.forecast, (rows, offsets))
    np.testing.assert_array_equal(found.point, expected.point)
    clock = in_berlin()
    clock["date"] = pandas.date_range("2024-10-26", periods=60, freq="h")
    clock = read_series(clock, "date", calendar=["hour"])
    with pytest.warns(CorpusWarning, match="zone Europe/Berlin. .* without a"):
        forecaster.forecast(clock)
    forecaster.adapt(clock)
    with pytest.warns(CorpusWarning, match="without a zone.*in the zone UTC"):
        forecaster.forecast(offsets)


@pytest.mark.parametrize("zone", ["Berlin", "Europe", "", 5])
def test_the_zone_of_a_forecaster_is_one(zone):
    config = small.forecaster().get_config() | {"zone": zone}
    with pytest.raises(ValueError, match=f"'Europe/Berlin'. .*: {zone!r}"):
        SeriesForecaster.from_config(config)


def test_it_forecasts_what_follows_in_units_and_times():
    forecaster = small.forecaster(GaussianHead(), known=2)
    given = small.series(60)
    given.loc[55:, ["load", "temp"]] = np.nan
    given["load"] *= 1000
    long, short = given.assign(place="a"), given[45:].assign(place="b")
    given = pandas.concat([long, short])
    rows = read_series(given, "date", key="place", calendar=["hour"])
    forecaster.adapt(rows)
    found = forecaster.forecast(rows)
    assert [x.name for x in found] == ["a", "b"]
    for forecast in found:
        assert isinstance(forecast, Forecast)
        assert str(forecast.times[0]) == "2024-05-03T07:00:00.000000"
        assert forecast.point.shape == (12, 2)
        assert forecast.quantiles.shape == (12, 2, 3)
        assert 3e5 < forecast.point[:, 0].mean() < 7e5
    ahead = found[1].quantiles
    assert (np.diff(ahead, axis=-1) > 0).all()
    np.testing.assert_allclose(ahead[..., 1], found[1].point, rtol=1e-5)


def test_it_is_given_what_is_known_up_to_its_horizon():
    """Of the 100 rows, 60 have values, and 12 more are to be forecast."""
    known, columns = ["hour_sin", "hour_cos"], ["load", "temp"]
    given = small.series(100).assign(
        hour_sin=np.arange(100.0), hour_cos=np.arange(100.0) ** 2
    )
    given.loc[60:, columns] = np.nan
    changed = given.copy()
    changed.loc[72:, known] = -1e3
    changed.loc[71:, "hour_sin"] = 5.0
    tables = [
        read_series(x, "date", columns, known=known)
        for x in (given, given[:72], changed)
    ]
    forecaster = small.forecaster(known=2)
    forecaster.adapt(tables[1])
    (whole,), (cut,), (other,) = map(forecaster.forecast, tables)
    np.testing.assert_array_equal(whole.times, given["date"][60:72])
    np.testing.assert_array_equal(cut.point, whole.point)
    # The last step of the horizon is read: with its segment of six.
    same = (other.point == whole.point).all(axis=1)
    assert same[:6].all() and not same[6:].any()


def test_the_scale_is_that_of_what_is_trained_on(monkeypatch):
    """Neither of what it is validated on, nor of what precedes a part."""
    given = small.series(160)
    given.loc[80:, ["load", "temp"]] = 3 * given.loc[80:, ["load", "temp"]] + 1
    early, late = split_series(read_series(given, "date"), 80)
    monkeypatch.setattr(TextPipeline, "fit", lambda *_, **options: None)
    for train, dev in ((early, late), (late, early)):
        values = train.series[0].values[train.series[0].begin :]
        forecaster = small.forecaster()
        forecaster.fit(train, validation_data=dev)
        model = forecaster.model
        np.testing.assert_allclose(model.means, values.mean(0), rtol=1e-5)
        np.testing.assert_allclose(model.units, values.std(0), rtol=1e-5)


def test_each_window_is_measured_by_its_own_series():
    """Of twice the numbers, errors are twice as large, and so is the unit."""
    given = small.series(80)
    other = given.assign(load=2 * given["load"][::-1].to_numpy(), place="b")
    given = pandas.concat([given.assign(place="a"), other])
    rows = read_series(given, "date", key="place")
    forecaster = small.forecaster()
    forecaster.adapt(rows)
    alone = [forecaster.evaluate(rows.replace([x])) for x in rows.series]
    found = forecaster.evaluate(rows, batch_size=8)
    errors = [[*x["mae_by_column"].values()] for x in alone]
    expected = np.mean(errors / naive_errors(rows, season=24))
    assert found["mase"] == pytest.approx(expected, rel=1e-4)
    assert found["windows"] == 42 == len(forecaster.batches(rows, 1))
    assert len(forecaster.batches(rows, 1, stride=10)) == 6


@pytest.mark.slow
@pytest.mark.parametrize("window", one_now([None, "last"]))
def test_the_export_answers_in_raw_units_without_this_package(window, tmp_path):
    forecaster = small.forecaster(QuantileHead(), window=window, missing=True)
    rows = table(gaps=0.2)
    forecaster.adapt(rows)
    forecaster.export(tmp_path / "forecast" / "1")
    values = rows.series[0].values
    windows = np.stack([values[:48], values[60:108]])
    text = json.dumps(np.where(np.isnan(windows), None, windows).tolist())
    text = text.replace("null", "NaN")
    found = fresh_process.answer(SERVE, tmp_path / "forecast" / "1", text)
    point, quantiles = forecaster.answers_to({"past": tf.constant(windows)})
    for answer in found.values():
        np.testing.assert_allclose(answer["forecast"], point, rtol=1e-5)
        np.testing.assert_allclose(answer["quantiles"], quantiles, rtol=1e-5)
    assert 300 < np.mean(point[..., 0]) < 700
    card = json.loads((tmp_path / "forecast/1/card.json").read_text("utf-8"))
    assert card["columns"] == ["load", "temp"]
    assert card["signatures"]["serving_default"]["inputs"] == {
        "past": ["float32", [None, 48, 2]]
    }


@pytest.mark.slow
def test_it_is_opened_again_as_it_was(trained, tmp_path):
    forecaster, train, dev = trained
    opened = reloaded(forecaster, tmp_path)
    assert isinstance(opened, SeriesForecaster)
    assert opened.get_config() == forecaster.get_config()
    assert opened.evaluate(dev) == forecaster.evaluate(dev)
    history = [
        x.fit(train, epochs=1, validation_data=dev, verbose=0).history
        for x in (opened, forecaster)
    ]
    assert history[0] == history[1]


def test_units_are_needed():
    forecaster, rows = small.forecaster(), table()
    for call in forecaster.compile, lambda: forecaster.evaluate(rows):
        with pytest.raises(ValueError, match="`adapt`.*not adapted"):
            call()


@pytest.mark.parametrize("method", ["adapt", "batches", "forecast"])
@pytest.mark.parametrize(
    "given, message",
    [
        (small.series(), "read_series.*Received: a DataFrame"),
        ("load.csv", "read_series.*Received: a str"),
        (
            read_series(small.series(), "date", ["temp", "load"]),
            r"same order. Expected: \('load', 'temp'\)",
        ),
        (table(step="D"), "same `step` .*'h'. Received: 'D'"),
    ],
)
def test_tables_that_it_cannot_read(method, given, message):
    with pytest.raises(ValueError, match=message):
        getattr(small.forecaster(), method)(given)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"columns": "ab"}, "Received: 'ab'"),
        ({"columns": ["load", "load"]}, "`columns` must have 2 distinct names"),
        ({"columns": ["load"]}, "`columns` must have 2 distinct names"),
        ({"levels": (0.9, 0.1)}, "increasing numbers.*(0.9, 0.1)"),
        ({"season": 0}, "`season`.*season=0"),
    ],
)
def test_wrong_arguments(options, message):
    model = small.forecaster(GaussianHead()).model
    given = {"columns": ["load", "temp"], "lookback": 48, "step": "h"}
    with pytest.raises(ValueError, match=message):
        SeriesForecaster(model, **given | options)


def test_values_that_it_cannot_learn_or_go_on_from():
    forecaster, rows = small.forecaster(), table()
    with pytest.raises(ValueError, match="320 other values, such as"):
        small.forecaster(NegativeBinomialHead(), window="size").adapt(rows)
    series = rows.series[0]
    empty = series._replace(values=series.values * np.nan)
    with pytest.raises(CorpusError, match="must have at least one value"):
        forecaster.forecast(rows.replace([empty]))
