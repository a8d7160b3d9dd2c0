import numpy as np
import pandas
import pytest

from kerasrnn.data import CorpusError
from kerasrnn.data import CorpusWarning
from kerasrnn.data import read_series
from tests.data.series.frames import frame


def test_numbers_that_float32_cannot_tell_apart_are_named():
    given = frame(load=1e9 + np.arange(12.0))
    with pytest.warns(CorpusWarning, match="loses 11 of 11 changes"):
        read_series(given, "date")
    read_series(frame(load=1e9 + 1e3 * np.arange(12.0)), "date")


def test_offsets_become_utc(tmp_path):
    """The clock goes back: two hours have the same local time."""
    rows = ["t,x", "2024-10-27 02:00+02:00,1", "2024-10-27 02:00+01:00,2"]
    rows += ["2024-10-27 03:00+01:00,3"]
    (tmp_path / "x.csv").write_text("\n".join(rows), "utf-8")
    (series,) = read_series(tmp_path / "x.csv", "t").series
    assert series.values[:, 0].tolist() == [1, 2, 3]
    assert str(series.times[0]).startswith("2024-10-27T00:00")


@pytest.mark.parametrize("mark", ["Z", " UTC", "+00:00"])
@pytest.mark.parametrize("form", ["%Y-%m-%dT%H:%M:%S", "%Y%m%dT%H%M%S"])
def test_times_of_utc_have_its_zone(form, mark):
    given = frame()
    times = given["date"].dt.strftime(form + mark)
    table = read_series(given.assign(date=times), "date")
    assert table.zone == "UTC"
    assert table.fingerprint() == read_series(given, "date").fingerprint()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("form", ["CSV", "JSON", "DataFrame"])
def test_numbers_may_count_from_1970(tmp_path, unit, form):
    given = frame()
    counts = given["date"].astype(f"datetime64[{unit}]").astype("int64")
    source = counted = given.assign(date=counts)
    if form == "CSV":
        source = tmp_path / "x.csv"
        counted.to_csv(source, index=False)
    elif form == "JSON":
        source = tmp_path / "x.jsonl"
        counted.to_json(source, orient="records", lines=True)
    table = read_series(source, "date", time_format=unit)
    assert table.fingerprint() == read_series(given, "date").fingerprint()
    with pytest.raises(CorpusError, match=f"`time_format` '{unit}', if it"):
        read_series(source, "date")


@pytest.mark.parametrize("dtype", ["int64", "Int64", "float64", "object"])
@pytest.mark.parametrize(
    ("form", "step", "options"),
    [
        ("%Y", "YS", {}),
        ("%Y%m%d", "D", {}),
        ("%Y%m%d", "D", {"time_format": "%Y%m%d"}),
        ("%Y%m", "MS", {"time_format": "%Y%m"}),
        ("%y%m%d", "D", {"time_format": "%y%m%d"}),
    ],
)
def test_years_and_days_may_be_numbers(tmp_path, dtype, form, step, options):
    given = frame(step=step, start="2023-01-01")
    times = given["date"].dt.strftime(form)
    path = tmp_path / "x.csv"
    given.assign(date=times).to_csv(path, index=False)
    counted = given.assign(date=times.astype("int64").astype(dtype))
    found = {
        read_series(x, "date", **options).fingerprint()
        for x in (given, path, counted)
    }
    assert len(found) == 1


def test_a_period_begins_with_its_start():
    given = frame(step="MS")
    periods = given.assign(date=given["date"].dt.to_period("M"))
    found = [read_series(x, "date") for x in (given, periods)]
    assert found[0].fingerprint() == found[1].fingerprint()
    assert found[1].step == "MS"


def test_days_are_those_of_the_clock(tmp_path):
    """The clock goes back in Berlin; in Kolkata, it never is that of UTC."""
    plain = frame(9, "2024-10-22", "D")
    expected = read_series(plain, "date", calendar=["weekday"]).fingerprint()
    for zone in ("Europe/Berlin", "Asia/Kolkata"):
        given = plain.assign(date=plain["date"].dt.tz_localize(zone))
        given.to_csv(tmp_path / "x.csv", index=False)
        given.to_parquet(tmp_path / "x.parquet")
        for source in (given, tmp_path / "x.csv", tmp_path / "x.parquet"):
            table = read_series(source, "date", calendar=["weekday"])
            assert table.fingerprint() == expected
            assert table.zone is None


def test_hours_of_a_zone_have_its_calendar(capsys, tmp_path):
    """The clock goes back, and a forecast goes on."""
    times = pandas.date_range(
        "2024-10-26", periods=60, freq="h", tz="Europe/Berlin"
    )
    given = pandas.DataFrame({"date": times, "load": np.ones(60)})
    table = read_series(given, "date", calendar=["hour"])
    assert str(table.series[0].times[0]).startswith("2024-10-25T22:00")
    said = "to 2024-10-28 09:00 in UTC, with the calendar of Europe/Berlin."
    assert said in capsys.readouterr().err
    cosines = table.ahead(24).series[0].known[:, 1]
    clock = pandas.date_range(times[0], periods=84, freq="h").hour
    expected = np.cos(2 * np.pi * clock / 24)
    np.testing.assert_allclose(cosines, expected, atol=1e-6)
    given.to_csv(tmp_path / "x.csv", index=False)
    table = read_series(tmp_path / "x.csv", "date", calendar=["hour"])
    assert "in UTC, with the calendar of UTC." in capsys.readouterr().err
    table = read_series(given, "date", step="D", resample="sum")
    assert table.series[0].values[:, 0].tolist() == [24, 25, 11]
    with pytest.raises(CorpusError, match="after tz_localize.None.*Received"):
        read_series(given, "date", step="7h")


@pytest.mark.parametrize(
    "form", ["%Y-%m-%d %I:%M %p+02:00", "%Y-%m-%d %I:%M:%S %p UTC"]
)
def test_hours_to_noon_may_have_an_offset(form):
    given = frame()
    table = read_series(
        given.assign(date=given["date"].dt.strftime(form)), "date"
    )
    assert table.zone == "UTC"


def test_a_month_is_no_offset():
    dates = pandas.date_range("2024-10-05", periods=5).strftime("%b%d-%Y")
    given = pandas.DataFrame({"date": dates.str.upper(), "load": range(5)})
    assert read_series(given, "date", calendar=["hour"]).zone is None


def test_numbers_are_read_as_others_write_them(tmp_path):
    path = tmp_path / "x.csv"
    rows = ["date;load;open", "2024-05-01;1,5;True", "2024-05-02;-2;FALSE"]
    rows += ["2024-05-03;#N/A;true", "2024-05-04;-NaN;NULL"]
    path.write_text("\n".join(rows), "utf-8")
    (series,) = read_series(path, "date", decimal=",").series
    expected = [[1.5, 1], [-2, 0], [np.nan, 1], [np.nan, np.nan]]
    np.testing.assert_array_equal(series.values, expected)
