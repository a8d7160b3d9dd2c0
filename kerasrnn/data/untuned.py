"""Datasets that end without a delay."""

import tensorflow as tf


def untuned(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Returns a dataset that tf.data does not tune while it runs.

    Tuning is done by a thread that sleeps for longer and longer, up to a
    minute. At the end of an epoch the iterator waits for it, and TensorFlow
    2.21 often fails to wake it. Our datasets leave nothing to tune: their
    batches are small, and ready long before a model needs them.
    """
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.with_options(options)
