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
from google.protobuf import text_format

from kerasrnn.serving.exported import ExportedModel
from kerasrnn.serving.signature import Signature
from kerasrnn.serving.signature import sizes

WARM_UP_FILE = pathlib.Path("assets.extra", "tf_serving_warmup_requests")
"""The file of warm-up requests in the folder of a SavedModel."""

# The messages of TensorFlow Serving that are needed, with its field numbers. A
# map is a repeated message of key and value.
_MESSAGES = text_format.Parse(
    """
    name: "kerasrnn/serving/prediction_log.proto"
    package: "kerasrnn.serving"
    syntax: "proto3"
    dependency: "tensorflow/core/framework/tensor.proto"
    message_type {
        name: "ModelSpec"
        field { name: "signature_name" number: 3 type: TYPE_STRING }
    }
    message_type {
        name: "Input"
        field { name: "key" number: 1 type: TYPE_STRING }
        field { name: "value" number: 2 type_name: ".tensorflow.TensorProto" }
    }
    message_type {
        name: "PredictRequest"
        field { name: "model_spec" number: 1 type_name: "ModelSpec" }
        field {
            name: "inputs" number: 2 type_name: "Input" label: LABEL_REPEATED
        }
    }
    message_type {
        name: "PredictLog"
        field { name: "request" number: 1 type_name: "PredictRequest" }
    }
    message_type {
        name: "PredictionLog"
        field { name: "predict_log" number: 6 type_name: "PredictLog" }
    }
    """,
    descriptor_pb2.FileDescriptorProto(),
)
_POOL = descriptor_pool.Default()
_POOL.AddSerializedFile(_MESSAGES.SerializeToString())
PredictionLog = message_factory.GetMessageClass(
    _POOL.FindMessageTypeByName("kerasrnn.serving.PredictionLog")
)

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
        signature(**example(signature))
    except ValueError as error:
        log.debug("`%s` rejects an example: %s", signature.name, error)


def example(signature: Signature) -> dict[str, np.ndarray]:
    """Returns inputs of a signature: one row and column, of "a" or zeros.

    Args:
        signature: The `Signature`.
    """
    return {
        name: np.full(
            [1 if size < 0 else size for size in sizes(spec)],
            b"a" if spec.dtype == tf.string else 0,
            spec.dtype.as_numpy_dtype,
        )
        for name, spec in signature.inputs.items()
    }


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
