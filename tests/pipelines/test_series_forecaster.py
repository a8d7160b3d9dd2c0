import keras
import numpy as np
import pandas
import pytest

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
from tests.helpers import reloaded
from tests.pipelines import small


def table(**options):
    return read_series(small.series(**options), "date")


@pytest.mark.slow
def test_it_is_better_than_what_needs_no_network():
    keras.utils.set_random_seed(0)
    forecaster = small.forecaster(QuantileHead(), missing=True)
    train, dev = split_series(table(count=400), 300)
    forecaster.adapt(train)
    forecaster.compile(keras.optimizers.Adam(0.01))
    forecaster.fit(train, epochs=16, batch_size=32, verbose=0)
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
    facts, pictures = forecaster.task().report(rows, tmp_path)
    assert set(pictures) == {"forecasts", "horizon"}
    scores = {"model": forecaster.evaluate(rows)}
    for name, baseline in forecaster.baselines().items():
        scores[name] = forecaster.evaluate(rows, baseline=baseline)
    assert facts["by_step"].keys() == scores.keys()
    for name, steps in facts["by_step"].items():
        assert len(steps["mae"]) == forecaster.model.horizon
        assert np.mean(steps["mae"]) == pytest.approx(scores[name]["mae"])
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
        # It keeps the scale that it has learnt.
        forecaster.fit(dev)
        np.testing.assert_allclose(model.means, values.mean(0), rtol=1e-5)


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
    # Other forecasts instead of those of the model.
    past = np.stack([x.values[:48] for x in rows.series])
    seasonal = forecaster.baselines(rows)["seasonal naive"]
    np.testing.assert_allclose(seasonal(past), past[:, 24:36])
    none = forecaster.evaluate(rows, 8, lambda past: 0 * past[:, :12])
    ahead = np.stack([x.values[48:] for x in rows.series])
    ahead = np.lib.stride_tricks.sliding_window_view(ahead, 12, axis=1)
    expected = np.abs(ahead).mean(axis=(0, 1, 3))
    found = [*none["mae_by_column"].values()]
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert "coverage" not in none


def test_a_stream_is_forecast_as_its_last_window():
    forecaster, rows = small.forecaster(), table()
    forecaster.adapt(rows)
    start, step = (forecaster.signatures[name] for name in ("start", "step"))
    windows = np.stack([rows.series[0].values[i:][:48] for i in (0, 60)])
    answer = start(2)
    names = [f"state_{i}" for i in range(len(answer))]
    for now in windows.swapaxes(0, 1):
        answer = step(now, *(answer[name] for name in names))
    expected = forecaster.model.head.point(forecaster.model(windows))
    np.testing.assert_allclose(answer["forecast"], expected, rtol=1e-4)


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
