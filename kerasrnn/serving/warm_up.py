"""First calls of a SavedModel, which are slow, before anybody waits for them.

TensorFlow Serving replays the file `tf_serving_warmup_requests` in the folder
`assets.extra` of a SavedModel, a TFRecord of `PredictionLog` messages. So does
this module.
"""

import logging
import pathlib
from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from kerasrnn.serving.exported import ExportedModel
from kerasrnn.serving.prediction_log import WARM_UP_FILE
from kerasrnn.serving.prediction_log import PredictionLog

log = logging.getLogger(__name__)


def warm_up(model: ExportedModel) -> None:
    """Calls every signature: with the requests in the model, else an example.

    The first call of a signature takes a hundred times as long as others.

    Args:
        model: The `ExportedModel`.

    Raises:
        ValueError: when a request in the model is not one that it can answer.
    """
    called = set()
    for name, inputs in recorded_requests(model.path):
        if name not in model.signatures:
            raise ValueError(
                f"The warm-up requests of '{model.path}' must be for one of "
                f"{sorted(model.signatures)}. Received: {name!r}."
            )
        model.signatures[name](**inputs)
        called.add(name)
    for name in model.signatures.keys() - called:
        signature = model.signatures[name]
        try:
            signature(**_example(signature))
        except ValueError as error:
            log.debug("`%s` rejects an example: %s", name, error)


def recorded_requests(
    path: pathlib.Path,
) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """Reads the warm-up requests of a SavedModel.

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
    """The smallest inputs: one row, one column, the text "a" or zeros."""
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
