import numpy as np
import pandas
import pytest

from kerasrnn.data import CorpusError
from kerasrnn.data import CorpusWarning
from kerasrnn.data import read_series
from tests.data.series.frames import frame


def test_a_series_without_a_value_is_left_out():
    given = frame(load=[*range(6), *6 * [np.nan]], shop=[*"aaaaaabbbbbb"])
    with pytest.warns(CorpusWarning, match="1 of 2 series .*left out: 'b'"):
        table = read_series(given, "date", key="shop")
    assert [x.name for x in table.series] == ["a"]


IRREGULAR = frame(8, step="10min")
IRREGULAR.loc[3, "date"] += pandas.Timedelta(seconds=5)


def test_irregular_times_are_resampled_if_asked_to():
    table = read_series(IRREGULAR, "date", step="30min", resample="sum")
    np.testing.assert_array_equal(table.series[0].values[:, 0], [3, 12, np.nan])


RULES = {
    "sum": [np.nan, 39, np.nan, 111, np.nan],
    "mean": [np.nan, 6.5, np.nan, 18.5, np.nan],
    "min": [np.nan, 4, np.nan, 16, np.nan],
    "max": [np.nan, 9, np.nan, 21, np.nan],
    "first": [np.nan, 4, np.nan, 16, 22],
    "last": [3, 9, np.nan, 21, np.nan],
}


@pytest.mark.parametrize("rule", RULES)
def test_a_day_without_its_rows_has_no_value(rule, capsys):
    """The first begins at 8, the last ends at 12, and one has no row."""
    rows = frame(26, "2024-05-01 08:00", "4h").drop(index=range(10, 16))
    table = read_series(rows, "date", step="D", resample=rule)
    np.testing.assert_array_equal(table.series[0].values[:, 0], RULES[rule])
    count = np.isnan(RULES[rule]).sum() - 1
    said = f"{count} first or last values of DataFrame were skipped"
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("step", "start", "of", "expected"),
    [
        ("h", "2024-05-01", "D", [24, 24]),
        ("D", "2024-05-01 12:00", "D", 48 * [1]),  # at noon
        ("D", "2024-05-01", "MS", [31, np.nan]),
        ("D", "2024-05-01", "ME", [31, np.nan]),
        ("D", "2024-04-14", "ME", [np.nan, 31]),
        ("D", "2024-05-06", "W-SUN", [7, 7, 7, 7, 7, 7, np.nan]),
        ("D", "2024-05-05", "W-SUN", [np.nan, 7, 7, 7, 7, 7, 7, np.nan]),
        ("3h", "2024-05-01 03:00", "6h", [np.nan, *23 * [2], np.nan]),
    ],
)
def test_a_step_is_whole_if_another_row_would_be_in_the_next(
    step, start, of, expected
):
    given = frame(48, start, step, load=np.ones(48))
    (series,) = read_series(given, "date", step=of, resample="sum").series
    np.testing.assert_array_equal(series.values[:, 0], expected)


def test_each_column_has_first_and_last_steps_of_its_own():
    """What is known ahead goes on; a column of one value may have it all."""
    load = [*30 * [np.nan], *np.ones(48), *42 * [np.nan]]
    once = [1, *119 * [np.nan]]
    given = frame(120, load=load, price=np.ones(120), once=once)
    table = read_series(
        given, "date", ["load", "once"], known=["price"], **DAILY_SUM
    )
    (series,) = table.series
    expected = [[np.nan, np.nan, 24, np.nan, np.nan], [1, *4 * [np.nan]]]
    np.testing.assert_array_equal(series.values.T, expected)
    assert series.known[:, 0].tolist() == 5 * [24]


DAILY_SUM = {"step": "D", "resample": "sum"}


@pytest.mark.parametrize("options", [{}, DAILY_SUM, {"key": "shop"}])
def test_a_wrong_year_does_not_make_millions_of_steps(options):
    far = frame(48, shop="a", load=np.ones(48))
    far.loc[47, "date"] = np.datetime64("9204-05-02T23:00")
    far.loc[46:, "shop"] = "b"
    with pytest.raises(CorpusError, match="have no row.*before 9204-05-02"):
        read_series(far, "date", ["load"], **options)


def test_what_is_known_is_resampled_and_told(capsys):
    given = frame(4, load=np.arange(4), price=np.arange(4))
    table = read_series(
        given, "date", known=["price"], step="2h", resample="max"
    )
    assert table.series[0].known[:, 0].tolist() == [1, 3]
    said = "known ahead (price) were also resampled by 'max'"
    assert said in capsys.readouterr().err


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
        "11 of 12 cells.*or `decimal` ',' for",
    ),
    "thousands": (
        frame().assign(load=["1", *11 * ["1,000,000"]]),
        {},
        "11 of 12 cells.*without thousands separators;(?!.*`decimal`)",
    ),
    "thousands in Germany": (
        frame().assign(load=["1,5", *11 * ["1.000"]]),
        {"decimal": ","},
        "11 of 12 cells.*thousands separators and with a decimal comma",
    ),
    "both in Germany": (
        frame().assign(load=["1,5", *11 * ["1.234,5"]]),
        {"decimal": ","},
        "with a decimal comma;(?!.*`decimal`).*Received: '1.234,5'",
    ),
    "a sign for nothing": (
        frame().assign(load="-"),
        {},
        "or an empty cell, NA or NaN for a missing value. Received: '-'",
    ),
    "no decimal point": (frame(), {"decimal": "·"}, "decimal='·'"),
    "one key twice": (
        frame(load=range(12), shop="a"),
        {"key": ["shop", "shop"]},
        "only one role.*shop, shop",
    ),
    "keys that are joined alike": (
        frame(load=range(12), shop=["a/b", "a"] * 6, item=["c", "b/c"] * 6),
        {"key": ["shop", "item"]},
        "'a/b/c' twice, from the columns 'shop', 'item'",
    ),
    "no second key": (
        frame(load=range(12), shop="a", item=[None] + ["b"] * 11),
        {"key": ["shop", "item"]},
        "^1 of 12 cells.* a name of the `key` 'item'. Received: .* in row 1",
    ),
    "no number": (frame().assign(load="high"), {}, "'high' in row 1"),
    "infinite": (frame().assign(load=np.inf), {}, "12 cells"),
    "infinite in float32": (frame().assign(load=1e39), {}, "12 cells"),
    "times as numbers": (frame(sun=frame()["date"]), {}, "'sun'.*a number"),
    "days or months": (
        frame().assign(date=[f"01/{x:02}/2024" for x in range(1, 13)]),
        {},
        "11 of 12 cells.*`time_format`.*'01/02/2024' in row 2",
    ),
    "short years": (
        frame().assign(date=[f"24-05-{x:02}" for x in range(1, 13)]),
        {},
        "12 cells.*four digits.*`time_format`",
    ),
    "a time in another form": (
        frame().assign(date=["2024-05-01 13:00"] + 11 * ["2024-05-02"]),
        {},
        "in the format of the first time.*ISO8601",
    ),
    "off by nanoseconds": (
        frame().assign(date=frame()["date"] + pandas.to_timedelta(range(12))),
        {"step": "h"},
        "10 more",
    ),
    "no key": (
        frame(load=range(12), shop=[None, *"aaaaabbbbbb"]),
        {"key": "shop"},
        "^1 of 12 cells.* a name of the `key` 'shop'. Received: .* in row 1",
    ),
    "twice": (pandas.concat([frame(), frame()]), {}, "need a `key`"),
    "no value": (
        frame(load=[np.nan] * 12, shop="a"),
        {"key": "shop"},
        "must have values",
    ),
    "irregular": (IRREGULAR, {}, "00:30:05.*0 more"),
    "no column": (frame(), {"columns": ["sun"]}, "lacks"),
    "no column, but another": (
        frame(**{"load-total": range(12)}),
        {"columns": ["load"]},
        "lacks a column(?!.*numbers)",
    ),
    "no column of times": (
        frame().rename(columns={"date": "when"}),
        {},
        "'date'.*or another column as `time`",
    ),
    "no column that is known": (
        frame(),
        {"known": ["price"]},
        "'price'.*or another column as `known`",
    ),
    "two of one name": (
        pandas.concat([frame(), frame()[["load"]]], axis="columns"),
        {"columns": ["load"]},
        "distinct names.*'load', 'load'",
    ),
    "one column in two cases": (
        frame(load=range(12), shop="a"),
        {"columns": ["load", "LOAD"], "key": "shop"},
        "only one role.*load, LOAD",
    ),
    "named twice": (
        frame(),
        {"columns": ["load"], "key": "load"},
        "only one role",
    ),
    "nothing": (frame()[["date"]], {}, "non-empty list"),
    "no rows": (frame()[:0], {}, "at least one row"),
    "two rows": (frame(2), {}, "2 rows"),
    "months with gaps": (frame(9, step="MS").drop(index=3), {}, "'MS'"),
    "four weeks with gaps": (
        frame(9, step="28D").drop(index=3),
        {},
        "times 28 days apart",
    ),
    "bad step": (frame(), {"step": "hourly"}, "positive pandas offset"),
    "no step": (frame(), {"step": "0h"}, "positive pandas offset.*step='0h'"),
    "step back": (
        frame(),
        {"step": "-1D"},
        "positive pandas offset.*step='-1D'",
    ),
    "no rule": (
        frame(),
        {"step": "D", "resample": "median"},
        "'last'.*resample='median'",
    ),
    "resample to what": (frame(), {"resample": "mean"}, "needs a `step`"),
    "not static": (
        frame(a=np.arange(12), b=np.arange(12)),
        {"static": ["b"]},
        "constant in all rows",
    ),
    "no such cycle": (frame(), {"calendar": ["moon"]}, "weekday"),
    **{
        f"the format {form}": (
            frame(),
            {"time_format": form},
            f"have a year.*'{form}'",
        )
        for form in ("%H:%M", "%d.%m. %H:%M", "yyyy-MM-dd")
    },
}


@pytest.mark.parametrize("given, options, words", BAD.values(), ids=BAD)
def test_what_is_wrong_is_said(given, options, words):
    with pytest.raises(ValueError, match=words):
        read_series(given, "date", **options)


# Columns.


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


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        *(
            (
                ["date,shop,load", "2024-05-01,a,1", f"2024-05-02,{key},2"],
                "'shop'. Received: '.*' in row 2",
            )
            for key in ("", " ", "nan")
        ),
        # Another encoding, of the header or of a key.
        *(
            (
                [
                    header,
                    *(f"2024-05-{day:02},{shop},1" for day in range(1, 9)),
                ],
                "iconv -f ISO-8859-1",
            )
            for header, shop in (
                ("date,shop,W\u00e4rme", "Kiel"),
                ("date,shop,Last", "K\u00f6ln"),
            )
        ),
    ],
)
def test_a_file_that_cannot_be_read(write, rows, message):
    path = write("\n".join(rows).encode("latin-1"), "shops.csv")
    with pytest.raises(CorpusError, match=message):
        read_series(path, "date", key="shop")


@pytest.mark.parametrize("end", ["", ";"])
@pytest.mark.parametrize("name", ["", "Unnamed: 0", "Unnamed: 0.1"])
def test_columns_without_a_name_are_left_out(tmp_path, name, end):
    """The index of pandas, and what spreadsheets write after the last."""
    path = tmp_path / "load.csv"
    rows = [f"{name};date;load{end}", f"0;2024-05-01;7{end}"]
    rows.append(f"1;2024-05-02;8{end}")
    path.write_text("\n".join(rows), "utf-8")
    with pytest.warns(CorpusWarning, match="unnamed columns are left"):
        table = read_series(path, "date", step="D")
    assert table.columns == ["load"]
    assert table.series[0].values.tolist() == [[7.0], [8.0]]


def test_an_index_in_parquet_is_no_series(tmp_path):
    given = frame().set_index(np.arange(12) ** 2)
    given.to_parquet(tmp_path / "x.parquet")
    with pytest.warns(CorpusWarning, match="unnamed columns are left"):
        table = read_series(tmp_path / "x.parquet", "date")
    assert table.columns == ["load"]
    table = read_series(tmp_path / "x.parquet", "date", ["__index_level_0__"])
    assert table.series[0].values[-2:, 0].tolist() == [100, 121]


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_times_of_pyarrow_are_times(zone):
    given = frame()
    given["date"] = given["date"].dt.tz_localize(zone)
    expected = read_series(given, "date", calendar=["hour"])
    table = read_series(
        given.convert_dtypes(dtype_backend="pyarrow"), "date", calendar=["hour"]
    )
    assert (table.zone, table.fingerprint()) == (zone, expected.fingerprint())


def test_a_data_frame_is_read_by_the_rules_of_a_file():
    given = frame().rename(columns={"date": "Date", "load": 0})
    assert read_series(given, "date").columns == ["0"]
    assert read_series(given, "date", [0]).columns == ["0"]


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
