"""The strategy that a training is distributed by, on either backend."""

import os
import typing
from typing import Any

import keras

from kerasrnn.arguments import one_of
from kerasrnn.arguments import positive_integer

Distribution = typing.Literal["mirrored", "workers"]


def make_strategy(name: Distribution, devices: int | None = None) -> Any:
    """Creates a strategy with which `Model.fit` trains on several devices.

    There is one replica per device. Each has a copy of the model, and gets its
    share of the rows of every batch. Build and compile the model in `scope()`,
    and train it with `TrainingFolder.fit`. Several replicas then compute the
    same as a single device, except for rounding, under two conditions:

    * The loss is `TokenCrossentropy`, `PianoRollCrossentropy` or
      `ForecastLoss`, which are means over the whole batch, or every batch can
      be divided evenly. A loss of Keras is averaged over the rows of each
      replica, and then over the replicas. So if the last batch has one row,
      two replicas make half the update.
    * There is no dropout and no scheduled sampling, whose random numbers depend
      on the number of replicas.

    Create the strategy before TensorFlow computes anything.

    Args:
        name: `"mirrored"` for the devices of this machine, or `"workers"` for
            the processes that the environment variable `TF_CONFIG` lists. Each
            of these uses all its GPUs, or its CPU.
        devices: Positive integer, number of devices of this machine to use;
            `None` for all GPUs. Without a GPU, TensorFlow divides the CPU into
            this many devices, which is not faster, but useful for tests.

    Returns:
        A `tf.distribute.Strategy`; on JAX, a
        `keras.distribution.DataParallel`.

    Raises:
        RuntimeError: when TensorFlow has already set up its devices, or the
            backend does not support the strategy.
        ValueError: when the name is unknown, `devices` is not positive or
            more than there are, or `TF_CONFIG` is missing.

    Example:

    >>> strategy = make_strategy("mirrored", devices=1)
    >>> with strategy.scope():
    ...     model = LanguageModel(50, RHNCell(16), batch_size=2)
    """
    one_of("name", name, typing.get_args(Distribution))
    if devices is not None:
        positive_integer("devices", devices)
    backend = keras.backend.backend()
    if backend != "tensorflow" and (backend, name) != ("jax", "mirrored"):
        raise RuntimeError(
            "Workers are started by TensorFlow. Expected: "
            "KERAS_BACKEND=tensorflow. On JAX, call "
            "`keras.distribution.initialize`, as the guide shows. "
            f"Received: KERAS_BACKEND={backend}"
        )
    if name == "workers":
        if not os.environ.get("TF_CONFIG"):
            raise ValueError(
                "Workers find each other by the environment variable "
                'TF_CONFIG. Expected: {"cluster": {"worker": ["HOST:PORT", '
                '...]}, "task": {"type": "worker", "index": 0}} for the first '
                "worker. Received: no TF_CONFIG."
            )
        if devices is not None:
            raise ValueError(
                "`devices` is for one machine. A worker uses all of its GPUs; "
                "set CUDA_VISIBLE_DEVICES to choose some. "
                f"Received: devices={devices}"
            )
        from kerasrnn.distribute import tensorflow_strategies

        print(
            "Waiting until all workers of TF_CONFIG have started.", flush=True
        )
        return tensorflow_strategies.Workers()
    if backend == "jax":
        return keras.distribution.DataParallel(
            devices=first(keras.distribution.list_devices(), devices),
            auto_shard_dataset=False,
        )
    # Without TensorFlow installed, the package must still load.
    from kerasrnn.distribute import tensorflow_strategies

    if gpus := tensorflow_strategies.gpus():
        chosen = first(gpus, devices)
    else:
        chosen = tensorflow_strategies.parts_of_the_cpu(devices or 1)
    return tensorflow_strategies.Mirrored(chosen)


def first(found, count):
    """Returns the first devices of this machine, or all if `count` is `None`.

    Raises:
        ValueError: when there are fewer.
    """
    if count is not None and count > len(found):
        raise ValueError(
            f"`devices` must be at most {len(found)}, the number of devices of "
            f"this machine. Received: devices={count}"
        )
    return found[:count]
