import functools

import numpy as np
import pandas
import pytest

from kerasrnn.data import CorpusError
from kerasrnn.data import CorpusWarning
from kerasrnn.data import read_series
from tests.data.series.frames import frame


def test_numbers_that_float32_cannot_tell_apart_are_named():
    given = frame(load=1e9 + np.arange(12.0))
    with pytest.warns(CorpusWarning, match="cannot represent 11 of 11 changes"):
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


def test_days_without_a_sign_between_their_numbers():
    texts = days("%d%m%Y", start="2024-05-01")
    assert read(texts, time_format="%d%m%Y").step == "D"


def test_one_day_after_the_twelfth_tells_days_and_months_apart():
    for form in ("%d/%m/%Y", "%m/%d/%Y", "%a %d/%m/%Y", "%H:%M %d/%m/%Y"):
        (series,) = read(days(form, start="2024-05-03")).series
        assert str(series.times[0]).startswith("2024-05-03")


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
    message = "^1 of 60 cells of the column '.* .*row 8"
    with pytest.raises(CorpusError, match=message):
        read_series(gap, names)


HOURS, MONTHS = frame(), frame(step="MS")
BERLIN = "2024-10-27 02:00+02:00|2024-10-27 02:00+01:00|2024-10-27 03:00+01:00"
SAME = {  # texts or others, the frame that they are read as, and the zone
    **{
        f"{form}{mark}": (
            hours(form + mark, 12, "2024-05-01"),
            HOURS,
            "UTC",
            {},
        )
        for mark in ("Z", " UTC", "+00:00")
        for form in ("%Y-%m-%dT%H:%M:%S", "%Y%m%dT%H%M%S")
    },
    **{
        f"{form}{offset}": (hours(form + offset, 12, start), HOURS, "UTC", {})
        for form, offset, start in (
            ("%Y-%m-%d %H:%M", "+02:00", "2024-05-01 02:00"),
            ("%Y-%m-%d %H:%M", "+0200", "2024-05-01 02:00"),
            ("%Y-%m-%d %H", "+02", "2024-05-01 02:00"),
            ("%Y-%m-%d %H", " +2", "2024-05-01 02:00"),
            ("%Y-%m-%d %I:%M %p", "+02:00", "2024-05-01 02:00"),
            ("%Y-%m-%d %I:%M:%S %p", " UTC", "2024-05-01"),
        )
    },
    "the clock goes back": (
        BERLIN.split("|"),
        frame(3, "2024-10-27"),
        "UTC",
        {},
    ),
    **{
        f"{unit} since 1970": (
            HOURS["date"].astype(f"datetime64[{unit}]").astype("int64"),
            HOURS,
            None,
            {"time_format": unit},
        )
        for unit in ("s", "ms", "us", "ns")
    },
    **{
        f"{form} as {dtype}, {options}": (
            pandas.Series(frame(9, "2023-01-01", step)["date"])
            .dt.strftime(form)
            .astype("int64")
            .astype(dtype),
            frame(9, "2023-01-01", step),
            None,
            options,
        )
        for dtype in ("int64", "Int64", "float64", "object", "str")
        for form, step, options in (
            ("%Y", "YS", {}),
            ("%Y%m%d", "D", {}),
            ("%Y%m%d", "D", {"time_format": "%Y%m%d"}),
            ("%Y%m", "MS", {"time_format": "%Y%m"}),
        )
    },
    "short years": (
        days("%d-%b-%y", 9),
        frame(9, "2024-05-20", "D"),
        None,
        {"time_format": "%d-%b-%y"},
    ),
    "periods": (MONTHS["date"].dt.to_period("M"), MONTHS, None, {}),
    "a month is no offset": (
        [x.upper() for x in days("%b%d-%Y", 5, "2024-10-05")],
        frame(5, "2024-10-05", "D"),
        None,
        {},
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_times_are_written_in_many_forms(name):
    times, expected, zone, options = SAME[name]
    table = read(times, **options)
    assert table.zone == zone
    assert table.fingerprint() == read_series(expected, "date").fingerprint()


HOUR_24 = pandas.DataFrame({"d": "2024-05-01", "hour": range(1, 25)})
CLOCKS = pandas.DataFrame(
    {"Date": days("%Y-%m-%d", 1) * 24, "Time": hours("%H.%M.%S"), "load": 1}
)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (
                functools.partial(read, times, time_format=time_format),
                "cells .* a year of four digits",
            )
            for times in NO_DATE.values()
            for time_format in (None, "mixed")
        ),
        # 1052024 would be the 10th of May.
        (
            lambda: read(
                [x.lstrip("0") for x in days("%d%m%Y", start="2024-05-01")],
                time_format="%d%m%Y",
            ),
            "^9 of 24 cells.*all digits of %d%m%Y",
        ),
        # No day is after the twelfth.
        *(
            (
                functools.partial(
                    read, days(form, 9, "2024-05-03"), time_format=time_format
                ),
                "days and months are ambiguous",
            )
            for form in ("%d/%m/%Y", "%H:%M %d/%m/%Y")
            for time_format in (None, "mixed")
        ),
        # After a year, months are first.
        (lambda: read(days("%Y-%d-%m")), "cannot be read"),
        (
            lambda: read(
                ["2024-13-05", "14/05/2024", "15/05/2024"], time_format="mixed"
            ),
            "^1 of 3 cells.*'2024-13-05' in row 1",
        ),
        # The time is in several columns.
        (
            lambda: read_series(CLOCKS, "Date"),
            "'Time'.*several columns hold the time",
        ),
        (
            lambda: read_series(CLOCKS, "Date", ["load"]),
            "occur only once.*if several columns hold the time",
        ),
        (
            lambda: read_series(CLOCKS, "Time", ["load"]),
            "'Time'.*or several columns as `time`",
        ),
        (
            lambda: read_series(HOUR_24.assign(load=1), ["d", "hour"]),
            "^1 of 24 cells.*01 24:00' in row 24",
        ),
        *(
            (
                functools.partial(
                    read,
                    HOURS["date"].astype(f"datetime64[{unit}]").astype("int64"),
                ),
                f"`time_format` '{unit}' for numbers since",
            )
            for unit in ("s", "ms", "us", "ns")
        ),
        (
            functools.partial(read, [1714500000000] * 2, time_format="s"),
            "^2 of 2 cells.*since 1970 in the unit 's'",
        ),
        # Seasons are not months.
        (lambda: read(["2001/02", "2002/03", "2003/04"]), "^3 of 3 cells"),
        # All times have an offset, or none.
        *(
            (
                functools.partial(
                    read,
                    hours(f"%Y-%m-%d %H:%M{first}", 12)
                    + hours(f"%Y-%m-%d %H:%M{rest}", 12, "2024-05-20 12:00"),
                    **options,
                ),
                f"^12 of 24 cells.*{message}",
            )
            for first, rest in (("+02:00", ""), ("", "+02:00"))
            for options, message in (
                ({}, "02:00.*Received"),
                ({"time_format": "ISO8601"}, "of all times or of"),
            )
        ),
    ],
)
def test_what_is_no_time_is_refused(call, message):
    with pytest.raises(CorpusError, match=message):
        call()


def test_a_year_is_that_of_the_clock():
    times = pandas.date_range("2023-12-31 20:00", periods=9, freq="h")
    for zone in ("Asia/Kolkata", "America/New_York", "America/St_Johns"):
        local = times.tz_localize("UTC").tz_convert(zone).astype(str)
        (series,) = read([*local]).series
        np.testing.assert_array_equal(series.times, times)


def test_days_are_those_of_the_clock(tmp_path):
    """The clock goes back in two; in Kolkata, it never is that of UTC."""
    plain = frame(14, "2024-10-22", "D")
    expected = read_series(plain, "date", calendar=["weekday"]).fingerprint()
    for zone in ("Europe/Berlin", "Asia/Kolkata", "America/St_Johns"):
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


def test_numbers_are_read_as_others_write_them(tmp_path):
    path = tmp_path / "x.csv"
    rows = ["date;load;open", "2024-05-01;1,5;True", "2024-05-02;-2;FALSE"]
    rows += ["2024-05-03;#N/A;true", "2024-05-04;-NaN;NULL", "2024-05-05;?;?"]
    path.write_text("\n".join(rows), "utf-8")
    (series,) = read_series(path, "date", decimal=",").series
    expected = [[1.5, 1], [-2, 0], [np.nan, 1], *2 * [[np.nan, np.nan]]]
    np.testing.assert_array_equal(series.values, expected)
