import numpy as np
import pandas

from kerasrnn.data import read_series
from kerasrnn.data import series_windows
from kerasrnn.data import split_series
from kerasrnn.data import window_starts
from tests.data.series.frames import frame
from tests.data.series.frames import windows


def test_a_series_without_a_value_in_a_part_has_no_window_there():
    load = [*range(20), *10 * [np.nan], *range(10)]
    given = pandas.concat([frame(20), frame(20)], ignore_index=True)
    given = given.assign(load=load, shop=[*20 * "a", *20 * "b"])
    table = read_series(given, "date", key="shop")
    first, second = split_series(table, 10)
    assert window_starts(first, 2, 2)[0].tolist() == 7 * [0]
    assert len(first.grid()) == 10
    assert set(window_starts(second, 2, 2)[0].tolist()) == {0, 1}


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
    shuffled = [
        series_windows(table, 4, 2, batch_size=3, seed=seed)
        for seed in (1, 1, 2)
    ]
    epochs = [
        [x for _, values in dataset for x in values[:, 0, 0].numpy()]
        for dataset in shuffled
        for _ in range(2)
    ]
    assert {*map(tuple, map(sorted, epochs))} == {(2, 4, 5, 6, 7)}
    assert epochs[0] != epochs[1] and epochs[:2] == epochs[2:4]
    assert epochs[4:] != epochs[:2]
    assert len(shuffled[0]) == 2
