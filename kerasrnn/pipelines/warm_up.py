"""Requests that a server replays before it serves a model.

A model optimizes each of its graphs in the first call, which takes seconds, and
compiles a program in the first call that it fits.
"""

import numpy as np
import tensorflow as tf

from kerasrnn.serving.prediction_log import WARM_UP_FILE
from kerasrnn.serving.prediction_log import PredictionLog

_EXAMPLE = [["a b c"]]


def write_warm_up(path, functions, batches):
    """Writes requests for each function whose only argument is texts.

    There are some for other functions of strings, if they have batches: these
    get the texts as their first argument, and empty strings as the others.

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
            if {spec.dtype for spec in specs} != {tf.string}:
                continue
            if len(specs) > 1 and name not in batches:
                continue
            for texts in batches.get(name, _EXAMPLE):
                log = PredictionLog()
                request = log.predict_log.request
                request.model_spec.signature_name = name
                values = _arguments(specs, texts)
                for spec, value in zip(specs, values, strict=True):
                    request.inputs.add(
                        key=spec.name,
                        value=tf.make_tensor_proto(value, tf.string),
                    )
                records.write(log.SerializeToString())


def _arguments(specs, texts):
    """The texts, and empty strings in the shape of further arguments.

    A function of words gets their words.
    """
    if specs[0].shape.rank == 2:
        texts = [text.split() for text in texts]
    shapes = [(len(texts), *spec.shape[1:]) for spec in specs[1:]]
    return [texts, *(np.full([x or 1 for x in shape], "") for shape in shapes)]
