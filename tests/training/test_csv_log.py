import csv
import errno
import math

import pytest

from kerasrnn.training import columns
from kerasrnn.training import read_rows
from kerasrnn.training import write_rows


def test_rows_come_back(tmp_path):
    path = tmp_path / "log.csv"
    assert read_rows(path) == []
    write_rows(path, [{"epoch": 0, "loss": 0.1}, {"epoch": 1, "val": 1e-9}])
    first, second = read_rows(path)
    assert first["epoch"] == 0 and first["loss"] == 0.1
    assert math.isnan(first["val"]) and math.isnan(second["loss"])
    assert second["val"] == 1e-9
    write_rows(path, [{"epoch": 5}])
    assert read_rows(path) == [{"epoch": 5}]
    assert [file.name for file in tmp_path.iterdir()] == ["log.csv"]


def test_a_file_is_never_half_written(tmp_path, monkeypatch):
    path = tmp_path / "log.csv"
    write_rows(path, [{"a": 1.5}])

    def full(writer, rows):
        writer.writerow(rows[0])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(csv.DictWriter, "writerows", full)
    with pytest.raises(OSError, match="No space left"):
        write_rows(path, [{"a": 2.5}, {"a": 3.5}])
    assert read_rows(path) == [{"a": 1.5}]
    assert [file.name for file in tmp_path.iterdir()] == ["log.csv"]


@pytest.mark.parametrize("text", ["a,b\n1,2\n3", "a,b\n1,x\n", "a\n1,2\n"])
def test_a_row_that_is_cut_is_an_error(tmp_path, text):
    path = tmp_path / "log.csv"
    path.write_text(text)
    with pytest.raises(ValueError):
        read_rows(path)


def test_columns():
    assert columns([]) == {}
    assert columns([{"a": 1, "b": 2}, {"a": 3, "b": 4}]) == {
        "a": [1, 3],
        "b": [2, 4],
    }
