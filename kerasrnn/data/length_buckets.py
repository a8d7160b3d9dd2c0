"""Batches of rows of similar length."""

import tensorflow as tf

from kerasrnn.arguments import positive_integer
from kerasrnn.data.untuned import untuned

# How many batches are sorted by length together. More means less padding,
# and less shuffling.
POOL = 50


def length_batches(count, encode, batch_size, seed=None, pool=None):
    """Batches of encoded rows, by length.

    Pools of rows are encoded in parallel, but in the same order each time: a
    seed gives the same batches.

    Args:
        count: Positive integer, the number of rows.
        encode: Function from an int64 tensor of indices of rows, `(pool,)`, to
            a tuple of their lengths, `(pool,)`, and a nest of tensors, ragged
            or not, of as many rows.
        batch_size: Positive integer, rows in a batch.
        seed: Integer, the seed of the shuffling, which differs in every
            epoch. `None` keeps the order of the pools.
        pool: Positive integer, rows that are sorted together. Defaults to
            those of 50 batches.

    Returns:
        A `tf.data.Dataset` of such nests, of `batch_size` rows.

    Raises:
        ValueError: when `batch_size` is not a positive integer.
    """
    positive_integer("batch_size", batch_size)
    dataset = tf.data.Dataset.range(count)
    if seed is not None:
        dataset = dataset.shuffle(count, seed=seed)

    def sorted_rows(indices):
        lengths, rows = encode(indices)
        order = tf.argsort(lengths)
        return tf.nest.map_structure(lambda x: tf.gather(x, order), rows)

    def batches(*rows):
        rows = rows if len(rows) > 1 else rows[0]
        return tf.data.Dataset.from_tensor_slices(rows).batch(batch_size)

    dataset = dataset.batch(pool or POOL * batch_size)
    dataset = in_parallel(dataset, sorted_rows).flat_map(batches)
    if seed is not None:
        dataset = dataset.shuffle(POOL, seed=seed)
    size = -(-count // batch_size)
    dataset = dataset.apply(tf.data.experimental.assert_cardinality(size))
    return untuned(dataset)


def index_batches(lengths, batch_size, seed=None):
    """Batches of the indices of rows, by length.

    Args:
        lengths: Integer tensor of shape `(rows,)`.
        batch_size: Positive integer, rows in a batch.
        seed: As in `length_batches`; but `None` sorts all rows by length.

    Returns:
        A `tf.data.Dataset` of int64 tensors of shape `(batch,)`.
    """

    def encode(indices):
        return tf.gather(lengths, indices), indices

    pool = len(lengths) if seed is None else None
    return length_batches(len(lengths), encode, batch_size, seed, pool)


def in_parallel(dataset, function):
    """Maps a dataset by several threads, which keep its order."""
    return dataset.map(
        function, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True
    )
