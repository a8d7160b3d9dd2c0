"""Export of trained models as SavedModels that load without this package."""

import errno
import pathlib
import re
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from kerasrnn.files import atomic_folder
from kerasrnn.serving.warm_up import WARM_UP_FILE
from kerasrnn.serving.warm_up import PredictionLog
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

    If no signature is called `serving_default`, the first one is also exported
    under that name. To load the model, only `tensorflow` is needed, and
    `tensorflow_text` if a signature tokenizes. `assets.extra` has warm-up
    requests for TensorFlow Serving.

    Args:
        path: Folder to write, `NAME/VERSION`. An existing SavedModel is
            replaced atomically.
        signatures: Dictionary of name to `tf.function` with an input signature
            that returns a dictionary of tensors.
        resources: List of Keras layers, models and tokenizers that the
            functions use.
        card: Facts to write to `card.json` in the folder, in addition to the
            `"signatures"` with dtypes and shapes of their inputs and outputs.
        warm_up_texts: Dictionary from names of signatures to batches of texts
            for the warm-up, if one text is not enough.

    Returns:
        The path written, a `pathlib.Path`.

    Raises:
        OSError: when the folder cannot be written, or the disk is full.
        ValueError: when `signatures` is empty, or `path` exists but is not a
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
    functions = {
        name: function.get_concrete_function()
        for name, function in signatures.items()
    }
    functions.setdefault("serving_default", next(iter(functions.values())))
    # What the functions use. With the layers themselves, exporting would trace
    # their calls, and with the `tf.function`s, it would trace these again.
    state = tf.Module()
    state.weights = [
        *{id(v): v for f in functions.values() for v in f.variables}.values()
    ]
    state.tables = [
        part
        for layer in resources
        for part in tf.train.TrackableView(layer).descendants()
        if isinstance(part, tf.saved_model.experimental.TrackableResource)
    ]
    path = pathlib.Path(path)
    if path.exists() and not (path / "saved_model.pb").exists():
        raise ValueError(
            "`path` must not exist, or be a SavedModel to replace, such as "
            f"NAME/VERSION. Received: '{path}', which is not a SavedModel."
        )
    try:
        with atomic_folder(path) as partial:
            tf.saved_model.save(
                state,
                partial,
                functions,
                # Served functions are not trained, and gradients would take up
                # much of a graph.
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
    """Returns the path of the next version in a folder.

    Args:
        folder: String or path of the folder `NAME` of a model.

    Returns:
        A `pathlib.Path`, `NAME/VERSION`, where `VERSION` is the largest
        existing number plus 1.

    Example:

    >>> next_version("saved_models/mine").name
    '1'
    """
    folder = pathlib.Path(folder)
    names = (x.name for x in folder.glob("*"))
    numbers = [int(x) for x in names if re.fullmatch("[0-9]+", x)]
    return folder / str(max(numbers, default=0) + 1)


def _described(function):
    """Describes inputs and outputs of a signature: dtypes and shapes."""
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


def simplify_graphs(path: pathlib.Path) -> None:
    """Merges equal constants, and removes references to gradients.

    TensorFlow adds a constant wherever a size is read, which is nearly half of
    the nodes of a search. A process that loads a SavedModel keeps each node as
    Python and C++ objects, and again for each outer function. It also warns
    about each function with a custom gradient that is not saved. Without the
    reference, TensorFlow's own gradient remains.

    Args:
        path: Folder of the SavedModel. Its `fingerprint.pb`, which no longer
            matches, is removed.
    """
    file = path / "saved_model.pb"
    model = saved_model_pb2.SavedModel.FromString(file.read_bytes())
    for meta_graph in model.meta_graphs:
        graph = meta_graph.graph_def
        _forget_gradients(graph.node)
        for function in graph.library.function:
            _forget_gradients(function.node_def)
            _merge_constants(function)
    file.write_bytes(model.SerializeToString())
    (path / "fingerprint.pb").unlink(missing_ok=True)


def _forget_gradients(nodes):
    for node in nodes:
        node.attr.pop("_gradient_op_type", None)


def _merge_constants(function):
    """Merges the equal constants of a `FunctionDef`, in place."""
    first, merged = {}, {}
    for node in function.node_def:
        # Constants with control inputs may only be read after these nodes.
        if node.op == "Const" and not node.input:
            copy = type(node).FromString(node.SerializeToString())
            copy.ClearField("name")
            copy.ClearField("experimental_debug_info")
            content = copy.SerializeToString(deterministic=True)
            name = first.setdefault(content, node.name)
            if name != node.name:
                merged[node.name] = name

    def renamed(tensor):
        """Renames a tensor `node:output:0` or a control input `^node`."""
        name = tensor.removeprefix("^").partition(":")[0]
        return tensor.replace(name, merged.get(name, name), 1)

    for index in reversed(range(len(function.node_def))):
        node = function.node_def[index]
        if node.name in merged:
            del function.node_def[index]
        else:
            node.input[:] = map(renamed, node.input)
    for tensors in function.ret, function.control_ret:
        for name, tensor in tensors.items():
            tensors[name] = renamed(tensor)


def write_warm_up(path, functions, batches):
    """Writes requests for each function whose only argument is texts.

    Other functions of strings get requests if they have batches: the texts are
    the first argument, and empty strings the others.

    Args:
        path: A `pathlib.Path`, the folder of a SavedModel.
        functions: Dictionary from names of signatures to concrete functions.
        batches: Dictionary from names of signatures to batches of texts, if one
            batch with one text is not enough.
    """
    file = path / WARM_UP_FILE
    file.parent.mkdir()
    with tf.io.TFRecordWriter(str(file)) as records:
        for name, function in functions.items():
            specs = tf.nest.flatten(function.structured_input_signature)
            are_texts = {spec.dtype for spec in specs} == {tf.string}
            if not are_texts or (len(specs) > 1 and name not in batches):
                continue
            for texts in batches.get(name, [["a b c"]]):
                log = PredictionLog()
                request = log.predict_log.request
                request.model_spec.signature_name = name
                if specs[0].shape.rank == 2:  # a function of words
                    texts = [text.split() for text in texts]
                sizes = (
                    [len(texts), *(n or 1 for n in spec.shape[1:])]
                    for spec in specs[1:]
                )
                values = texts, *(np.full(size, "") for size in sizes)
                for spec, value in zip(specs, values, strict=True):
                    request.inputs.add(
                        key=spec.name,
                        value=tf.make_tensor_proto(value, tf.string),
                    )
                records.write(log.SerializeToString())
