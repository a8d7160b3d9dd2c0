"""Requests that a server replays before it serves a model.

A model optimizes each of its graphs in the first call, which takes seconds.
TensorFlow Serving, and `kerasrnn.serving`, replay the requests in the file
`WARM_UP_FILE` of a SavedModel: a TFRecord of `PredictionLog`, a message of
TensorFlow Serving.
"""

import tensorflow as tf

WARM_UP_FILE = "assets.extra/tf_serving_warmup_requests"


def write_warm_up(path, functions, text="a b c"):
    """Writes a request for each function whose only argument is texts.

    Args:
        path: A `pathlib.Path`, the folder of a SavedModel.
        functions: Dictionary from signature names to concrete functions.
        text: The text to call them with.
    """
    texts = tf.make_tensor_proto([text], tf.string).SerializeToString()
    file = path / WARM_UP_FILE
    file.parent.mkdir()
    with tf.io.TFRecordWriter(str(file)) as records:
        for name, function in functions.items():
            specs = tf.nest.flatten(function.structured_input_signature)
            if [spec.dtype for spec in specs] == [tf.string]:
                records.write(_prediction_log(name, specs[0].name, texts))


def _prediction_log(signature, argument, tensor):
    """A `PredictionLog` with a `PredictRequest`, from its field numbers."""
    model = _field(3, signature.encode())
    inputs = _field(1, argument.encode()) + _field(2, tensor)
    request = _field(1, model) + _field(2, inputs)
    return _field(6, _field(1, request))


def _field(number, content):
    """A field of a protocol buffer that holds bytes, shorter than 128."""
    assert len(content) < 128
    return bytes([number * 8 + 2, len(content)]) + content
