"""Requests that a server replays before it serves a model.

A model optimizes each of its graphs in the first call, which takes seconds, and
compiles a program in the first call that it fits.
"""

import tensorflow as tf

from kerasrnn.serving.prediction_log import WARM_UP_FILE
from kerasrnn.serving.prediction_log import PredictionLog

_EXAMPLE = [["a b c"]]


def write_warm_up(path, functions, batches):
    """Writes requests for each function whose only argument is texts.

    Args:
        path: A `pathlib.Path`, the folder of a SavedModel.
        functions: Dictionary from signature names to concrete functions.
        batches: Dictionary from signature names to the batches of texts to
            call them with, if it is not one batch of one text.
    """
    file = path / WARM_UP_FILE
    file.parent.mkdir()
    with tf.io.TFRecordWriter(str(file)) as records:
        for name, function in functions.items():
            specs = tf.nest.flatten(function.structured_input_signature)
            if [spec.dtype for spec in specs] != [tf.string]:
                continue
            for texts in batches.get(name, _EXAMPLE):
                log = PredictionLog()
                request = log.predict_log.request
                request.model_spec.signature_name = name
                request.inputs.add(
                    key=specs[0].name,
                    value=tf.make_tensor_proto(texts, tf.string),
                )
                records.write(log.SerializeToString())
