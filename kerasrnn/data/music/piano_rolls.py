"""Corpora of piano rolls, and batches of them."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from kerasrnn.arguments import integer
from kerasrnn.arguments import optional_positive_integer
from kerasrnn.data.batches import index_batches
from kerasrnn.data.music.midi import KEYS
from kerasrnn.data.music.midi import read_midi
from kerasrnn.data.reading.text_files import existing_path
from kerasrnn.data.reading.text_files import parsing
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import Report
from kerasrnn.optional import needs
from kerasrnn.typing import PathLike
from kerasrnn.typing import Rolls

_PIECES = 3  # minimum number of pieces to split
_MIDI = (".mid", ".midi")
_PARTS = ("traindata", "validdata", "testdata")


class PianoRollCorpus(NamedTuple):
    """A corpus of piano rolls.

    A piece is a uint8 array of shape `(time, 88)`, 1 where a key sounds.

    Args:
        train: List of pieces, the training set.
        validation: List of pieces, the validation set.
        test: List of pieces, the test set, or `None`.
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
        path: String or path of the `.mat` file or the folder.
        limit: Positive integer, maximum number of pieces: of each part of a
            MATLAB file, or of a folder (at least three). Defaults to `None`, no
            limit.
        steps_per_beat: Positive integer, time steps in a quarter note of the
            MIDI files.

    Returns:
        A `PianoRollCorpus`, a named tuple of `train`, `validation` and
        `test`.

    Raises:
        CorpusError: If the MATLAB file cannot be read, a piece is not a matrix
            of zeros and ones with 88 columns, a folder has fewer than three
            readable MIDI files, or `path` is a single MIDI file. It is a
            `ValueError`.
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
    report = Report(path, "file")
    rolls = []
    for report.seen, file in enumerate(files[:limit], start=1):
        try:
            rolls.append(read_midi(file, steps_per_beat))
        except CorpusError as error:
            report.add(file.relative_to(path).as_posix(), error)
    if len(rolls) < _PIECES:
        raise CorpusError(
            f"The folder {path} has too few readable pieces. Expected: at "
            f"least {_PIECES} MIDI files (.mid). Received: {report.received(1)}"
        )
    report.warn()
    return split_piano_rolls(rolls)


def split_piano_rolls(rolls: Rolls) -> PianoRollCorpus:
    """Splits pieces into training, validation and test sets.

    The last tenth of the pieces is the test set, and the tenth before it is the
    validation set. Each has at least one piece.

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
            f"There are too few pieces to split. Expected: at least {_PIECES}. "
            f"Received: {len(rolls)}"
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

    with parsing(path, f"a MATLAB file of piano rolls of shape (time, {KEYS})"):
        found = scipy.io.loadmat(path)
        parts = {
            name: [np.asarray(x) for x in found[name].ravel()[:limit]]
            for name in _PARTS
            if name in found
        }
        rolls = list(itertools.chain(*parts.values()))
        check_rolls(rolls, KEYS)
        if not all(map(len, rolls)):
            raise ValueError("a piece without time steps")
    if not {*_PARTS[:2]} <= {*parts}:
        names = ", ".join(name for name in found if not name.startswith("_"))
        raise CorpusError(
            f"The file {path} lacks a part of the corpus. Expected: the "
            f"variables {', '.join(_PARTS)}. Received: {names or 'none'}"
        )
    return PianoRollCorpus(
        *(
            [x.astype("uint8") for x in parts[name]] if name in parts else None
            for name in _PARTS
        )
    )


def check_rolls(rolls: Rolls, keys: int | None = None) -> None:
    """Raises an error unless all arrays are piano rolls.

    Args:
        rolls: List of arrays of shape `(time, keys)`, zeros and ones.
        keys: Integer; `None` for the number of the first array.

    Raises:
        ValueError: If one is not a piano roll.
    """
    for roll in map(np.asarray, rolls):
        if keys is None and roll.ndim == 2:
            keys = roll.shape[1]
        others, has_shape = roll[~np.isin(roll, (0, 1))], roll.ndim == 2
        if not has_shape or roll.shape[1] != keys or others.size:
            found = f"values such as {others[0]}" if others.size else "0 and 1"
            raise ValueError(
                f"A piano roll must have the shape (time, {keys or 'keys'}), "
                "and be 1 where a key sounds and 0 elsewhere. Received: shape "
                f"{roll.shape} with {found}"
            )


def piano_roll_batches(
    rolls: Sequence[np.ndarray],
    batch_size: int,
    transpose: int = 0,
    seed: int | None = None,
    keys: int | None = None,
    max_length: int | None = None,
) -> tf.data.Dataset:
    """Returns batches of piano rolls for `PianoRollModel.fit`.

    The labels are the pieces, and the inputs are the pieces delayed by a step
    of silence, so every step is predicted from the steps before it. Pieces of
    similar length share a batch, which reduces padding.

    Args:
        rolls: List of arrays of shape `(time, keys)`, zeros and ones.
        batch_size: Positive integer, pieces in a batch.
        transpose: Integer. Every piece is transposed by up to this many
            semitones up or down, differently in every epoch, without losing
            notes.
        seed: Integer, the seed of shuffling and transposition, which differ in
            every epoch. `None` sorts the pieces by length and does not
            transpose.
        keys: Positive integer, the number of keys of every piece. Defaults to
            `None`, the number of the first piece.
        max_length: Positive integer. A longer piece is cut into parts of this
            many steps, at different positions in every epoch. A model learns
            faster from many short parts than from few long pieces. Defaults to
            `None`, whole pieces.

    Returns:
        A `tf.data.Dataset` of `(inputs, labels)`: float32 inputs of shape
        `(batch, time, keys)`, and int8 labels of that shape, -1 after the
        end of a piece.

    Raises:
        ValueError: when there are no pieces, or one is not a roll or has no
            steps; when `batch_size` or `max_length` is not positive or
            `transpose` is negative; or when `transpose` or `max_length` is
            given without a `seed`.

    Example:

    >>> rolls = [np.eye(2), np.eye(1, 2)]
    >>> (inputs, labels), = piano_roll_batches(rolls, 2)
    >>> labels.numpy().tolist()
    [[[1, 0], [-1, -1]], [[1, 0], [0, 1]]]
    >>> inputs[1].numpy().tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    if not len(rolls):
        raise ValueError("`rolls` must have at least one piece. Received: none")
    integer("transpose", transpose, minimum=0)
    optional_positive_integer("max_length", max_length)
    if seed is None and (transpose or max_length):
        raise ValueError(
            "`transpose` and `max_length` need a `seed`. Received: "
            f"transpose={transpose}, max_length={max_length}, seed=None"
        )
    check_rolls(rolls, keys)
    lengths = np.array([len(roll) for roll in rolls])
    if not lengths.all():
        raise ValueError(
            "Each piece must have at least one step. Received: none in the "
            f"piece at index {lengths.argmin()}"
        )
    most = max_length or lengths.max()
    counts = -(-lengths // most)
    pieces = np.repeat(np.arange(len(rolls)), counts)
    starts = np.concatenate([most * np.arange(count) for count in counts])
    # Pieces after a step of silence.
    silence = np.zeros((1, rolls[0].shape[1]))
    steps = np.concatenate([x for roll in rolls for x in (silence, roll)])
    rows = tf.RaggedTensor.from_row_lengths(steps.astype("int8"), lengths + 1)

    def examples(parts, numbers):
        moves, shifts = tf.unstack(numbers[: tf.size(parts)], 2, axis=1)
        piece, start = tf.gather(pieces, parts), tf.gather(starts, parts)
        cut = _part(rows, piece, start, most, moves)
        cut = _transposed(cut, transpose, shifts)
        inputs = tf.cast(cut.to_tensor()[:, :-1], tf.float32)
        return inputs, cut[:, 1:].to_tensor(-1)

    dataset = index_batches(np.minimum(lengths, most)[pieces], batch_size, seed)
    numbers = tf.data.Dataset.random(seed, rerandomize_each_iteration=True)
    numbers = numbers.batch(2).batch(batch_size)
    dataset = tf.data.Dataset.zip(dataset, numbers).map(examples)
    return dataset.prefetch(2)


def _part(rows, piece, start, most, numbers):
    """Cuts a part out of each piece longer than `most` steps.

    Args:
        rows: Ragged tensor of all pieces, `(pieces, 1 + time, keys)`.
        piece: Integer tensor of shape `(batch,)`, the pieces to cut.
        start: Integer tensor of the same shape. A part begins randomly up to
            `most / 2` steps before or after it.
        most: Integer, the length of a part.
        numbers: Integer tensor of the same shape, random numbers.

    Returns:
        Ragged tensor `(batch, 1 + time, keys)`: the parts, each preceded by the
        step before it.
    """
    first, limit = (
        tf.gather(x, piece) for x in (rows.row_starts(), rows.row_limits())
    )
    start += numbers % most - most // 2
    first += tf.clip_by_value(start, 0, tf.maximum(limit - first - 1 - most, 0))
    positions = tf.ragged.range(first, tf.minimum(first + 1 + most, limit))
    return tf.gather(rows.values, positions)


def _transposed(rows, most, numbers):
    """Transposes each piece by a random interval without losing notes.

    Args:
        rows: Ragged tensor of shape `(batch, time, keys)`.
        most: Integer, the maximum shift.
        numbers: Integer tensor of random numbers, one for each piece.
    """
    if not most:
        return rows
    used = tf.reduce_max(rows, axis=1) > 0
    keys = tf.shape(used)[1]
    lowest = tf.argmax(used, axis=1, output_type=tf.int32)
    above = tf.argmax(used[:, ::-1], axis=1, output_type=tf.int32)
    down, up = tf.minimum(lowest, most), tf.minimum(above, most)
    shift = tf.cast(numbers % 2**31, tf.int32) % (down + up + 1) - down
    sources = (tf.range(keys) - shift[:, None]) % keys
    sources = tf.gather(sources, rows.value_rowids())
    return rows.with_values(tf.gather(rows.values, sources, batch_dims=1))
