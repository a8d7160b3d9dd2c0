"""Checkpoints from which a training resumes."""

import contextlib
import dataclasses
import json
import math
import zlib

import h5py
import keras
import numpy as np

from kerasrnn.files import check_free_space
from kerasrnn.files import put
from kerasrnn.files import reading
from kerasrnn.files import writing
from kerasrnn.training.batches import zeros

STATE = "state.weights.h5"
_CHECKSUM = "checksum"
_RESUME = "; call the run again to resume from them"


@dataclasses.dataclass(frozen=True)
class Progress:
    """The progress of a training.

    Attributes:
        epoch: Integer, number of finished epochs.
        batch: Integer, number of finished batches of the next epoch.
        rows: List of dictionaries, the log of the epochs.
        stopped: Integer, the argument `epochs` of the `fit` that a callback
            stopped; 0 if none did.
        compiled_rate: Float, the initial learning rate of the optimizer; `None`
            for a schedule.
        reached_rate: Float, the learning rate after callbacks changed it.
        notes: Dictionary of the states of callbacks, by position and class.
    """

    epoch: int = 0
    batch: int = 0
    rows: list = dataclasses.field(default_factory=list)
    stopped: int = 0
    compiled_rate: float | None = None
    reached_rate: float | None = None
    notes: dict = dataclasses.field(default_factory=dict)


def constant_rate(optimizer):
    """Returns the learning rate of an optimizer; `None` for a schedule.

    Args:
        optimizer: A `keras.optimizers.Optimizer`.
    """
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)
    rate = optimizer.get_config().get("learning_rate")
    return float(rate) if isinstance(rate, float) else None


def save_state(model, path):
    """Writes weights, optimizer, random generators and running metrics.

    `finish_state` completes the file.

    Args:
        model: A compiled `keras.Model`.
        path: A `pathlib.Path` that ends in `.weights.h5`.
    """
    with writing(path, path, _RESUME):
        save_weights(model, path)
        with h5py.File(path, "a") as file:
            for name, variables in _not_weights(model).items():
                for i, variable in enumerate(variables):
                    file[f"{name}/{i}"] = keras.ops.convert_to_numpy(variable)


def save_weights(model, path):
    """Writes the weights and the optimizer, if there is enough disk space.

    Args:
        model: A `keras.Model`.
        path: A `pathlib.Path` that ends in `.weights.h5`.

    Raises:
        OSError: when there is not enough disk space.
    """
    variables = model.variables + model.optimizer.variables
    # At most eight bytes per number, plus the overhead of HDF5.
    size = sum(8 * math.prod(x.shape) + 10_000 for x in variables)
    check_free_space(path.parent, size)
    model.save_weights(path)
    with h5py.File(path, "a") as file:
        file.attrs[_CHECKSUM] = _checksum(file)


def load_weights(model, path):
    """Loads the weights and the optimizer that `save_weights` wrote.

    Args:
        model: A built `keras.Model`. The optimizer is loaded if it is
            compiled.
        path: Path of the file.
    """
    optimizer = getattr(model, "optimizer", None)
    if optimizer is not None and not optimizer.built:
        # Avoids Keras's warning that it does not load the optimizer.
        optimizer.build(model.trainable_variables)
    with _checked(path):
        model.load_weights(path)


def finish_state(pending, path, progress):
    """Completes a checkpoint, which replaces the previous one.

    Args:
        pending: A `pathlib.Path`, the file that `save_state` wrote.
        path: A `pathlib.Path`, the path of the checkpoint.
        progress: A `Progress`.
    """
    text = json.dumps(dataclasses.asdict(progress))
    with writing(pending, path, _RESUME):
        check_free_space(path.parent, len(text) + 10_000)
        with h5py.File(pending, "a") as file:
            file["progress"] = np.bytes_(text)
            file.attrs[_CHECKSUM] = _checksum(file)
        put(pending, path)


def deletion_remedy(folder):
    """Returns the advice if a training cannot be resumed."""
    return f"Delete the folder '{folder}' to start again."


def read_progress(path):
    """Returns the `Progress` in a checkpoint.

    Raises:
        ValueError: when the file is damaged.
    """
    with reading(path, deletion_remedy(path.parent)), _checked(path) as file:
        return Progress(**json.loads(file["progress"][()]))


def check_weights(path):
    """Raises a `ValueError` if a file is damaged, missing or not HDF5.

    Args:
        path: A `pathlib.Path`, a file that `model.save_weights` wrote.
    """
    with reading(path, deletion_remedy(path.parent)), _checked(path):
        pass


@contextlib.contextmanager
def _checked(path):
    """Opens a file and checks that it is complete and undamaged.

    Files of `model.save_weights` have no checksum to check.
    """
    with h5py.File(path) as file:
        if file.attrs.get(_CHECKSUM) not in (None, _checksum(file)):
            raise ValueError("its checksum does not match")
        yield file


def _checksum(file):
    """Computes a checksum of all arrays in an HDF5 file."""
    total = 0

    def add(name, item):
        nonlocal total
        if isinstance(item, h5py.Dataset):
            head = f"{name} {item.dtype} {item.shape}".encode()
            total = zlib.crc32(head, total)
            total = zlib.crc32(np.asarray(item).tobytes(), total)

    file.visititems(add)
    return total


def load_state(model, path):
    """Loads a checkpoint into a model.

    Args:
        model: A built and compiled `keras.Model`.
        path: A `pathlib.Path`, the file.

    Returns:
        The values of the running metrics if the checkpoint is within an epoch,
        for `restore_metrics` at the start of the epoch; otherwise an empty
        list.

    Raises:
        ValueError: when the file is damaged.
    """
    progress = read_progress(path)
    rate = constant_rate(model.optimizer)
    found = _not_weights(model)
    with reading(path, deletion_remedy(path.parent)), h5py.File(path) as file:
        load_weights(model, path)
        for i, variable in enumerate(found["generators"]):
            variable.assign(file[f"generators/{i}"][()])
        metrics = [
            file[f"metrics/{i}"][()]
            for i in range(len(found["metrics"]) if progress.batch else 0)
        ]
    if rate is not None:
        same = rate == progress.compiled_rate
        model.optimizer.learning_rate = progress.reached_rate if same else rate
    return metrics


def restore_metrics(model, values):
    """Sets running metrics to the values that `load_state` returned."""
    for variable, value in zip(model.metrics_variables, values, strict=True):
        variable.assign(value)


def _not_weights(model):
    """Returns the variables that `model.save_weights` does not save."""
    weights = {id(weight) for weight in model.weights}
    return {
        "generators": [x for x in model.variables if id(x) not in weights],
        "metrics": model.metrics_variables,
    }


def build_metrics(model, batches):
    """Creates the variables of the metrics, as Keras does at the first batch.

    It uses a batch of zeros, because drawing a batch would change the order of
    the following ones.

    Args:
        model: A built and compiled `keras.Model`.
        batches: `tf.data.Dataset` or `keras.utils.PyDataset` to train on.
    """
    model.test_on_batch(*keras.utils.unpack_x_y_sample_weight(zeros(batches)))
