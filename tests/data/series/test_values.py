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


def hours(form, count=24, start="2024-05-20"):
    """Texts of hours."""
    return [*frame(count, start)["date"].dt.strftime(form)]


def days(form, count=24, start="2024-05-20"):
    """Texts of days."""
    return [*frame(count, start, "D")["date"].dt.strftime(form)]


def read(times, **options):
    """Reads a table with these texts as times."""
    given = pandas.DataFrame({"date": times, "load": range(len(times))})
    return read_series(given, "date", **options)


NO_DATE = {
    "a clock": hours("%H:%M"),
    "a clock of twelve hours": hours("%I:%M %p", 12),
    "hours and minutes": hours("%H%M"),
    "hours before or after noon": [f"{hour} pm" for hour in range(1, 12)],
    "the time of the run": ["now", "today"],
    "weekdays": days("%A", 7),
    "days of a month": days("%b %d"),
    "days before months": days("%d-%b"),
    "months": ["January", "February", "March", "April"],
    "months of a third year": [f"3-{month:02}" for month in range(1, 13)],
    "years of two digits": days("%d-%b-%y", start="1959-01-01"),
    "years of two digits in front": days("%y-%m-%d", start="2019-05-20"),
    "months of two digits": days("%b-%y", start="2018-01-01"),
    "six digits": days("%Y%m", 12, "2010-05-01"),
    "quarters of two digits": [f"{quarter}Q20" for quarter in range(1, 5)],
    "decimal years": ["2024.25", "2024.50", "2024.75"],
    "decimal commas": ["2024,25", "2025,25", "2026,25"],
    "numbers of a spreadsheet": range(45413, 45437),
    "a rows": range(1001, 1025),
    "hours of a year": hours("%Y %H:%M"),
    "hours of a month": hours("%b %Y %H:%M"),
    "hours of a numbered month": hours("%Y-%m %H:%M"),
    "another sign": hours("%Y-%m-%d %H:%M UTC+2"),
    "a short offset": hours("%Y-%m-%d %H:%M +200"),
}


@pytest.mark.parametrize("name", NO_DATE)
@pytest.mark.parametrize("time_format", [None, "mixed"])
def test_a_time_has_a_date_and_a_whole_year(name, time_format):
    with pytest.raises(CorpusError, match="cells .* a year of four digits"):
        read(NO_DATE[name], time_format=time_format)


@pytest.mark.parametrize("form", ["%H:%M", "%d.%m. %H:%M", "yyyy-MM-dd"])
def test_a_format_has_a_year(form):
    with pytest.raises(ValueError, match=f"have a year.*'{form}'"):
        read(hours("%Y-%m-%d %H:%M"), time_format=form)


def test_a_format_may_have_a_short_year():
    (series,) = read(days("%d-%b-%y"), time_format="%d-%b-%y").series
    assert str(series.times[0]).startswith("2024-05-20")


def test_digits_may_not_lack():
    """1052024 would be the 10th of May."""
    texts = days("%d%m%Y", start="2024-05-01")
    assert read(texts, time_format="%d%m%Y").step == "D"
    with pytest.raises(CorpusError, match="^9 cells.*all digits of %d%m%Y"):
        read([text.lstrip("0") for text in texts], time_format="%d%m%Y")


def test_one_day_after_the_twelfth_tells_days_and_months_apart():
    for form in ("%d/%m/%Y", "%m/%d/%Y", "%a %d/%m/%Y", "%H:%M %d/%m/%Y"):
        (series,) = read(days(form, start="2024-05-03")).series
        assert str(series.times[0]).startswith("2024-05-03")
    for form in ("%d/%m/%Y", "%H:%M %d/%m/%Y"):
        for time_format in (None, "mixed"):
            with pytest.raises(CorpusError, match="days may be months"):
                read(days(form, 9, "2024-05-03"), time_format=time_format)
    # After a year, months are first.
    with pytest.raises(CorpusError, match="cannot be read"):
        read(days("%Y-%d-%m"))
    with pytest.raises(CorpusError, match="^1 cells.*'2024-13-05' in row 1"):
        read(["2024-13-05", "14/05/2024", "15/05/2024"], time_format="mixed")


SEVERAL = {
    "date, clock": (["Date", "Time"], ["%d/%m/%Y", "%H:%M:%S"]),
    "clock with points": (["Date", "Time"], ["%d/%m/%Y", "%H.%M.%S"]),
    "date, hour": (["Day", "Hour"], ["%Y%m%d", "%H"]),
    "numbers": (["hour", "Year", "month", "DAY"], ["%H", "%Y", "%m", "%d"]),
}


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("is_file", [False, True])
def test_a_time_may_be_in_several_columns(name, is_file, tmp_path):
    names, forms = SEVERAL[name]
    plain = frame(60, "2024-02-28 05:00")
    parts = [plain["date"].dt.strftime(form) for form in forms]
    if "numbers" in name or name == "date, hour":
        parts = [part.astype(int) for part in parts]
    given = pandas.DataFrame(dict(zip(names, parts, strict=True)))
    source = given = given.assign(load=plain["load"])
    if is_file:
        source = tmp_path / "x.csv"
        given.to_csv(source, index=False)
    table = read_series(source, names, calendar=["hour"])
    expected = read_series(plain, "date", calendar=["hour"])
    assert table.fingerprint() == expected.fingerprint()
    assert (table.columns, table.time) == (["load"], " ".join(names))
    table = read_series(
        source, names, time_format=" ".join(forms), calendar=["hour"]
    )
    assert table.fingerprint() == expected.fingerprint()
    gap = given.astype(object)
    gap.loc[7, names[0 if name == "numbers" else 1]] = ""
    with pytest.raises(CorpusError, match="^1 cells of the column '.* .*row 8"):
        read_series(gap, names)


def test_hours_are_those_of_a_day():
    given = pandas.DataFrame({"date": "2024-05-01", "hour": range(1, 25)})
    with pytest.raises(CorpusError, match="^1 cells.*01 24:00' in row 24"):
        read_series(given.assign(load=1), ["date", "hour"])


def test_parts_of_a_time_are_asked_for_together():
    given = pandas.DataFrame(
        {"Date": days("%Y-%m-%d", 1) * 24, "Time": hours("%H.%M.%S")}
    )
    given["load"] = 1
    with pytest.raises(CorpusError, match="'Time'.*time may be in several"):
        read_series(given, "Date")
    with pytest.raises(CorpusError, match="occur once.*in several columns"):
        read_series(given, "Date", ["load"])
    with pytest.raises(CorpusError, match="'Time'.*may be several columns"):
        read_series(given, "Time", ["load"])


def test_offsets_become_utc(tmp_path):
    """The clock goes back: two hours have the same local time."""
    rows = ["t,x", "2024-10-27 02:00+02:00,1", "2024-10-27 02:00+01:00,2"]
    rows += ["2024-10-27 03:00+01:00,3"]
    (tmp_path / "x.csv").write_text("\n".join(rows), "utf-8")
    (series,) = read_series(tmp_path / "x.csv", "t").series
    assert series.values[:, 0].tolist() == [1, 2, 3]
    assert str(series.times[0]).startswith("2024-10-27T00:00")


def test_all_times_have_an_offset_or_none():
    texts = hours("%Y-%m-%d %H:%M")
    for start in (0, 12):
        zoned = [*texts]
        zoned[start : start + 12] = [
            f"{text}+02:00" for text in texts[start : start + 12]
        ]
        with pytest.raises(CorpusError, match="^12 cells.*02:00.*Received"):
            read(zoned)
        with pytest.raises(CorpusError, match="^12 cells.*of all times, or of"):
            read(zoned, time_format="ISO8601")


@pytest.mark.parametrize("offset", ["+02:00", "+0200", "+02", " +2"])
@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M", "%Y-%m-%d %H"])
def test_an_offset_has_several_forms(form, offset):
    table = read(hours(form + offset))
    assert str(table.series[0].times[0]).startswith("2024-05-19T22:00")
    assert table.zone == "UTC"


def test_a_year_is_that_of_the_clock():
    times = pandas.date_range("2023-12-31 20:00", periods=9, freq="h")
    for zone in ("Asia/Kolkata", "America/New_York", "America/St_Johns"):
        local = times.tz_localize("UTC").tz_convert(zone).astype(str)
        (series,) = read([*local]).series
        np.testing.assert_array_equal(series.times, times)


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
    np.testing.assert_array_equal(
        table.series[0].values[:, 0], [24, 25, np.nan]
    )
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
    rows += ["2024-05-03;#N/A;true", "2024-05-04;-NaN;NULL", "2024-05-05;?;?"]
    path.write_text("\n".join(rows), "utf-8")
    (series,) = read_series(path, "date", decimal=",").series
    expected = [[1.5, 1], [-2, 0], [np.nan, 1], *2 * [[np.nan, np.nan]]]
    np.testing.assert_array_equal(series.values, expected)
