import datetime
import zoneinfo

import dateutil.tz
import numpy as np
import pandas
import pytest

from kerasrnn.data import CorpusError
from kerasrnn.data import CorpusWarning
from kerasrnn.data import SeriesTable
from kerasrnn.data import read_series
from kerasrnn.data import series_windows
from kerasrnn.data import split_series
from kerasrnn.data import usual_season
from kerasrnn.data import window_starts
from kerasrnn.training import fingerprint


def frame(count=12, start="2024-05-01", step="h", **columns):
    times = pandas.date_range(start, periods=count, freq=step)
    columns = columns or {"load": np.arange(count, dtype="float64")}
    return pandas.DataFrame({"date": times, **columns})


def windows(*args, **options):
    """All windows in NumPy: their inputs by name, and what follows."""
    batches = [
        (inputs, values) for inputs, values in series_windows(*args, **options)
    ]
    names = batches[0][0]
    return {
        name: np.concatenate([inputs[name] for inputs, _ in batches])
        for name in names
    }, np.concatenate([values for _, values in batches])


def test_text_is_read_whatever_its_form(tmp_path):
    """Another delimiter, gaps, no order, and what is no value."""
    rows = ["when;load;shop;price", "2024-03-31 04:00;3;b;1", ""]
    rows += ["2024-03-31 00:00;NA;b;1", "2024-03-31 02:00; 1.5 ;b;2"]
    rows += ["2024-04-01 02:00;7;a;2", "2024-04-01 00:00;null;a;1"]
    path = tmp_path / "shops.csv"
    path.write_text("\n".join(rows), "utf-8")
    table = read_series(
        path, "when", ["load"], "shop", known=["price"], step="h"
    )
    assert [x.name for x in table.series] == ["b", "a"]
    b, a = table.series
    np.testing.assert_array_equal(
        b.values[:, 0], [np.nan, np.nan, 1.5, np.nan, 3]
    )
    assert b.known[[0, 2, 4], 0].tolist() == [1, 2, 1]
    assert str(a.times[1]) == "2024-04-01T01:00:00.000000"
    assert (len(table), table.columns) == (8, ["load"])
    assert table.missing() == 5 / 8


def test_names_of_columns_have_no_case_and_no_space(tmp_path):
    path = tmp_path / "shops.csv"
    rows = ["Date,Shop,load", "2024-05-01,a,1", "2024-05-02,a ,2"]
    rows.append("2024-05-03, a,3")
    path.write_text("\n".join(rows), "utf-8")
    table = read_series(path, "date", key="shop")
    assert table.columns == ["load"]
    assert [(x.name, len(x.times)) for x in table.series] == [("a", 3)]
    with pytest.raises(ValueError, match="one name. Received: .*load, LOAD"):
        read_series(path, "date", ["load", "LOAD"], "shop")


def test_several_columns_tell_series_apart(tmp_path):
    path = tmp_path / "shops.csv"
    rows = [
        f"2024-05-{day:02},{shop},{item},{10 * shop + day}"
        for day in (1, 2, 3)
        for shop in (2, 1)
        for item in ("bread", "tea/coffee")
    ]
    path.write_text("\n".join(["date,shop,item,sales", *rows]), "utf-8")
    table = read_series(path, "date", key=["shop", "item"])
    assert table.columns == ["sales"]
    names = ["2/bread", "2/tea/coffee", "1/bread", "1/tea/coffee"]
    assert [series.name for series in table.series] == names
    assert table.series[0].values.tolist() == [[21], [22], [23]]
    one = read_series(path, "date", ["sales"], ["shop", "item"])
    assert one.fingerprint() == table.fingerprint()


@pytest.mark.parametrize("key", ["", " ", "nan"])
def test_a_row_without_a_key_is_refused(tmp_path, key):
    path = tmp_path / "shops.csv"
    rows = ["date,shop,load", "2024-05-01,a,1", f"2024-05-02,{key},2"]
    path.write_text("\n".join(rows), "utf-8")
    with pytest.raises(CorpusError, match=r"1 rows without, row 2 \(empty"):
        read_series(path, "date", key="shop")


def test_names_that_look_alike_are_one(tmp_path):
    path = tmp_path / "towns.csv"
    rows = ["date,Gr\u00f6\u00dfe,ort", "2024-05-01,1,K\u00f6ln"]
    rows.append("2024-05-02,2,Ko\u0308ln")
    path.write_text("\n".join(rows), "utf-8")
    table = read_series(path, "date", ["Gro\u0308\u00dfe"], "ORT", step="D")
    assert [(x.name, len(x.times)) for x in table.series] == [("K\u00f6ln", 2)]


@pytest.mark.parametrize("bad", ["header", "key"])
def test_another_encoding_is_named(tmp_path, bad):
    path = tmp_path / "towns.csv"
    column = "W\u00e4rme" if bad == "header" else "Last"
    name = "Kiel" if bad == "header" else "K\u00f6ln"
    rows = [f"Zeit,Ort,{column}"]
    rows += [f"2024-05-{day:02},{name},1" for day in range(1, 9)]
    path.write_text("\n".join(rows), "latin-1")
    with pytest.raises(CorpusError, match="iconv -f ISO-8859-1"):
        read_series(path, "Zeit", key="Ort")


@pytest.mark.parametrize("end", ["", ";"])
def test_columns_without_a_name_are_left_out(tmp_path, end):
    """The index of pandas, and what spreadsheets write after the last."""
    path = tmp_path / "load.csv"
    rows = [f";date;load{end}", f"0;2024-05-01;7{end}", f"1;2024-05-02;8{end}"]
    path.write_text("\n".join(rows), "utf-8")
    with pytest.warns(CorpusWarning, match="columns without a name are left"):
        table = read_series(path, "date", step="D")
    assert table.columns == ["load"]
    assert table.series[0].values.tolist() == [[7.0], [8.0]]


def test_a_spreadsheet_may_say_its_delimiter(tmp_path):
    path = tmp_path / "load.csv"
    path.write_text("sep=;\ndate;load,kW\n2024-05-01;7\n2024-05-02;8", "utf-8")
    assert read_series(path, "date", step="D").columns == ["load,kW"]


def test_a_data_frame_is_read_by_the_rules_of_a_file():
    given = frame().rename(columns={"date": "Date", "load": 0})
    assert read_series(given, "date").columns == ["0"]
    assert read_series(given, "date", [0]).columns == ["0"]
    with pytest.raises(CorpusError, match="lacks a column(?!.*numbers)"):
        read_series(frame(**{"load-total": range(12)}), "date", ["load"])
    with pytest.raises(CorpusError, match="different names.*'load', 'load'"):
        both = pandas.concat([frame(), frame()[["load"]]], axis="columns")
        read_series(both, "date", ["load"])


def with_future(count=10, future=30):
    """Values of some hours; what is known ahead, of more."""
    values = np.r_[np.arange(count, dtype="float64"), future * [np.nan]]
    return frame(count + future, load=values, price=np.ones(count + future))


def test_rows_after_the_last_value_are_no_part_of_the_time(capsys):
    table = read_series(with_future(), "date", ["load"], known=["price"])
    assert table.missing() == 0.0 and "Missing values: 0.0%" in (
        capsys.readouterr().err
    )
    borders = (0.6, 0.8), (6, 8), (-4, -2)
    for parts in (split_series(table, *found) for found in borders):
        assert [x.series[0].begin for x in parts] == [0, 6, 8]
        assert len(parts[2].series[0].known) == 40  # to forecast from
        numbers, starts = window_starts(parts[2], 3, 2)
        assert starts.tolist() == [8]
    assert len(window_starts(table, 3, 2)[1]) == 6
    with pytest.raises(CorpusError, match="Part 2 of 2 has no value"):
        split_series(table, "2024-05-01 12:00")
    with pytest.raises(CorpusError, match="at most 10 steps up to the last"):
        window_starts(table, 3, 10)
    assert len(window_starts(table.ahead(4), 3, 4)[1]) == 1


def test_a_series_without_a_value_in_a_part_has_no_window_there():
    load = [*range(20), *10 * [np.nan], *range(10)]
    given = pandas.concat([frame(20), frame(20)], ignore_index=True)
    given = given.assign(load=load, shop=[*20 * "a", *20 * "b"])
    table = read_series(given, "date", key="shop")
    first, second = split_series(table, 10)
    assert window_starts(first, 2, 2)[0].tolist() == 7 * [0]
    assert len(first.grid()) == 10
    assert set(window_starts(second, 2, 2)[0].tolist()) == {0, 1}


def test_what_is_not_known_is_counted(capsys):
    given = with_future().assign(wind=np.r_[np.ones(38), np.nan, np.nan])
    table = read_series(
        given, "date", ["load"], known=["price", "wind"], calendar=["hour"]
    )
    assert table.not_known() == {"price": 0, "wind": 2}
    assert "Steps without wind: 2." in capsys.readouterr().err
    assert table.ahead(31).not_known() == {"price": 1, "wind": 3}


def test_numbers_that_float32_cannot_tell_apart_are_named():
    given = frame(load=1e9 + np.arange(12.0))
    with pytest.warns(CorpusWarning, match="loses 11 of 11 changes"):
        read_series(given, "date")
    read_series(frame(load=1e9 + 1e3 * np.arange(12.0)), "date")


def test_a_series_without_a_value_is_left_out():
    given = frame(load=[*range(6), *6 * [np.nan]], shop=[*"aaaaaabbbbbb"])
    with pytest.warns(CorpusWarning, match="1 of 2 series .*left out: 'b'"):
        table = read_series(given, "date", key="shop")
    assert [x.name for x in table.series] == ["a"]
    with pytest.raises(CorpusError, match="must have values"):
        read_series(given.assign(load=np.nan), "date", key="shop")


@pytest.mark.parametrize("rule", ["first", "last"])
def test_rows_of_one_time_keep_their_order(rule):
    count = 400
    hours = np.random.default_rng(0).integers(0, 20, count)
    times = np.datetime64("2024-05-01", "h") + hours
    given = pandas.DataFrame({"date": times, "load": np.arange(count)})
    table = read_series(given, "date", step="h", resample=rule)
    rows = [np.flatnonzero(hours == hour) for hour in range(20)]
    expected = [row[0 if rule == "first" else -1] for row in rows]
    assert table.series[0].values[:, 0].tolist() == expected


@pytest.mark.parametrize("border", ["tomorrow", None, np.nan])
def test_a_border_is_a_time(border):
    table = read_series(frame(), "date")
    with pytest.raises(ValueError, match=f"must be a time.*{border}"):
        split_series(table, border)


def test_windows_move_on():
    table = read_series(frame(), "date")
    with pytest.raises(ValueError, match="Received: stride=0"):
        window_starts(table, 2, 1, stride=0)


def test_parquet_is_read_like_a_data_frame(tmp_path):
    given = frame(load=np.arange(12), temp=np.r_[np.nan, np.ones(11)])
    given.to_parquet(tmp_path / "t.parquet")
    tables = [read_series(x, "date") for x in (tmp_path / "t.parquet", given)]
    assert tables[0].columns == ["load", "temp"]
    assert tables[0].fingerprint() == tables[1].fingerprint()
    assert fingerprint([tables[0]]) == fingerprint([tables[1]])
    other = read_series(given.assign(load=1), "date")
    assert fingerprint([tables[0]]) != fingerprint([other])


@pytest.mark.parametrize("step", ["15min", "D", "MS", "W-SUN"])
def test_the_step_is_found(step):
    given = frame(30, "2023-01-01", step)
    assert read_series(given, "date").step == step
    if step in ("15min", "D"):
        gaps = read_series(given.drop(index=[3, 4, 9]), "date")
        assert (len(gaps), gaps.missing()) == (30, 0.1)


@pytest.mark.parametrize(
    ("step", "names"),
    [("h", ["60min", "3600s"]), ("D", ["24h"]), ("90min", ["1.5h"])],
)
def test_a_step_has_one_name(step, names):
    given = frame(30, "2023-01-01", step)
    found = {read_series(given, "date", step=x).step for x in (step, *names)}
    assert found == {step} == {read_series(given, "date").step}


@pytest.mark.parametrize(
    ("season", "steps"),
    [
        (96, ["15min"]),
        (24, ["h", "60min", "7h"]),  # 7 hours: in a week
        (7, ["D"]),
        (5, ["B"]),
        (52, ["7D", "W-SUN", "W-MON"]),
        (12, ["MS", "ME"]),
        (4, ["QS", "QE"]),
        (1, ["YS", "36h", "ms"]),
    ],
)
def test_a_step_has_a_usual_season(season, steps):
    assert {usual_season(step) for step in steps} == {season}


def test_a_column_that_lacks_is_asked_for_by_its_argument(tmp_path):
    (tmp_path / "x.csv").write_text("date,load\n2024-05-01,1\n", "utf-8")
    with pytest.raises(CorpusError, match="'when'.*or another as `time`"):
        read_series(tmp_path / "x.csv", "when")
    with pytest.raises(CorpusError, match="'price'.*or another as `known`"):
        read_series(tmp_path / "x.csv", "date", known=["price"])


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


@pytest.mark.parametrize("name", ["date", "Date"])
def test_the_times_may_be_the_index(name):
    given = frame().assign(shop="a")
    expected = read_series(given, "date", key="shop").fingerprint()
    given = given.rename(columns={"date": name})
    for index in (name, [name, "shop"], ["shop", name]):
        table = read_series(given.set_index(index), "date", key="shop")
        assert (table.columns, table.fingerprint()) == (["load"], expected)
    twice = given.set_index(given[name])
    assert read_series(twice, "date", key="shop").fingerprint() == expected


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
    "zone, name",
    [
        (dateutil.tz.tzutc(), "UTC"),
        (dateutil.tz.tzoffset("IST", 19800), "UTC+05:30"),
        (datetime.timezone(datetime.timedelta(hours=2), "CEST"), "UTC+02:00"),
        (zoneinfo.ZoneInfo("Asia/Kolkata"), "Asia/Kolkata"),
    ],
)
def test_a_zone_has_the_name_that_pandas_finds(zone, name):
    given = frame()
    zoned = given.assign(date=given["date"].dt.tz_localize(zone))
    table = read_series(zoned, "date", calendar=["hour"])
    assert table.zone == name
    expected = read_series(given, "date", calendar=["hour"])
    np.testing.assert_array_equal(
        table.stacked("known"), expected.stacked("known")
    )


def test_a_zone_without_a_name_is_refused():
    given = frame()
    zone = dateutil.tz.gettz("Europe/Berlin")
    given["date"] = given["date"].dt.tz_localize(zone)
    with pytest.raises(CorpusError, match="tzfile.* 'date' .*dt.tz_convert"):
        read_series(given, "date")


def test_a_table_in_its_own_zone_is_not_changed():
    given = frame()
    given["date"] = given["date"].dt.tz_localize("Asia/Kolkata")
    table = read_series(given, "date", calendar=["hour"])
    assert table.in_zone("Asia/Kolkata") is table
    assert table.in_zone("UTC").zone == "UTC"


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


def test_irregular_times_are_resampled_if_asked_to():
    given = frame(8, step="10min")
    given.loc[3, "date"] += pandas.Timedelta(seconds=5)
    with pytest.raises(CorpusError, match="00:30:05.*0 more"):
        read_series(given, "date")
    table = read_series(given, "date", step="30min", resample="sum")
    assert table.series[0].values[:, 0].tolist() == [3, 12, 13]


def test_what_is_known_is_resampled_and_told(capsys):
    given = frame(4, load=np.arange(4), price=np.arange(4))
    table = read_series(
        given, "date", known=["price"], step="2h", resample="max"
    )
    assert table.series[0].known[:, 0].tolist() == [1, 3]
    said = "columns price, which are known ahead, were resampled by 'max'"
    assert said in capsys.readouterr().err


def test_what_the_calendar_says_goes_on():
    given = frame(30, "2024-05-01", "D", load=np.ones(30), price=np.ones(30))
    given.loc[28:, "load"] = np.nan
    table = read_series(
        given, "date", ["load"], known=["price"], calendar=["weekday"]
    )
    assert table.known == ["price", "weekday_sin", "weekday_cos"]
    ahead = table.ahead(4).series[0]
    assert (ahead.begin, len(ahead.values)) == (28, 32)
    np.testing.assert_array_equal(ahead.known[28:, 0], [1, 1, np.nan, np.nan])
    np.testing.assert_allclose(
        ahead.known[7:, 1:], ahead.known[:-7, 1:], atol=1e-6
    )
    assert len({*map(tuple, ahead.known[:7, 1:].round(5).tolist())}) == 7


def test_a_split_leaks_nothing():
    """All series end at the same time, and look back over the border."""
    given = pandas.concat(
        [
            frame(20).assign(name="long"),
            frame(9, "2024-05-01 06:00").assign(name="short"),
        ]
    )
    table = read_series(given, "date", key="name")
    parts = split_series(table, 10, "2024-05-01 15:00")
    border = table.series[0].times[[10, 15]]
    assert [len(part) for part in parts] == [14, 10, 5]
    for part, end in zip(parts, border, strict=False):
        assert all(x.times[-1] < end for x in part.series)
    inputs, values = windows(parts[1], 3, 2, batch_size=4)
    first = [window[0] for window in values[:, :, 0]]
    assert first == [10, 11, 12, 13, 4, 5, 6, 7]
    assert inputs["past"][0, :, 0].tolist() == [7, 8, 9]
    # Without a window in it, no later value changes what is trained on.
    other = table.series[0]._replace(values=table.series[0].values.copy())
    other.values[10:] = 99
    changed = split_series(table.replace([other, table.series[1]]), 10)[0]
    assert changed.fingerprint() == parts[0].fingerprint()
    assert [len(x) for x in split_series(table, 0.5, -2)] == [14, 13, 2]


def test_a_part_is_split_by_its_own_steps():
    _, late = split_series(read_series(frame(20), "date"), 8)
    for border in (0.25, 3, np.int64(3), -9, "2024-05-01 11:00"):
        parts = split_series(late, border)
        assert [x.series[0].begin for x in parts] == [8, 11]
        assert [len(x) for x in parts] == [3, 9]
    with pytest.raises(CorpusError, match="Part 1 of 2"):
        split_series(late, "2024-05-01 05:00")


def test_windows_hold_what_the_table_holds():
    given = frame(
        9, load=np.arange(9.0), price=np.arange(9.0) * 10, size=np.full(9, 3)
    )
    given = pandas.concat([given.assign(k=1), given[:4].assign(k=2, size=7)])
    table = read_series(
        given, "date", ["load"], "k", known=["price"], static=["size"]
    )
    inputs, values = windows(table, 4, 2, batch_size=3)
    assert values[..., 0].tolist() == [[4, 5], [5, 6], [6, 7], [7, 8], [2, 3]]
    np.testing.assert_array_equal(
        inputs["past"][-1, :, 0], [np.nan, np.nan, 0, 1]
    )
    assert inputs["known"][0, :, 0].tolist() == [0, 10, 20, 30, 40, 50]
    assert inputs["static"][:, 0].tolist() == [3, 3, 3, 3, 7]
    numbers, starts = window_starts(table, 4, 2, stride=2)
    assert numbers.tolist() == [0, 0, 1] and starts.tolist() == [4, 6, 2]
    # The last batch is there, and each epoch has another order.
    dataset = series_windows(table, 4, 2, batch_size=3, seed=1)
    epochs = [
        [x for _, values in dataset for x in values[:, 0, 0].numpy()]
        for _ in range(2)
    ]
    assert sorted(epochs[0]) == sorted(epochs[1]) == [2, 4, 5, 6, 7]
    assert len(dataset) == 2


def test_a_table_is_of_series():
    assert len(SeriesTable([], ["load"], "h")) == 0


BAD = {
    "no time": (frame().assign(date="soon"), {}, "'soon' in row 1"),
    "numbers as times": (
        frame().assign(date=range(12)),
        {},
        "a time.*'s' for seconds.*: 0 in row 1",
    ),
    "fractions as times": (frame().assign(date=0.5), {}, "a time"),
    "months of six digits": (
        frame().assign(date=[f"2024{x:02}" for x in range(1, 13)]),
        {},
        "12 cells.*or %Y%m",
    ),
    "no number since 1970": (
        frame().assign(date="soon"),
        {"time_format": "ms"},
        "a number since 1970 in the unit 'ms'. Received: 'soon'",
    ),
    "decimal commas": (
        frame().assign(load=["1", *11 * ["1,5"]]),
        {},
        "11 cells.*or `decimal` ',', if a comma",
    ),
    "thousands": (
        frame().assign(load=["1", *11 * ["1,000,000"]]),
        {},
        "11 cells.*without separators of thousands;(?!.*`decimal`)",
    ),
    "thousands in Germany": (
        frame().assign(load=["1,5", *11 * ["1.000"]]),
        {"decimal": ","},
        "11 cells.*thousands and with a decimal comma",
    ),
    "both in Germany": (
        frame().assign(load=["1,5", *11 * ["1.234,5"]]),
        {"decimal": ","},
        "with a decimal comma;(?!.*`decimal`).*Received: '1.234,5'",
    ),
    "a sign for nothing": (
        frame().assign(load="-"),
        {},
        "or an empty cell, NA or NaN where there is none. Received: '-'",
    ),
    "no decimal point": (frame(), {"decimal": "·"}, "decimal='·'"),
    "one key twice": (
        frame(load=range(12), shop="a"),
        {"key": ["shop", "shop"]},
        "one thing.*shop, shop",
    ),
    "keys that are joined alike": (
        frame(load=range(12), shop=["a/b", "a"] * 6, item=["c", "b/c"] * 6),
        {"key": ["shop", "item"]},
        "'a/b/c' twice, in the columns 'shop', 'item'",
    ),
    "no second key": (
        frame(load=range(12), shop="a", item=[None] + ["b"] * 11),
        {"key": ["shop", "item"]},
        r"1 rows without, row 1 \(empty item\)",
    ),
    "a name, not a list": (frame(), {"known": "load"}, "known='load'"),
    "no number": (frame().assign(load="high"), {}, "'high' in row 1"),
    "infinite": (frame().assign(load=np.inf), {}, "12 cells"),
    "infinite in float32": (frame().assign(load=1e39), {}, "12 cells"),
    "times as numbers": (frame(sun=frame()["date"]), {}, "'sun'.*a number"),
    "days or months": (
        frame().assign(date=[f"01/{x:02}/2024" for x in range(1, 13)]),
        {},
        "11 cells.*`time_format`.*'01/02/2024' in row 2",
    ),
    "short years": (
        frame().assign(date=[f"24-05-{x:02}" for x in range(1, 13)]),
        {},
        "12 cells.*four digits.*`time_format`",
    ),
    "a time in another form": (
        frame().assign(date=["2024-05-01 13:00"] + 11 * ["2024-05-02"]),
        {},
        "written as the first.*ISO8601",
    ),
    "off by nanoseconds": (
        frame().assign(date=frame()["date"] + pandas.to_timedelta(range(12))),
        {"step": "h"},
        "10 more",
    ),
    "no key": (
        frame(load=range(12), shop=[None, *"aaaaabbbbbb"]),
        {"key": "shop"},
        r"1 rows without, row 1 \(empty shop\)",
    ),
    "twice": (pandas.concat([frame(), frame()]), {}, "need a `key`"),
    "no column": (frame(), {"columns": ["sun"]}, "lacks"),
    "named twice": (frame(), {"columns": ["load"], "key": "load"}, "one thing"),
    "nothing": (frame()[["date"]], {}, "at least one"),
    "no rows": (frame()[:0], {}, "Received: none"),
    "two rows": (frame(2), {}, "2 rows"),
    "months with gaps": (frame(9, step="MS").drop(index=3), {}, "'MS'"),
    "bad step": (frame(), {"step": "hourly"}, "offset of pandas"),
    "no step": (frame(), {"step": "0h"}, "positive offset.*step='0h'"),
    "step back": (frame(), {"step": "-1D"}, "positive offset.*step='-1D'"),
    "no rule": (
        frame(),
        {"step": "D", "resample": "median"},
        "'last'.*resample='median'",
    ),
    "resample to what": (frame(), {"resample": "mean"}, "needs a `step`"),
    "not static": (
        frame(a=np.arange(12), b=np.arange(12)),
        {"static": ["b"]},
        "equal in all rows",
    ),
    "no such cycle": (frame(), {"calendar": ["moon"]}, "weekday"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_said(name):
    given, options, words = BAD[name]
    with pytest.raises(ValueError, match=words):
        read_series(given, "date", **options)


def test_what_cannot_be_cut_is_said():
    table = read_series(frame(), "date")
    with pytest.raises(CorpusError, match="13 steps.*at most 12"):
        series_windows(table, 4, 13, batch_size=2)
    with pytest.raises(ValueError, match="`stride` must be an integer >= 1"):
        series_windows(table, 4, 2, batch_size=2, stride=0)
    with pytest.raises(ValueError, match="within the 12 steps"):
        split_series(table, 12)
    with pytest.raises(ValueError, match="later than"):
        split_series(table, 5, 5)
    with pytest.raises(CorpusError, match="Part 1 of 2"):
        split_series(table, "2020-01-01")
