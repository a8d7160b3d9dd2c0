import numpy as np
import pytest

from kerasrnn.data import CorpusError
from kerasrnn.data import SeriesTable
from kerasrnn.data import read_series
from kerasrnn.data import split_series
from kerasrnn.data import window_starts
from tests.data.series.frames import frame


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


def test_what_is_not_known_is_counted(capsys):
    given = with_future().assign(wind=np.r_[np.ones(38), np.nan, np.nan])
    table = read_series(
        given, "date", ["load"], known=["price", "wind"], calendar=["hour"]
    )
    assert table.not_known() == {"price": 0, "wind": 2}
    assert "Steps without wind: 2." in capsys.readouterr().err
    assert table.ahead(31).not_known() == {"price": 1, "wind": 3}


def test_a_table_in_its_own_zone_is_not_changed():
    given = frame()
    given["date"] = given["date"].dt.tz_localize("Asia/Kolkata")
    table = read_series(given, "date", calendar=["hour"])
    assert table.in_zone("Asia/Kolkata") is table
    assert table.in_zone("UTC").zone == "UTC"


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


def test_a_table_is_of_series():
    assert len(SeriesTable([], ["load"], "h")) == 0
