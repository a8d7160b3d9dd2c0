"""Warm-up: makes the slow first calls of a SavedModel in advance.

Like TensorFlow Serving, it replays the file `tf_serving_warmup_requests` in the
folder `assets.extra` of a SavedModel, a TFRecord of `PredictionLog` messages.
"""

import concurrent.futures
import functools
import logging
import os
import pathlib
from collections.abc import Iterator

import numpy as np
import tensorflow as tf
from google.protobuf import descriptor_pb2
from google.protobuf import descriptor_pool
from google.protobuf import message_factory
from tensorflow.core.framework import tensor_pb2

from kerasrnn.serving.exported import ExportedModel

WARM_UP_FILE = pathlib.Path("assets.extra", "tf_serving_warmup_requests")
"""The file of warm-up requests in the folder of a SavedModel."""

# message: field: (its number in TensorFlow Serving, its type, repeated). A map
# is a repeated message of key and value.
_MESSAGES = {
    "ModelSpec": {"signature_name": (3, "string", False)},
    "Input": {
        "key": (1, "string", False),
        "value": (2, ".tensorflow.TensorProto", False),
    },
    "PredictRequest": {
        "model_spec": (1, "ModelSpec", False),
        "inputs": (2, "Input", True),
    },
    "PredictLog": {"request": (1, "PredictRequest", False)},
    "PredictionLog": {"predict_log": (6, "PredictLog", False)},
}


def _prediction_log():
    """Returns the class of the message, made from `_MESSAGES`."""
    package = "kerasrnn.serving"
    file = descriptor_pb2.FileDescriptorProto(
        name="kerasrnn/serving/prediction_log.proto",
        package=package,
        syntax="proto3",
        dependency=[tensor_pb2.DESCRIPTOR.name],
    )
    field = descriptor_pb2.FieldDescriptorProto
    for message, fields in _MESSAGES.items():
        added = file.message_type.add(name=message)
        for name, (number, kind, repeated) in fields.items():
            added.field.add(
                name=name,
                number=number,
                label=field.LABEL_REPEATED
                if repeated
                else field.LABEL_OPTIONAL,
                type=field.TYPE_STRING
                if kind == "string"
                else field.TYPE_MESSAGE,
                type_name={
                    "string": None,
                    ".tensorflow.TensorProto": kind,
                }.get(kind, f".{package}.{kind}"),
            )
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(
        pool.FindMessageTypeByName(f"{package}.PredictionLog")
    )


PredictionLog = _prediction_log()


# Signatures keep what they compile.
_THREADS = min(4, os.cpu_count() or 1)

log = logging.getLogger(__name__)


def warm_up(model: ExportedModel) -> None:
    """Calls every signature with the recorded requests or an example.

    The first call of a signature takes a hundred times as long as later ones,
    on one core, so several run in parallel.

    Args:
        model: The `ExportedModel`.

    Raises:
        ValueError: when a recorded request does not fit the model.
    """
    requests = list(recorded_requests(model.path))
    called = {name for name, _ in requests}
    if unknown := called - model.signatures.keys():
        raise ValueError(
            f"The warm-up requests of '{model.path}' must be for one of "
            f"{sorted(model.signatures)}. Received: {min(unknown)!r}."
        )
    calls = [
        functools.partial(model.signatures[name], **inputs)
        for name, inputs in requests
    ] + [
        functools.partial(_call_example, model.signatures[name])
        for name in sorted(model.signatures.keys() - called)
    ]
    with concurrent.futures.ThreadPoolExecutor(_THREADS) as threads:
        for _ in threads.map(lambda call: call(), calls):
            pass


def _call_example(signature):
    try:
        signature(**_example(signature))
    except ValueError as error:
        log.debug("`%s` rejects an example: %s", signature.name, error)


def recorded_requests(
    path: pathlib.Path,
) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """Reads the recorded warm-up requests of a SavedModel.

    Args:
        path: Folder of the SavedModel.

    Yields:
        The name of a signature, and its inputs by name.

    Raises:
        google.protobuf.message.DecodeError, tf.errors.DataLossError: when the
            file is damaged.
    """
    path = path / WARM_UP_FILE
    if not path.exists():
        return
    for record in tf.data.TFRecordDataset(str(path)):
        request = PredictionLog.FromString(record.numpy()).predict_log.request
        name = request.model_spec.signature_name or "serving_default"
        yield name, {x.key: tf.make_ndarray(x.value) for x in request.inputs}


def _example(signature):
    """Returns minimal inputs: one row, one column, the text "a" or zeros."""
    return {
        name: np.full(
            [1 if size is None else size for size in spec.shape],
            "a" if spec.dtype == tf.string else 0,
            dtype=object
            if spec.dtype == tf.string
            else spec.dtype.as_numpy_dtype,
        )
        for name, spec in signature.inputs.items()
    }
