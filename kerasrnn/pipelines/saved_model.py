"""Trained models as SavedModels that load without this package."""

import errno
import pathlib
import shutil
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

import keras
import tensorflow as tf

from kerasrnn.training import output_folder
from kerasrnn.training.files import exchange
from kerasrnn.typing import PathLike


def export_saved_model(
    path: PathLike,
    signatures: Mapping[str, Callable[..., Any]],
    resources: Iterable[keras.layers.Layer],
) -> pathlib.Path:
    """Writes a SavedModel, completely or not at all.

    The first signature is also served as `serving_default`. The model loads
    in a process that imports only `tensorflow`, and `tensorflow_text` if a
    signature tokenizes.

    Args:
        path: Folder to write, `NAME/VERSION`. An existing SavedModel is
            replaced in one step once the new one is complete.
        signatures: Dictionary from names to `tf.function`s that have an
            input signature and return a dictionary of tensors.
        resources: List of the Keras layers, models and tokenizers that the
            functions use.

    Returns:
        The path written, a `pathlib.Path`.

    Raises:
        OSError: when the folder cannot be written, or the disk is full.
        ValueError: when `signatures` is empty, or `path` exists and is not a
            SavedModel.

    Example:

    >>> translator = build_translator()
    >>> path = export_saved_model(
    ...     "saved_models/nmt_hindi/1",
    ...     translator.signatures,
    ...     [
    ...         translator.model,
    ...         translator.source_tokenizer,
    ...         translator.target_tokenizer,
    ...     ],
    ... )
    """
    if not signatures:
        raise ValueError(
            "`signatures` must name at least one function. Received: {}."
        )
    functions = {
        name: function.get_concrete_function()
        for name, function in signatures.items()
    }
    functions.setdefault("serving_default", next(iter(functions.values())))
    path = pathlib.Path(path)
    if path.exists() and not (path / "saved_model.pb").exists():
        raise ValueError(
            "`path` must be new, or a SavedModel to replace, such as "
            f"NAME/VERSION. Received: '{path}', which is not a SavedModel."
        )
    partial = output_folder(path.parent) / f".partial-{path.name}"
    # A killed process may have left one behind.
    shutil.rmtree(partial, ignore_errors=True)
    try:
        tf.saved_model.save(
            _state(functions.values(), resources), partial, functions
        )
        if path.exists():
            exchange(partial, path)
        else:
            partial.rename(path)
    except tf.errors.ResourceExhaustedError as error:
        raise OSError(
            errno.ENOSPC, "No space left to write a SavedModel", str(path)
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return path


def _state(functions, layers):
    """Returns a module of the variables and tables that functions use.

    A module that held the layers themselves would trace their calls, and one
    that held the `tf.function`s would trace these again.
    """
    state = tf.Module()
    variables = {id(v): v for f in functions for v in f.variables}
    state.weights = list(variables.values())
    state.tables = [
        part
        for layer in layers
        for part in tf.train.TrackableView(layer).descendants()
        if isinstance(part, tf.saved_model.experimental.TrackableResource)
    ]
    return state
