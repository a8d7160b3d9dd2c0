"""Reading a corpus of piano rolls, in three parts."""

from typing import NamedTuple

import numpy as np

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.lines import check_limit
from kerasrnn.data.lines import existing_path
from kerasrnn.typing import PathLike

KEYS = 88
"""Keys of a piano; key 0 is A0, MIDI note 21."""

_PARTS = ("traindata", "validdata", "testdata")


class PianoRollCorpus(NamedTuple):
    """The pieces of a corpus.

    A piece is a uint8 array of shape `(time, 88)`, 1 where a key sounds.

    Args:
        train: List of pieces, the training part.
        validation: List of pieces, the validation part.
        test: List of pieces, the test part; `None` if there is none.
    """

    train: list[np.ndarray]
    validation: list[np.ndarray]
    test: list[np.ndarray] | None


def read_piano_rolls(
    path: PathLike, limit: int | None = None
) -> PianoRollCorpus:
    """Reads piano rolls from a MATLAB file.

    The file has the variables `traindata`, `validdata` and preferably
    `testdata`, each a list of matrices of shape `(time, 88)`, as the public
    files of Boulanger-Lewandowski et al. (2012) have them. It needs SciPy.

    Args:
        path: String or path of the `.mat` file.
        limit: Positive integer, how many pieces of each part to keep: the
            first. Defaults to `None`, which keeps all.

    Returns:
        A `PianoRollCorpus`, a named tuple of `train`, `validation` and
        `test`.

    Raises:
        CorpusError: If the file is not such a file, or a piece is not a
            matrix of zeros and ones of 88 columns. It is a `ValueError`.
        FileNotFoundError: If there is nothing at `path`.
        ValueError: If `limit` is not a positive integer.

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
    # Only recipes need it; without it, the package is imported faster.
    import scipy.io

    check_limit(limit)
    path = existing_path(path)
    try:
        found = scipy.io.loadmat(path)
    # The errors of SciPy when a file is damaged or of another kind.
    except (ValueError, TypeError, OSError, NotImplementedError) as error:
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
    parts = [
        [_checked(roll, path) for roll in found[name].ravel()[:limit]]
        if name in found
        else None
        for name in _PARTS
    ]
    return PianoRollCorpus(*parts)


def _checked(roll, path):
    """Returns a piece as uint8, if it is one."""
    roll = np.asarray(roll)
    is_roll = roll.ndim == 2 and roll.shape[1] == KEYS and len(roll)
    if not is_roll or not np.isin(roll, (0, 1)).all():
        raise CorpusError(
            f"The file {path} contains a matrix that is not a piano roll. "
            f"Expected: zeros and ones of shape (time, {KEYS}). Received: "
            f"{roll.dtype} of shape {roll.shape}"
        )
    return roll.astype("uint8")
