"""First calls of a SavedModel, which are slow, before anybody waits for them.

TensorFlow Serving replays the file `tf_serving_warmup_requests` in the folder
`assets.extra` of a SavedModel, a TFRecord of `PredictionLog` messages. So does
this module.
"""

import concurrent.futures
import functools
import logging
import os
import pathlib
from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from kerasrnn.serving.exported import ExportedModel
from kerasrnn.serving.prediction_log import WARM_UP_FILE
from kerasrnn.serving.prediction_log import PredictionLog

# Each holds what it compiles.
_THREADS = min(4, os.cpu_count() or 1)

log = logging.getLogger(__name__)


def warm_up(model: ExportedModel) -> None:
    """Calls every signature: with the requests in the model, or an example.

    The first call of a signature takes a hundred times as long as others, on
    one core, so several run at once.

    Args:
        model: The `ExportedModel`.

    Raises:
        ValueError: when a request in the model is not one that it can answer.
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
