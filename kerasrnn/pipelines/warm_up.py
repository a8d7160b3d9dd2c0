"""Requests that a server replays before it serves a model.

A model optimizes each of its graphs in the first call, which takes seconds.
"""

import tensorflow as tf

from kerasrnn.serving.prediction_log import WARM_UP_FILE
from kerasrnn.serving.prediction_log import PredictionLog


def write_warm_up(path, functions, text="a b c"):
    """Writes a request for each function whose only argument is texts.

    Args:
        path: A `pathlib.Path`, the folder of a SavedModel.
        functions: Dictionary from signature names to concrete functions.
        text: The text to call them with.
    """
    texts = tf.make_tensor_proto([text], tf.string)
    file = path / WARM_UP_FILE
    file.parent.mkdir()
    with tf.io.TFRecordWriter(str(file)) as records:
        for name, function in functions.items():
            specs = tf.nest.flatten(function.structured_input_signature)
            if [spec.dtype for spec in specs] == [tf.string]:
                log = PredictionLog()
                request = log.predict_log.request
                request.model_spec.signature_name = name
                request.inputs.add(key=specs[0].name, value=texts)
                records.write(log.SerializeToString())
