"""What Keras's `fit` takes, and the `fit` of a pipeline cannot."""

import keras
import tensorflow as tf


def check_fit_arguments(batches, arguments, name):
    """Raises `ValueError` for what would fail, or be misunderstood, later.

    Args:
        batches: `tf.data.Dataset` to train on.
        arguments: Dictionary of further arguments of `fit`.
        name: String, the class of the pipeline.
    """
    given = {k: v for k, v in arguments.items() if v is not None}
    if given.get("validation_split"):
        raise ValueError(
            f"A {name} makes batches of its examples, of which Keras cannot "
            "hold a share out. Expected: other examples as `validation_data`. "
            f"Received: validation_split={given['validation_split']}"
        )
    if given.get("shuffle", True) is not True:
        raise ValueError(
            f"A {name} shuffles where it makes the batches. Expected: "
            "`shuffle=True`; for another order, a dataset of yours, such as "
            f"`batches` returns. Received: shuffle={given['shuffle']}"
        )
    if "sample_weight" in given:
        raise ValueError(
            f"A {name} reads no weights in `fit`. Expected: a dataset with "
            "weights in its batches, if the loss takes them. Received: "
            f"sample_weight={given['sample_weight']!r:.80}"
        )
    _check_dataset(batches, name)
    for callback in keras.tree.flatten(given.get("callbacks", [])):
        _check_callback(callback, name)


def check_beside_dataset(examples, arguments):
    """Raises `ValueError` for labels or weights beside batches.

    Args:
        examples: Examples, or a `tf.data.Dataset` of batches.
        arguments: Dictionary of labels and weights, `None` for none.
    """
    given = [name for name, value in arguments.items() if value is not None]
    if given and isinstance(examples, tf.data.Dataset):
        raise ValueError(
            "A dataset has labels and weights in its batches. Expected: those "
            f"of `batches`. Received: {' and '.join(given)} of `fit`, beside a "
            "dataset"
        )


def _check_dataset(batches, name):
    """Refuses texts as they are, of which Keras would say little."""
    spec = getattr(batches, "element_spec", None)
    kinds = {getattr(x, "dtype", None) for x in tf.nest.flatten(spec)}
    if tf.string in kinds:
        raise ValueError(
            f"A {name} cannot train on a dataset of strings. Expected: lists, "
            "or a dataset that `batches` returned. Received: a dataset of "
            f"{spec}"
        )


def _check_callback(callback, name):
    """Refuses a file of the inner model that looks like one of a pipeline."""
    if not isinstance(callback, keras.callbacks.ModelCheckpoint):
        return
    if not callback.save_weights_only:
        raise ValueError(
            "`ModelCheckpoint` would save the inner model, without what makes "
            f"it a {name}. Expected: `kerasrnn.pipelines.Run`, which keeps the "
            "best epoch and resumes; or `save_weights_only=True`, for "
            "`pipeline.model.load_weights`. Received: "
            f"ModelCheckpoint({callback.filepath!r})"
        )
