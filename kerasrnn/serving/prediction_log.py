"""`PredictionLog`, the message of TensorFlow Serving for a recorded request.

It is defined here with the fields that warm-up requests need, so that the
package `tensorflow-serving-api` is not.
"""

import pathlib

from google.protobuf import descriptor_pb2
from google.protobuf import descriptor_pool
from google.protobuf import message_factory
from tensorflow.core.framework import tensor_pb2

WARM_UP_FILE = pathlib.Path("assets.extra", "tf_serving_warmup_requests")
"""The file in the folder of a SavedModel that holds its warm-up requests."""

# message: field: (its number in TensorFlow Serving, its type, repeated).
# A map is a repeated message of a key and a value.
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
    """The class of the message, made from `_MESSAGES`."""
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
