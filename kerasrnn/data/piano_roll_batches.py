"""Length-bucketed batches of piano rolls."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from kerasrnn.data.length_buckets import index_batches
from kerasrnn.data.piano_rolls import check_rolls


def piano_roll_batches(
    rolls: Sequence[np.ndarray],
    batch_size: int,
    transpose: int = 0,
    seed: int | None = None,
    keys: int | None = None,
) -> tf.data.Dataset:
    """Batches of piano rolls for `PianoRollModel.fit`.

    The labels are the pieces, and the inputs are the pieces shifted by one
    step, after a step of silence: every step of a piece is predicted from
    those before it. Pieces of similar length share a batch, which keeps
    padding low.

    Args:
        rolls: List of arrays of shape `(time, keys)`, zeros and ones.
        batch_size: Positive integer, pieces in a batch.
        transpose: Integer. Every piece is shifted by up to so many semitones
            up or down, differently in every epoch; no note is lost.
        seed: Integer, the seed of the shuffling and of the transposition,
            which differ in every epoch. `None` sorts the pieces by length
            and transposes none.
        keys: Positive integer, the number of keys of every piece. Defaults to
            `None`, the number of keys of the first piece.

    Returns:
        A `tf.data.Dataset` of `(inputs, labels)`: float32 inputs of shape
        `(batch, time, keys)`, and int8 labels of that shape, -1 after the
        end of a piece.

    Raises:
        ValueError: when there is no piece, or one is no roll; `batch_size`
            is not positive; or `transpose` is negative or is given without a
            `seed`.

    Example:

    >>> rolls = [np.eye(2), np.eye(1, 2)]
    >>> (inputs, labels), = piano_roll_batches(rolls, 2)
    >>> labels.numpy().tolist()
    [[[1, 0], [-1, -1]], [[1, 0], [0, 1]]]
    >>> inputs[1].numpy().tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    if not len(rolls) or batch_size < 1:
        raise ValueError(
            "`rolls` must hold at least one piece, and `batch_size` must be "
            f"positive. Received: {len(rolls)} pieces, "
            f"batch_size={batch_size}"
        )
    if transpose < 0 or (transpose and seed is None):
        raise ValueError(
            "`transpose` must be 0, or positive and with a `seed`. "
            f"Received: transpose={transpose}, seed={seed}"
        )
    check_rolls(rolls, keys)
    lengths = [len(roll) for roll in rolls]
    rows = tf.RaggedTensor.from_row_lengths(
        np.concatenate(rolls).astype("int8"), lengths
    )
    dataset = index_batches(lengths, batch_size, seed)
    dataset = dataset.map(lambda indices: tf.gather(rows, indices))
    if transpose:
        numbers = tf.data.Dataset.random(seed, rerandomize_each_iteration=True)
        dataset = tf.data.Dataset.zip(dataset, numbers.batch(batch_size))
        dataset = dataset.map(
            lambda rows, numbers: _transposed(rows, transpose, numbers)
        )
    return dataset.map(_with_inputs).prefetch(2)


def _transposed(rows, most, numbers):
    """Shifts each piece by a random interval that keeps all its notes.

    Args:
        rows: Ragged tensor of shape `(batch, time, keys)`.
        most: Integer, the greatest shift.
        numbers: Integer tensor of random numbers, at least one a piece.
    """
    used = tf.reduce_max(rows, axis=1) > 0
    keys = tf.shape(used)[1]
    lowest = tf.argmax(used, axis=1, output_type=tf.int32)
    above = tf.argmax(used[:, ::-1], axis=1, output_type=tf.int32)
    down, up = tf.minimum(lowest, most), tf.minimum(above, most)
    numbers = tf.cast(numbers[: tf.shape(used)[0]] % 2**31, tf.int32)
    shift = numbers % (down + up + 1) - down
    sources = (tf.range(keys) - shift[:, None]) % keys
    sources = tf.gather(sources, rows.value_rowids())
    return rows.with_values(tf.gather(rows.values, sources, batch_dims=1))


def _with_inputs(rows):
    """Returns the inputs and labels of pieces `(batch, time, keys)`."""
    labels = rows.to_tensor(-1)
    inputs = tf.cast(tf.maximum(labels[:, :-1], 0), tf.float32)
    return tf.pad(inputs, [[0, 0], [1, 0], [0, 0]]), labels
