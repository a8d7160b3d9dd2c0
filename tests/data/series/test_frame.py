import numpy as np
import pandas
import pytest

from kerasrnn.data import CorpusError
from kerasrnn.data import CorpusWarning
from kerasrnn.data import read_series
from kerasrnn.training import fingerprint
from tests.data.series.frames import frame


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
@pytest.mark.parametrize("name", ["", "Unnamed: 0", "Unnamed: 0.1"])
def test_columns_without_a_name_are_left_out(tmp_path, name, end):
    """The index of pandas, and what spreadsheets write after the last."""
    path = tmp_path / "load.csv"
    rows = [f"{name};date;load{end}", f"0;2024-05-01;7{end}"]
    rows.append(f"1;2024-05-02;8{end}")
    path.write_text("\n".join(rows), "utf-8")
    with pytest.warns(CorpusWarning, match="columns without a name are left"):
        table = read_series(path, "date", step="D")
    assert table.columns == ["load"]
    assert table.series[0].values.tolist() == [[7.0], [8.0]]


def test_an_index_in_parquet_is_no_series(tmp_path):
    given = frame().set_index(np.arange(12) ** 2)
    given.to_parquet(tmp_path / "x.parquet")
    with pytest.warns(CorpusWarning, match="columns without a name are left"):
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


def test_parquet_is_read_like_a_data_frame(tmp_path):
    given = frame(load=np.arange(12), temp=np.r_[np.nan, np.ones(11)])
    given.to_parquet(tmp_path / "t.parquet")
    tables = [read_series(x, "date") for x in (tmp_path / "t.parquet", given)]
    assert tables[0].columns == ["load", "temp"]
    assert tables[0].fingerprint() == tables[1].fingerprint()
    assert fingerprint([tables[0]]) == fingerprint([tables[1]])
    other = read_series(given.assign(load=1), "date")
    assert fingerprint([tables[0]]) != fingerprint([other])


def test_a_column_that_lacks_is_asked_for_by_its_argument(tmp_path):
    (tmp_path / "x.csv").write_text("date,load\n2024-05-01,1\n", "utf-8")
    with pytest.raises(CorpusError, match="'when'.*or another as `time`"):
        read_series(tmp_path / "x.csv", "when")
    with pytest.raises(CorpusError, match="'price'.*or another as `known`"):
        read_series(tmp_path / "x.csv", "date", known=["price"])


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
