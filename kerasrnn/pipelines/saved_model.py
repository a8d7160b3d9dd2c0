"""Trained models as SavedModels that load without this package."""

import errno
import pathlib
import re
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from kerasrnn.files import atomic_folder
from kerasrnn.pipelines.saved_graphs import simplify_graphs
from kerasrnn.pipelines.warm_up import write_warm_up
from kerasrnn.training.card import write_json
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings


def export_saved_model(
    path: PathLike,
    signatures: Mapping[str, tf.types.experimental.GenericFunction],
    resources: Iterable[keras.layers.Layer],
    card: Mapping[str, Any] | None = None,
    warm_up_texts: Mapping[str, Sequence[Strings]] | None = None,
) -> pathlib.Path:
    """Writes a SavedModel, completely or not at all.

    If no signature is called `serving_default`, the first is served under that
    name, too. The model loads in a process that imports only `tensorflow`, and
    `tensorflow_text` if a signature tokenizes. It has warm-up requests for
    TensorFlow Serving in `assets.extra`.

    Args:
        path: Folder to write, `NAME/VERSION`. An existing SavedModel is
            replaced in one step once the new one is complete.
        signatures: Dictionary from names to `tf.function`s that have an
            input signature and return a dictionary of tensors.
        resources: List of the Keras layers, models and tokenizers that the
            functions use.
        card: Facts to write to `card.json` in the folder, beside the
            `"signatures"`: for each its inputs and outputs, with dtypes and
            shapes.
        warm_up_texts: Dictionary from names of signatures to the batches of
            texts to warm them up with, if one text is not enough.

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
    try:
        with atomic_folder(path) as partial:
            tf.saved_model.save(
                _state(functions.values(), resources),
                partial,
                functions,
                # What is served is not trained, and gradients take much of a
                # graph.
                tf.saved_model.SaveOptions(experimental_custom_gradients=False),
            )
            simplify_graphs(partial)
            write_warm_up(partial, functions, warm_up_texts or {})
            write_json(
                partial / "card.json",
                {
                    **(card or {}),
                    "signatures": {
                        name: _described(function)
                        for name, function in functions.items()
                    },
                },
            )
    except tf.errors.ResourceExhaustedError as error:
        raise OSError(
            errno.ENOSPC, "No space left to write a SavedModel", str(path)
        ) from error
    return path


def next_version(folder: PathLike) -> pathlib.Path:
    """Returns the path of the version after the newest in a folder.

    Args:
        folder: String or path of the folder `NAME` of a model.

    Returns:
        A `pathlib.Path`, `NAME/VERSION`: one more than the largest number
        there, or 1.

    Example:

    >>> next_version("saved_models/mine").name
    '1'
    """
    folder = pathlib.Path(folder)
    names = (x.name for x in folder.glob("*"))
    numbers = [int(x) for x in names if re.fullmatch("[0-9]+", x)]
    return folder / str(max(numbers, default=0) + 1)


def _described(function):
    """The inputs and outputs of a signature, with dtypes and shapes."""
    inputs = tf.nest.flatten(function.structured_input_signature)
    sides = {
        "inputs": {spec.name: spec for spec in inputs},
        "outputs": function.structured_outputs,
    }
    return {
        side: {
            name: [spec.dtype.name, spec.shape.as_list()]
            for name, spec in specs.items()
        }
        for side, specs in sides.items()
    }


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
