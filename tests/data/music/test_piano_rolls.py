import pathlib
import random

import numpy as np
import pytest
import scipy.io

from kerasrnn.data import CorpusError
from kerasrnn.data import CorpusWarning
from kerasrnn.data import read_piano_rolls
from kerasrnn.data import split_piano_rolls
from kerasrnn.data import write_midi

PARTS = ("traindata", "validdata", "testdata")


def piece(time, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random((time, 88)) < 0.05).astype("uint8")


def save(path, **parts):
    """Writes a MATLAB file whose parts are lists of matrices."""
    cells = {}
    for name, rolls in parts.items():
        cells[name] = np.empty((1, len(rolls)), object)
        cells[name][0, :] = rolls
    scipy.io.savemat(path, cells)
    return path


@pytest.fixture
def path(tmp_path):
    parts = {
        name: [piece(time, seed) for seed, time in enumerate((4, 7, 5))]
        for name in PARTS
    }
    return save(tmp_path / "rolls.mat", **parts)


def test_all_parts_are_read(path):
    corpus = read_piano_rolls(path)
    for part in corpus:
        assert [roll.shape for roll in part] == [(4, 88), (7, 88), (5, 88)]
        assert {roll.dtype for roll in part} == {np.dtype("uint8")}
        np.testing.assert_array_equal(part[1], piece(7, 1))


def test_a_limit_keeps_the_first_of_each_part(path):
    corpus = read_piano_rolls(path, limit=2)
    assert [list(map(len, part)) for part in corpus] == [[4, 7]] * 3
    with pytest.raises(ValueError, match="limit"):
        read_piano_rolls(path, limit=0)


def test_the_test_part_may_be_missing(tmp_path):
    rolls = [piece(2), piece(3)]
    path = save(tmp_path / "a.mat", traindata=rolls, validdata=rolls)
    assert read_piano_rolls(path).test is None


@pytest.mark.parametrize(
    "parts, message",
    [
        ({"validdata": [piece(2), piece(3)]}, "lacks.*Received: validdata"),
        (dict.fromkeys(PARTS, [piece(2)[:, :9], piece(2)]), "not a piano roll"),
        (dict.fromkeys(PARTS, [2 * piece(2), piece(3)]), "zeros and ones"),
        (dict.fromkeys(PARTS, [np.full((2, 88), "x"), piece(3)]), "value of x"),
        (dict.fromkeys(PARTS, [piece(2)[:0], piece(3)]), "no time step"),
    ],
)
def test_a_file_that_is_no_corpus(parts, message, tmp_path):
    path = save(tmp_path / "rolls.mat", **parts)
    with pytest.raises(CorpusError, match=message):
        read_piano_rolls(path)


@pytest.mark.parametrize("content", ["", "no piano roll, only text" * 9])
def test_a_file_that_is_not_of_matlab(content, tmp_path):
    path = tmp_path / "rolls.mat"
    path.write_text(content)
    with pytest.raises(CorpusError, match="Expected: a MATLAB file"):
        read_piano_rolls(path)
    with pytest.raises(FileNotFoundError):
        read_piano_rolls(tmp_path / "other.mat")


def test_a_folder_of_midi_files_is_divided(tmp_path):
    (tmp_path / "more").mkdir()
    names = ("b.MID", "more/c.midi", "a.mid")
    for time, name in enumerate(names, start=2):
        roll = np.zeros((time, 88), "uint8")
        roll[:, 40] = 1
        write_midi(roll, tmp_path / name, steps_per_beat=2)
    corpus = read_piano_rolls(tmp_path, steps_per_beat=4)
    assert [[len(roll) for roll in part] for part in corpus] == [[8], [4], [6]]


def test_a_broken_midi_file_is_left_out(tmp_path):
    for i in range(3):
        write_midi(piece(4, i), tmp_path / f"{i}.mid")
    (tmp_path / "1b.mid").write_bytes(b"<html>not found</html>")
    with pytest.warns(CorpusWarning, match="1 malformed of 4 files.* 1b.mid"):
        corpus = read_piano_rolls(tmp_path)
    assert [len(part) for part in corpus] == [1, 1, 1]
    (tmp_path / "2.mid").unlink()
    with pytest.raises(CorpusError, match="too few pieces .*3 files, 1b.mid"):
        read_piano_rolls(tmp_path)


def test_a_folder_is_divided_in_the_order_of_names(tmp_path, monkeypatch):
    """Whatever the order in which the file system lists it."""
    for i in range(20):
        write_midi(piece(i + 1), tmp_path / f"{i:02}.mid")
    listed = pathlib.Path.rglob

    def shuffled(path, pattern):
        files = list(listed(path, pattern))
        return iter(random.Random(1).sample(files, len(files)))

    monkeypatch.setattr(pathlib.Path, "rglob", shuffled)
    corpus = read_piano_rolls(tmp_path)
    lengths = [[len(roll) for roll in part] for part in corpus]
    assert lengths == [[*range(1, 17)], [17, 18], [19, 20]]


def test_too_few_pieces_to_divide(tmp_path):
    path = write_midi(piece(4), tmp_path / "a.mid")
    with pytest.raises(CorpusError, match="a folder of at least 3 MIDI"):
        read_piano_rolls(path)
    with pytest.raises(CorpusError, match="at least 3 MIDI files.*Received: 1"):
        read_piano_rolls(tmp_path)
    with pytest.raises(CorpusError, match="at least 3. Received: 2"):
        split_piano_rolls([piece(4)] * 2)


def test_a_damaged_file_of_matlab_is_named(tmp_path):
    path = tmp_path / "rolls.mat"
    scipy.io.savemat(path, {"traindata": piece(99)}, do_compression=True)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(CorpusError, match="rolls.mat cannot be read"):
        read_piano_rolls(path)


def test_hidden_files_are_no_pieces(tmp_path):
    for i in range(3):
        write_midi(piece(4, i), tmp_path / f"{i}.mid")
    (tmp_path / "._0.mid").write_bytes(b"of macOS")
    assert [len(part) for part in read_piano_rolls(tmp_path)] == [1, 1, 1]
