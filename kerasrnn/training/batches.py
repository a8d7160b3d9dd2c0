"""Endless repetition of batches, starting at any batch."""

import itertools

import keras
import numpy as np


def check_batches(batches):
    """Raises `ValueError` unless `batches` is a dataset of known length."""
    if not (_is_python(batches) or hasattr(batches, "element_spec")):
        raise ValueError(
            "`batches` must be a `tf.data.Dataset` or a "
            "`keras.utils.PyDataset`. "
            f"Received: batches of type {type(batches).__name__}"
        )
    # A `tf.data.Dataset` of unknown length raises an error itself.
    if not len(batches):
        raise ValueError(
            "`batches` must contain at least one batch. Received: batches of "
            "length 0"
        )


def check_validation(batches, validation):
    """Raises `ValueError` if both are parts of one reshuffled dataset.

    The next order of a `tf.data.Dataset` depends on how often it was read, and
    Keras and TensorFlow read ahead.

    Args:
        batches: `tf.data.Dataset` or `keras.utils.PyDataset` to train on.
        validation: `validation_data` of `keras.Model.fit`.
    """
    if _reshuffled(batches) & _reshuffled(validation):
        raise ValueError(
            "`batches` and `validation_data` are parts of one dataset that is "
            "reshuffled each time it is read. So the model would be validated "
            "on rows that it was trained on, and the training could not be "
            "resumed exactly. Expected: a dataset that is split before it is "
            "shuffled, or `shuffle(..., reshuffle_each_iteration=False)`. "
            "Received: a `shuffle` that both share"
        )


def _reshuffled(data):
    """Returns the ids of all reshuffled datasets inside another one."""
    if type(data).__name__ == "_CacheDataset":
        return set()  # It keeps its first order.
    inputs = getattr(data, "_inputs", tuple)()
    found = set().union(*(_reshuffled(x) for x in inputs))
    if getattr(data, "_reshuffle_each_iteration", False):
        found.add(id(data))
    return found


def check_executions(model, steps, done):
    """Raises `ValueError` unless `steps_per_execution` divides an epoch.

    Args:
        model: A compiled `keras.Model`.
        steps: Integer, the number of batches in an epoch.
        done: Integer, number of finished batches of the epoch to resume.
    """
    size = model.steps_per_execution
    if steps % size or done % size:
        raise ValueError(
            "Keras would train on more batches than there are in an epoch. "
            "Expected: a `steps_per_execution` that divides the number of "
            f"batches, {steps}, and of those already trained on, {done}. "
            f"Received: steps_per_execution={size}"
        )


def endless(batches, start):
    """Repeats batches endlessly, for `keras.Model.fit`.

    Args:
        batches: `tf.data.Dataset` or `keras.utils.PyDataset` of known length.
        start: Integer, number of batches to skip at the start.
    """
    if _is_python(batches):
        # A generator, because Keras cannot end an epoch of a `PyDataset` early.
        return (
            batches[index % len(batches)] for index in itertools.count(start)
        )
    return batches.repeat().skip(start)


def zeros(batches):
    """Returns a batch of zeros, without drawing one from a `tf.data.Dataset`.

    Args:
        batches: `tf.data.Dataset` or `keras.utils.PyDataset`.
    """
    if _is_python(batches):
        return keras.tree.map_structure(np.zeros_like, batches[0])
    return keras.tree.map_structure(
        lambda spec: np.zeros(
            [size or 1 for size in spec.shape], spec.dtype.as_numpy_dtype
        ),
        batches.element_spec,
    )


def _is_python(batches):
    return isinstance(batches, keras.utils.PyDataset)
