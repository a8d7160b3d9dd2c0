"""The strategies of TensorFlow that a training can be distributed by."""

import os
import typing
from typing import Any

import keras

Distribution = typing.Literal["mirrored", "workers"]


def make_strategy(name: Distribution, devices: int | None = None) -> Any:
    """Creates a strategy under which `Model.fit` trains on several devices.

    Each replica, one a device, has a copy of the model and its share of the
    rows of every batch. Build and compile the model in `scope()`, and train
    it with `TrainingFolder.fit`: then several replicas compute what a single
    device computes with the same batches, except for rounding.

    Create it before TensorFlow computes anything.

    Args:
        name: `"mirrored"` for the devices of this machine, or `"workers"` for
            the processes that the environment variable `TF_CONFIG` lists,
            each with all of its GPUs, or with its CPU.
        devices: Positive integer, how many devices of this machine to use;
            `None` for all GPUs. Without a GPU, the CPU is used as so many
            devices, which is for tests: it is not faster.

    Returns:
        A `tf.distribute.Strategy`.

    Raises:
        RuntimeError: on another backend than TensorFlow, or when TensorFlow
            has already set up its devices.
        ValueError: when there are not so many devices, or `TF_CONFIG` is
            missing.

    Example:

    >>> strategy = make_strategy("mirrored", devices=1)
    >>> with strategy.scope():
    ...     model = LanguageModel(50, RHNCell(16), batch_size=2)
    >>> strategy.num_replicas_in_sync
    1
    """
    if keras.backend.backend() != "tensorflow":
        raise RuntimeError(
            "The strategies are those of TensorFlow. Expected: "
            "KERAS_BACKEND=tensorflow; on JAX, `keras.distribution` does the "
            "same. Received: "
            f"KERAS_BACKEND={keras.backend.backend()}"
        )
    # Without TensorFlow installed, the package must still load.
    from kerasrnn.distribute import strategies

    if name == "mirrored":
        return strategies.Mirrored(strategies.local_devices(devices))
    if not os.environ.get("TF_CONFIG"):
        raise ValueError(
            "Workers find each other by the environment variable TF_CONFIG. "
            'Expected: {"cluster": {"worker": ["HOST:PORT", ...]}, "task": '
            '{"type": "worker", "index": 0}} for the first worker. '
            "Received: no TF_CONFIG."
        )
    if devices is not None:
        raise ValueError(
            "`devices` is for one machine. A worker uses all of its GPUs; "
            "set CUDA_VISIBLE_DEVICES to choose some. "
            f"Received: devices={devices}"
        )
    return strategies.Workers()
