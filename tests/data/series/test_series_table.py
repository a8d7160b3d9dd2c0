import dataclasses

import numpy as np
import pandas
import pytest

from kerasrnn.data import CorpusError
from kerasrnn.data import read_series
from kerasrnn.data import series_windows
from kerasrnn.data import split_series
from kerasrnn.data import window_starts
from tests.data.series.frames import frame
from tests.data.series.frames import windows


def with_future(count=10, future=30):
    """Values of some hours; what is known ahead, of more."""
    values = np.r_[np.arange(count, dtype="float64"), future * [np.nan]]
    return frame(count + future, load=values, price=np.ones(count + future))


def known_ahead():
    return read_series(with_future(), "date", ["load"], known=["price"])


def test_rows_after_the_last_value_are_no_part_of_the_time(capsys):
    table = known_ahead()
    assert table.missing() == 0.0 and "Missing values: 0.0%" in (
        capsys.readouterr().err
    )
    borders = (0.58, 0.84), (6, 8), (-4, -2)
    for parts in (split_series(table, *found) for found in borders):
        assert [x.series[0].begin for x in parts] == [0, 6, 8]
        # What is known of the last is there to forecast from.
        assert [len(x.series[0].known) for x in parts] == [6, 8, 40]
        numbers, starts = window_starts(parts[2], 3, 2)
        assert starts.tolist() == [8]
    assert len(window_starts(table, 3, 2)[1]) == 6
    assert len(window_starts(table.ahead(4), 3, 4)[1]) == 1


def test_a_step_counts_that_has_the_value_of_one_column():
    rain = np.r_[np.ones(12), 28 * [np.nan]]
    table = read_series(with_future().assign(rain=rain), "date")
    assert table.series[0].observed() == 40
    table = read_series(
        with_future().assign(rain=rain), "date", ["load", "rain"]
    )
    assert table.series[0].observed() == 12


def test_what_is_not_known_is_counted(capsys):
    given = with_future().assign(wind=np.r_[np.ones(38), np.nan, np.nan])
    table = read_series(
        given, "date", ["load"], known=["price", "wind"], calendar=["hour"]
    )
    assert table.not_known() == {"price": 0, "wind": 2}
    assert "Steps without wind: 2." in capsys.readouterr().err
    assert table.ahead(31).not_known() == {"price": 1, "wind": 3}


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


def test_a_fingerprint_is_of_all_that_a_model_reads():
    given = frame(load=np.arange(12), price=np.arange(12), size=1)
    table = read_series(
        given, "date", ["load"], known=["price"], static=["size"]
    )
    (series,) = table.series
    others = [
        table.replace([series._replace(**{name: getattr(series, name) + 1})])
        for name in ("times", "values", "known", "static", "begin")
    ]
    others += [
        dataclasses.replace(table, **change)
        for change in ({"columns": ["rain"]}, {"step": "D"})
    ]
    assert len({x.fingerprint() for x in (table, *others)}) == 8


# Splits.


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


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda x: series_windows(x, 4, 13, batch_size=2),
            "13 steps.*at most 12",
        ),
        (
            lambda x: series_windows(x, 4, 2, 2, stride=0),
            "`stride` must be an integer >= 1",
        ),
        (lambda x: split_series(x, 12), "within the 12 steps"),
        (lambda x: split_series(x, 5, 5), "must increase"),
        (lambda x: split_series(x, "2020-01-01"), "Part 1 of 2"),
        (lambda x: split_series(x, "tomorrow"), "must be a time.*tomorrow"),
        (lambda x: split_series(x, None), "must be a time.*None"),
        (
            lambda x: split_series(split_series(x, 8)[1], "2024-05-01 05:00"),
            "Part 1 of 2",
        ),
        (
            lambda x: split_series(known_ahead(), "2024-05-01 12:00"),
            "Part 2 of 2 has no value",
        ),
        (
            lambda x: window_starts(known_ahead(), 3, 10),
            "at most 10 steps up to the last",
        ),
        (lambda x: split_series(x, np.nan), "must be a time.*nan"),
    ],
)
def test_what_cannot_be_cut_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call(read_series(frame(), "date"))


def test_a_border_is_one_of_the_zone_of_the_table():
    """The clock goes back at 3 on the 27th; 2 comes twice, the first counts."""
    times = pandas.date_range(
        "2024-10-26", periods=72, freq="h", tz="Europe/Berlin"
    )
    given = pandas.DataFrame({"date": times, "load": np.arange(72)})
    berlin = read_series(given, "date")
    texts = given.assign(date=given["date"].astype(str))
    offsets = read_series(texts, "date")
    plain = given.assign(date=times.tz_localize(None))
    plain = read_series(plain.drop_duplicates("date"), "date")
    for table, border, first in (
        (berlin, "2024-10-27", 24),
        (berlin, np.datetime64("2024-10-28"), 49),
        (berlin, "2024-10-27 02:00", 26),
        (berlin, "2024-10-27 02:00+01:00", 27),
        (berlin, times[30], 30),
        (berlin, "27.10.2024", 24),
        (berlin, 24, 24),
        (offsets, "2024-10-27", 26),  # in UTC
        (offsets, "2024-10-27T00:00+02:00", 24),
        (plain, "2024-10-28", 49),
        (plain, times[49], 49),
    ):
        _, part = split_series(table, border)
        assert part.stacked("values")[0, 0] == first
    for border in ("10:00", "01/02/2024", "now"):
        with pytest.raises(ValueError, match=f"must be a time.*'{border}'"):
            split_series(berlin, border)
    with pytest.raises(CorpusError, match="22:00:00.000000 and .* in UTC"):
        split_series(berlin, "2025-01-01")
