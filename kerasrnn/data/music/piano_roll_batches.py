"""Length-bucketed batches of piano rolls."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from kerasrnn.arguments import integer
from kerasrnn.arguments import optional_positive_integer
from kerasrnn.arguments import positive_integer
from kerasrnn.data.batches import index_batches
from kerasrnn.data.music.piano_rolls import check_rolls


def piano_roll_batches(
    rolls: Sequence[np.ndarray],
    batch_size: int,
    transpose: int = 0,
    seed: int | None = None,
    keys: int | None = None,
    max_length: int | None = None,
) -> tf.data.Dataset:
    """Batches of piano rolls for `PianoRollModel.fit`.

    The labels are the pieces, and the inputs are the pieces shifted by one
    step, after a step of silence: every step of a piece is predicted from
    those before it. Pieces of similar length share a batch, which keeps
    padding low.

    Args:
        rolls: List of arrays of shape `(time, keys)`, zeros and ones.
        batch_size: Positive integer, pieces in a batch.
        transpose: Integer. Every piece is shifted by up to this many semitones
            up or down, differently in every epoch; no note is lost.
        seed: Integer, the seed of the shuffling and of the transposition,
            which differ in every epoch. `None` sorts the pieces by length
            and transposes none.
        keys: Positive integer, the number of keys of every piece. Defaults to
            `None`, the number of keys of the first piece.
        max_length: Positive integer. A longer piece is cut into as many parts
            of this many steps as cover it, at other positions in every epoch. A
            model learns faster from many short parts than from few long
            pieces. Defaults to `None`, whole pieces.

    Returns:
        A `tf.data.Dataset` of `(inputs, labels)`: float32 inputs of shape
        `(batch, time, keys)`, and int8 labels of that shape, -1 after the
        end of a piece.

    Raises:
        ValueError: when there is no piece, or one is not a roll or has no
            step; `batch_size` or `max_length` is not positive; `transpose` is
            negative; or `transpose` or `max_length` is given without a `seed`.

    Example:

    >>> rolls = [np.eye(2), np.eye(1, 2)]
    >>> (inputs, labels), = piano_roll_batches(rolls, 2)
    >>> labels.numpy().tolist()
    [[[1, 0], [-1, -1]], [[1, 0], [0, 1]]]
    >>> inputs[1].numpy().tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    if not len(rolls):
        raise ValueError("`rolls` must hold at least one piece. Received: none")
    positive_integer("batch_size", batch_size)
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
            "Each piece must have a step. Received: none in the piece at "
            f"index {lengths.argmin()}"
        )
    most = max_length or lengths.max()
    counts = -(-lengths // most)
    pieces = np.repeat(np.arange(len(rolls)), counts)
    starts = np.concatenate([most * np.arange(count) for count in counts])
    rows = _after_silence(rolls)

    def examples(parts, numbers):
        moves, shifts = tf.unstack(numbers[: tf.size(parts)], 2, axis=1)
        piece, start = tf.gather(pieces, parts), tf.gather(starts, parts)
        cut = _part(rows, piece, start, most, moves)
        return _transposed(cut, transpose, shifts)

    dataset = index_batches(np.minimum(lengths, most)[pieces], batch_size, seed)
    numbers = tf.data.Dataset.random(seed, rerandomize_each_iteration=True)
    numbers = numbers.batch(2).batch(batch_size)
    dataset = tf.data.Dataset.zip(dataset, numbers).map(examples)
    return dataset.map(_with_inputs).prefetch(2)


def _after_silence(rolls):
    """Returns a ragged int8 tensor of the pieces, after a step of silence."""
    silence = np.zeros((1, rolls[0].shape[1]))
    steps = [x for roll in rolls for x in (silence, roll)]
    return tf.RaggedTensor.from_row_lengths(
        np.concatenate(steps).astype("int8"), [len(roll) + 1 for roll in rolls]
    )


def _part(rows, piece, start, most, numbers):
    """Cuts a part out of each piece that is longer than `most` steps.

    Args:
        rows: Ragged tensor of all pieces, `(pieces, 1 + time, keys)`.
        piece: Integer tensor of shape `(batch,)`, the pieces to cut.
        start: Integer tensor of the same shape. A part begins up to `most / 2`
            steps before or after it, at a random position.
        most: Integer, the length of a part.
        numbers: Integer tensor of the same shape, random numbers.

    Returns:
        Ragged tensor `(batch, 1 + time, keys)`: the parts, after the step
        before them.
    """
    first, limit = (
        tf.gather(x, piece) for x in (rows.row_starts(), rows.row_limits())
    )
    start += numbers % most - most // 2
    last_start = tf.maximum(limit - first - 1 - most, 0)
    first += tf.clip_by_value(start, 0, last_start)
    positions = tf.ragged.range(first, tf.minimum(first + 1 + most, limit))
    return tf.gather(rows.values, positions)


def _transposed(rows, most, numbers):
    """Shifts each piece by a random interval that keeps all its notes.

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


def _with_inputs(rows):
    """Returns inputs and labels of pieces `(batch, 1 + time, keys)`."""
    inputs = tf.cast(rows.to_tensor()[:, :-1], tf.float32)
    return inputs, rows[:, 1:].to_tensor(-1)
