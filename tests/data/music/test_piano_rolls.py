import numpy as np
import pytest
import scipy.io

from kerasrnn.data import CorpusError
from kerasrnn.data import CorpusWarning
from kerasrnn.data import piano_roll_batches
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
    (tmp_path / "._0.mid").write_bytes(b"hidden, of macOS")
    with pytest.warns(CorpusWarning, match="1 malformed of 4 files.* 1b.mid"):
        corpus = read_piano_rolls(tmp_path)
    assert [len(part) for part in corpus] == [1, 1, 1]
    (tmp_path / "2.mid").unlink()
    with pytest.raises(CorpusError, match="too few readable .*3 files, 1b.mid"):
        read_piano_rolls(tmp_path)


# Batches.


LENGTHS = (5, 2, 9, 3, 1, 7, 4)
KEYS = 12
RNG = np.random.default_rng(0)
ROLLS = [
    np.pad((RNG.random((time, 6)) < 0.3).astype("uint8"), [(0, 0), (4, 2)])
    for time in LENGTHS
]
ROLLS[1][:] = 0  # silence


def pieces(batches):
    """The pieces of batches, cut from their labels."""
    return [
        row[row.min(axis=1) >= 0]
        for _, labels in batches
        for row in labels.numpy()
    ]


def sorted_bytes(rolls):
    return sorted(np.asarray(roll, "int8").tobytes() for roll in rolls)


def test_inputs_are_one_step_late_and_begin_with_silence():
    batches = piano_roll_batches(ROLLS, 3, seed=1)
    assert len(batches) == 3
    for inputs, labels in batches:
        inputs, labels = inputs.numpy(), labels.numpy()
        assert inputs.shape == labels.shape
        assert (inputs[:, 0] == 0).all()
        expected = np.maximum(labels[:, :-1], 0)
        np.testing.assert_array_equal(inputs[:, 1:], expected)


def test_every_piece_is_there_once_and_padded_on_the_right():
    for seed in (None, 1):
        batches = piano_roll_batches(ROLLS, 3, seed=seed)
        assert sorted_bytes(pieces(batches)) == sorted_bytes(ROLLS)
    for _, labels in batches:
        padding = (labels.numpy() == -1).all(axis=-1)
        assert (np.diff(padding.astype(int), axis=1) >= 0).all()


def test_without_a_seed_pieces_are_sorted_by_length():
    found = [len(piece) for piece in pieces(piano_roll_batches(ROLLS, 3))]
    assert found == sorted(LENGTHS)


def test_a_transposed_piece_keeps_its_notes():
    moved = pieces(piano_roll_batches(ROLLS, 3, transpose=5, seed=2).repeat(20))
    shifts = set()
    for roll, times in zip(ROLLS, LENGTHS, strict=True):
        for piece in moved:
            if len(piece) != times:
                continue
            assert (piece.sum(axis=1) == roll.sum(axis=1)).all()
            if roll.any():
                low, high = (
                    np.flatnonzero(x.any(axis=0))[0] for x in (roll, piece)
                )
                shifts.add(high - low)
                expected = np.roll(roll, high - low, axis=1)
                np.testing.assert_array_equal(piece, expected)
    assert shifts >= set(range(-4, 3)) and min(shifts) >= -5


def test_long_pieces_are_cut_into_parts_that_cover_them():
    # The number of keys that sound is that of the step.
    rolls = [np.tri(time, KEYS, dtype="uint8") for time in LENGTHS]
    cut = piano_roll_batches(rolls, 3, seed=2, max_length=4)
    assert len(cut) == 4  # 2 + 1 + 3 + 1 + 1 + 2 + 1 parts
    seen = set()
    for inputs, labels in cut.repeat(80):
        for before, part in zip(inputs.numpy(), labels.numpy(), strict=True):
            part = part[part.min(axis=1) >= 0]
            steps = part.sum(axis=1)
            assert len(part) in (1, 2, 3, 4)
            np.testing.assert_array_equal(
                steps, steps[0] + np.arange(len(part))
            )
            # The input is the step before, also at the start of a part.
            np.testing.assert_array_equal(
                before.sum(axis=1)[: len(part)], steps - 1
            )
            if len(part) < 4:
                assert steps[0] == 1
            seen.add(int(steps[0]))
    # The longest piece has nine steps, so its last part begins at the sixth.
    assert seen == set(range(1, 7))


def test_no_step_of_a_long_piece_is_seldom_trained_on():
    roll = np.eye(64, dtype="uint8")
    batches = piano_roll_batches([roll], 2, seed=2, max_length=16).repeat(300)
    counts = sum(piece.sum(axis=0) for piece in pieces(batches))
    assert counts.sum() == 300 * 64
    # The ends are in half as many parts as the middle: 150 of 300, +- 9.
    assert counts.min() > 90 and counts.max() < 600


def test_order_cuts_and_transposition_continue_after_an_interruption():
    def new():
        return piano_roll_batches(ROLLS, 3, transpose=3, seed=4, max_length=6)

    whole = [labels.numpy() for _, labels in new().repeat(3)]
    assert any(
        a.shape != b.shape or (a != b).any()
        for a, b in zip(whole[:3], whole[3:6], strict=True)
    )
    resumed = [labels.numpy() for _, labels in new().repeat(3).skip(4)]
    for found, expected in zip(resumed, whole[4:], strict=True):
        np.testing.assert_array_equal(found, expected)


def text(folder):
    (folder / "rolls.mat").write_text("no piano roll, only text" * 9)
    return folder / "rolls.mat"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: read_piano_rolls(x, limit=0), ValueError, "limit"),
        (
            lambda x: read_piano_rolls(text(x)),
            CorpusError,
            "rolls.mat .*: a MATLAB file",
        ),
        *(
            (
                lambda x, parts=parts: read_piano_rolls(
                    save(x / "rolls.mat", **parts)
                ),
                CorpusError,
                message,
            )
            for parts, message in [
                (
                    {"validdata": [piece(2), piece(3)]},
                    "lacks.*Received: validdata",
                ),
                (
                    dict.fromkeys(PARTS, [piece(2)[:, :9], piece(2)]),
                    "shape .2, 9.",
                ),
                (
                    dict.fromkeys(PARTS, [2 * piece(2), piece(3)]),
                    "1 where a key",
                ),
                (
                    dict.fromkeys(PARTS, [np.full((2, 88), "x"), piece(3)]),
                    "values such as x",
                ),
                (
                    dict.fromkeys(PARTS, [piece(2)[:0], piece(3)]),
                    "without time steps",
                ),
            ]
        ),
        (
            lambda x: read_piano_rolls(write_midi(piece(4), x / "a.mid")),
            CorpusError,
            "a folder of at least 3 MIDI",
        ),
        (
            lambda x: read_piano_rolls(
                write_midi(piece(4), x / "a.mid").parent
            ),
            CorpusError,
            "at least 3 MIDI files.*Received: 1",
        ),
        (
            lambda x: split_piano_rolls([piece(4)] * 2),
            CorpusError,
            "at least 3. Received: 2",
        ),
        *(
            (
                lambda x, given=given: piano_roll_batches(*given),
                ValueError,
                message,
            )
            for given, message in [
                (([], 2), "at least one piece. Received: none"),
                ((ROLLS, 0), "batch_size=0"),
                ((ROLLS, 2, -1, 3), "transpose=-1"),
                ((ROLLS, 2, 3), "transpose=3, .*seed=None"),
                ((ROLLS, 2, 1.5, 3), "transpose=1.5"),
                ((ROLLS, 2, 0, 1, None, 0), "max_length=0"),
                ((ROLLS, 2, 0, 1, None, 2.5), "max_length=2.5"),
                ((ROLLS, 2, 0, None, None, 4), "max_length=4, seed=None"),
                (([np.float32(1)], 2), r"\(time, keys\).*Received: shape \(\)"),
                (([*ROLLS, ROLLS[0][:, 1:]], 2), "Received: shape"),
                (
                    ([np.eye(3, 88), np.eye(0, 88)], 1),
                    "none in the piece at index 1",
                ),
            ]
        ),
    ],
)
def test_what_is_wrong_is_said(call, error, message, tmp_path):
    with pytest.raises(error, match=message):
        call(tmp_path)
