"""Reading a corpus of piano rolls, in three parts."""

import zlib
from typing import NamedTuple

import numpy as np

from kerasrnn.arguments import optional_positive_integer
from kerasrnn.data.music.midi import KEYS
from kerasrnn.data.music.midi import read_midi
from kerasrnn.data.reading.text_files import existing_path
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import Report
from kerasrnn.optional import needs
from kerasrnn.typing import PathLike
from kerasrnn.typing import Rolls

_PIECES = 3  # the least to divide
_MIDI = (".mid", ".midi")
_PARTS = ("traindata", "validdata", "testdata")


class PianoRollCorpus(NamedTuple):
    """The pieces of a corpus.

    A piece is a uint8 array of shape `(time, 88)`, 1 where a key sounds.

    Args:
        train: List of pieces, the training set.
        validation: List of pieces, the validation set.
        test: List of pieces, the test set; `None` if there is none.
    """

    train: list[np.ndarray]
    validation: list[np.ndarray]
    test: list[np.ndarray] | None


def read_piano_rolls(
    path: PathLike, limit: int | None = None, steps_per_beat: int = 1
) -> PianoRollCorpus:
    """Reads a MATLAB file of piano rolls, or a folder of MIDI files.

    The MATLAB file has the variables `traindata`, `validdata` and preferably
    `testdata`, each a list of matrices of shape `(time, 88)`, as the public
    files of Boulanger-Lewandowski et al. (2012) have them. It needs SciPy.

    The MIDI files, which end in `.mid` or `.midi`, may be in sub-folders.
    They are read by `read_midi` in the order of their names, and divided by
    `split_piano_rolls`. Files that cannot be read are left out and reported
    in a `CorpusWarning`. It needs mido.

    Args:
        path: String or path of the `.mat` file, or of the folder.
        limit: Positive integer, how many pieces to keep, the first: of each
            part of a MATLAB file; or of a folder, then at least three.
            Defaults to `None`, which keeps all.
        steps_per_beat: Positive integer, time steps in a quarter note of the
            MIDI files.

    Returns:
        A `PianoRollCorpus`, a named tuple of `train`, `validation` and
        `test`.

    Raises:
        CorpusError: If the MATLAB file cannot be read, a piece is not a
            matrix of zeros and ones of 88 columns, a folder has fewer than
            three MIDI files that can be read, or `path` is one of them. It is
            a `ValueError`.
        FileNotFoundError: If there is nothing at `path`.
        ValueError: If `limit` or `steps_per_beat` is not a positive integer.

    Example:

    >>> import scipy.io
    >>> pieces = np.empty((1, 2), object)
    >>> pieces[0, :] = [np.eye(3, 88), np.eye(5, 88)]
    >>> parts = {"traindata": pieces, "validdata": pieces}
    >>> scipy.io.savemat("rolls.mat", parts)
    >>> corpus = read_piano_rolls("rolls.mat")
    >>> [roll.shape for roll in corpus.train], corpus.test
    ([(3, 88), (5, 88)], None)

    Reference:
        [Boulanger-Lewandowski et al., 2012](https://arxiv.org/abs/1206.6392).
    """
    optional_positive_integer("limit", limit)
    path = existing_path(path)
    if not path.is_dir():
        if path.suffix.lower() in _MIDI:
            raise CorpusError(
                f"The file {path} is a single piece. Expected: a folder of "
                f"at least {_PIECES} MIDI files. Received: one file"
            )
        return _read_matlab(path, limit)
    files = sorted(
        file
        for file in path.rglob("*")
        # macOS adds hidden files to archives.
        if file.suffix.lower() in _MIDI and not file.name.startswith(".")
    )
    if len(files) < _PIECES:
        raise CorpusError(
            f"The folder {path} has too few pieces to divide. Expected: at "
            f"least {_PIECES} MIDI files (.mid). Received: {len(files)}"
        )
    report = Report(path, "file")
    rolls = []
    for report.seen, file in enumerate(files[:limit], start=1):
        try:
            rolls.append(read_midi(file, steps_per_beat))
        except CorpusError as error:
            report.add(file.relative_to(path).as_posix(), error)
    if len(rolls) < _PIECES <= report.seen:
        raise CorpusError(
            f"The folder {path} has too few pieces that can be read. "
            f"Expected: at least {_PIECES}. Received: {report.received(1)}"
        )
    report.warn()
    return split_piano_rolls(rolls)


def split_piano_rolls(rolls: Rolls) -> PianoRollCorpus:
    """Divides pieces into training, validation and test.

    The last tenth of the pieces is the test set, and the tenth before it
    the validation set; each has at least one.

    Args:
        rolls: List of at least three arrays of shape `(time, 88)`.

    Returns:
        A `PianoRollCorpus`.

    Raises:
        CorpusError: If there are fewer than three pieces.

    Example:

    >>> corpus = split_piano_rolls([np.eye(2, 88)] * 20)
    >>> [len(part) for part in corpus]
    [16, 2, 2]
    """
    if len(rolls) < _PIECES:
        raise CorpusError(
            "There are too few pieces to divide. Expected: at least "
            f"{_PIECES}. Received: {len(rolls)}"
        )
    few = max(1, len(rolls) // 10)
    first, last = len(rolls) - 2 * few, len(rolls) - few
    return PianoRollCorpus(
        list(rolls[:first]), list(rolls[first:last]), list(rolls[last:])
    )


def _read_matlab(path, limit):
    """Reads the three parts of a MATLAB file."""
    with needs("scipy", "recipes"):
        import scipy.io

    # The errors of SciPy when a file is damaged or of another kind.
    damage = (
        NotImplementedError,
        OSError,
        TypeError,
        ValueError,
        scipy.io.matlab.MatReadError,
        zlib.error,
    )
    try:
        found = scipy.io.loadmat(path)
    except damage as error:
        raise CorpusError(
            f"The file {path} cannot be read. Expected: a MATLAB file of "
            f"piano rolls. Received: {error}"
        ) from error
    missing = [name for name in _PARTS[:2] if name not in found]
    if missing:
        names = ", ".join(name for name in found if not name.startswith("_"))
        raise CorpusError(
            f"The file {path} lacks a part of the corpus. Expected: the "
            f"variables {', '.join(_PARTS)}. Received: {names or 'none'}"
        )
    return PianoRollCorpus(
        *(
            [_read_roll(roll, path) for roll in found[name].ravel()[:limit]]
            if name in found
            else None
            for name in _PARTS
        )
    )


def _read_roll(roll, path):
    """Returns a piece of a file as uint8."""
    roll = np.asarray(roll)
    problem = _problem(roll, KEYS) or (None if len(roll) else "no time step")
    if problem:
        raise CorpusError(
            f"The file {path} contains a matrix that is not a piano roll. "
            f"Expected: zeros and ones of shape (time, {KEYS}). Received: "
            f"{problem}"
        )
    return roll.astype("uint8")


def check_rolls(rolls: Rolls, keys: int | None = None) -> None:
    """Raises an error unless all arrays are piano rolls.

    Args:
        rolls: List of arrays of shape `(time, keys)`, zeros and ones.
        keys: Integer; `None` for as many as the first array has.

    Raises:
        ValueError: If one is not.
    """
    for roll in map(np.asarray, rolls):
        if keys is None and roll.ndim == 2:
            keys = roll.shape[1]
        if problem := _problem(roll, keys):
            raise ValueError(
                f"A piano roll must have the shape (time, {keys or 'keys'}), "
                "and be 1 where a key sounds, 0 elsewhere. "
                f"Received: {problem}"
            )


def _problem(roll, keys):
    """What keeps an array from being a piano roll; `None` if it is one."""
    if roll.ndim != 2 or roll.shape[1] != keys:
        return f"shape {roll.shape}"
    others = roll[~np.isin(roll, (0, 1))]
    return f"a value of {others[0]}" if others.size else None
