"""Batches that repeat without end, from any batch on."""

import itertools

import keras
import numpy as np


def check_batches(batches):
    """Raises `ValueError` unless they are a dataset of a known length."""
    if not (_is_python(batches) or hasattr(batches, "element_spec")):
        raise ValueError(
            "`batches` must be a `tf.data.Dataset` or a "
            "`keras.utils.PyDataset`. "
            f"Received: batches of type {type(batches).__name__}"
        )
    # A `tf.data.Dataset` says itself if its length is not known.
    if not len(batches):
        raise ValueError(
            "`batches` must hold at least one batch. Received: batches of "
            "length 0"
        )


def check_validation(batches, validation):
    """Raises `ValueError` if both depend on how often the other is read.

    What a `tf.data.Dataset` is shuffled by at its next reading depends on how
    often it was read, and Keras and TensorFlow read ahead.

    Args:
        batches: `tf.data.Dataset` or `keras.utils.PyDataset` to train on.
        validation: What `keras.Model.fit` is to validate on.
    """
    if _reshuffled(batches) & _reshuffled(validation):
        raise ValueError(
            "`batches` and `validation_data` are parts of one dataset that is "
            "reshuffled each time it is read, so that rows are validated on "
            "that were trained on, and no training can be resumed exactly. "
            "Expected: a dataset that is divided before it is shuffled, or "
            "`shuffle(..., reshuffle_each_iteration=False)`. Received: a "
            "`shuffle` that both have"
        )


def _reshuffled(data):
    """The identities of all datasets in another that are reshuffled."""
    if type(data).__name__ == "_CacheDataset":
        return set()  # It keeps the order of its first reading.
    inputs = getattr(data, "_inputs", tuple)()
    found = set().union(*(_reshuffled(x) for x in inputs))
    if getattr(data, "_reshuffle_each_iteration", False):
        found.add(id(data))
    return found


def check_executions(model, steps, done):
    """Raises `ValueError` unless an epoch consists of whole executions.

    Args:
        model: A compiled `keras.Model`.
        steps: Integer, the number of batches in an epoch.
        done: Integer, how many batches of the epoch to resume are done.
    """
    size = model.steps_per_execution
    if steps % size or done % size:
        raise ValueError(
            "Keras would train on more batches than an epoch has. Expected: "
            f"`steps_per_execution` that divides {steps} batches"
            + (f", and the {done} that are done" if done else "")
            + f". Received: steps_per_execution={size}"
        )


def endless(batches, start):
    """Repeats batches without end, for `keras.Model.fit`.

    Args:
        batches: `tf.data.Dataset` or `keras.utils.PyDataset` of known length.
        start: Integer, how many batches to skip at first.
    """
    if _is_python(batches):
        # A generator: Keras cannot end an epoch of a `PyDataset` early.
        indices = itertools.count(start)
        return (batches[index % len(batches)] for index in indices)
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
