"""Batches of examples of similar length."""

import tensorflow as tf

from kerasrnn.data.untuned import untuned

# How many batches are sorted by length together. More means less padding,
# and less shuffling.
POOL = 50


def index_batches(lengths, batch_size, seed=None):
    """Batches of the indices of examples, by length.

    Args:
        lengths: Integer tensor of shape `(examples,)`.
        batch_size: Positive integer, examples in a batch.
        seed: Integer, the seed of the shuffling, which differs in every
            epoch. `None` sorts all examples by length instead.

    Returns:
        A `tf.data.Dataset` of int64 tensors of shape `(batch,)`.
    """
    count = len(lengths)
    dataset = tf.data.Dataset.range(count)
    pool = count
    if seed is not None:
        dataset = dataset.shuffle(count, seed=seed)
        pool = POOL * batch_size

    def sorted_batches(indices):
        order = tf.argsort(tf.gather(lengths, indices))
        indices = tf.gather(indices, order)
        return tf.data.Dataset.from_tensor_slices(indices).batch(batch_size)

    dataset = dataset.batch(pool).flat_map(sorted_batches)
    if seed is not None:
        dataset = dataset.shuffle(POOL, seed=seed)
    batches = -(-count // batch_size)
    dataset = dataset.apply(tf.data.experimental.assert_cardinality(batches))
    return untuned(dataset)
