"""What a training leaves on disk, so that it can be gone on with."""

import json
import math
import os
import pathlib
import zlib

import h5py
import keras

from kerasrnn.training.csv_log import columns
from kerasrnn.training.csv_log import read_rows
from kerasrnn.training.csv_log import write_rows

_LOG = "history.csv"
_NEW_STATE = "new.weights.h5"


def fingerprint(facts):
    """Returns eight hexadecimal digits that stand for some facts.

    Args:
        facts: What `json.dumps` takes, and paths.

    Raises:
        TypeError: when there is anything else in it. Of an array, for one,
            give the list.

    Example:

    >>> fingerprint({"units": 8}) == fingerprint({"units": 9})
    False
    """
    text = json.dumps(facts, default=os.fspath, sort_keys=True)
    return f"{zlib.crc32(text.encode()):08x}"


class TrainingFolder:
    """What a training leaves on disk, so that it can be gone on with.

    A folder of its own for each combination of settings holds the state of
    the last epoch, the weights of the best one, and the log of all epochs,
    those before an interruption too. Every file is there whole or not at
    all. An epoch counts once it is validated and logged: one that was
    interrupted before is learnt again. When `fit` returns, stopped early or
    not, the training has ended, and another `fit` begins anew.

    Args:
        output: Folder to make it in.
        settings: Dictionary of what the training depends on, the data
            included: with other data, the same ids may be other words.
        monitor: Name of the logged value that says which epoch is best. One
            where it is NaN is worse than any other.
        mode: `"min"` or `"max"`, which value of it is.
        keep: Integer, of how many of the last epochs the weights are kept;
            see `last`.

    Attributes:
        best: Path of the weights of the best epoch.
        path: Path of the folder.

    Example:

    ```python
    folder = TrainingFolder("out", {"units": 8, "epochs": 10}, "val_loss")
    if folder.epochs_done() < 10:
        model.fit(
            **folder.resume(model, batches),
            epochs=10,
            callbacks=folder.callbacks(),
        )
    model.load_weights(folder.best)
    ```
    """

    def __init__(self, output, settings, monitor, mode="min", keep=0):
        self.path = pathlib.Path(output) / f"training-{fingerprint(settings)}"
        self.path.mkdir(parents=True, exist_ok=True)
        self.best = self.path / "best.weights.h5"
        self._monitor, self._mode, self._keep = monitor, mode, keep

    def resume(self, model, batches):
        """Loads the state that an interrupted training left, if one did.

        The training then learns what it would have learnt uninterrupted:
        batches come in the order of their epoch, and dropout goes on.

        Args:
            model: A built and compiled `keras.Model`.
            batches: `tf.data.Dataset` of what an epoch learns, which may be
                shuffled anew every time. Its length must be known.

        Returns:
            Arguments of `fit`: `x`, the batches that are left, and
            `steps_per_epoch`, `initial_epoch` and `shuffle`.
        """
        states = _numbered(self.path, "state")
        epochs = max(states, default=0)
        if states:
            if not model.optimizer.built:
                model.optimizer.build(model.trainable_variables)
            model.load_weights(states[epochs])
            _load_seeds(model, states[epochs])
        return {
            # One iterator for all epochs: Keras makes one or two for each.
            "x": batches.repeat().skip(epochs * len(batches)),
            "steps_per_epoch": len(batches),
            "initial_epoch": epochs,
            "shuffle": False,
        }

    def callbacks(self, inner=()):
        """Returns the callbacks of `fit`, `inner` among them.

        Args:
            inner: Callbacks to run before the weights and the log are
                written: what they log is logged. The state to go on from is
                saved before them, whatever they do to the weights.
        """
        record = _Record(self, self._monitor, self._mode, self._keep)
        return [_State(self.path), *inner, record]

    def last(self):
        """Returns the paths of the weights that are kept, the last last."""
        paths = _numbered(self.path, "epoch")
        return [paths[epoch] for epoch in sorted(paths)]

    def epochs_done(self):
        """Returns how many epochs are in the log."""
        return len(read_rows(self.path / _LOG))

    def history(self):
        """Returns the log: a dictionary of lists, one number an epoch."""
        history = columns(read_rows(self.path / _LOG))
        history.pop("epoch", None)
        return history


class _State(keras.callbacks.Callback):
    """Saves what a training goes on from, before others change it."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def on_epoch_end(self, epoch, logs=None):
        self.model.save_weights(self.folder / _NEW_STATE)
        _add_seeds(self.model, self.folder / _NEW_STATE)


class _Record(keras.callbacks.Callback):
    """Writes every epoch down, and last of all the state behind it."""

    def __init__(self, folder, monitor, mode, keep):
        super().__init__()
        self.folder = folder
        self.monitor, self.mode, self.keep = monitor, mode, keep

    def on_epoch_end(self, epoch, logs=None):
        logs, path = logs or {}, self.folder.path
        if self.monitor not in logs:
            raise ValueError(
                "`monitor` must be a value that the training logs, of "
                f"{', '.join(logs)}. Received: monitor={self.monitor!r}"
            )
        # What an interrupted training logged may come again.
        rows = [row for row in read_rows(path / _LOG) if row["epoch"] < epoch]
        if self._is_best(logs, rows):
            self._save(self.folder.best)
        if self.keep:
            self._save(_name(path, "epoch", epoch))
            for number, old in _numbered(path, "epoch").items():
                if not epoch - self.keep < number <= epoch:
                    old.unlink()
        write_rows(path / _LOG, [*rows, {"epoch": epoch, **logs}])
        earlier = _numbered(path, "state").values()
        (path / _NEW_STATE).replace(_name(path, "state", epoch + 1))
        for state in earlier:
            state.unlink(missing_ok=True)

    def on_train_end(self, logs=None):
        for state in _numbered(self.folder.path, "state").values():
            state.unlink()

    def _is_best(self, logs, rows):
        sign = -1 if self.mode == "max" else 1
        new = sign * logs[self.monitor]
        earlier = [sign * row[self.monitor] for row in rows]
        return all(new < value or math.isnan(value) for value in earlier)

    def _save(self, path):
        partial = path.with_name(f"partial-{path.name}")
        self.model.save_weights(partial)
        partial.replace(path)


def _seeds(model):
    """The states of the random generators, which no file of weights has."""
    weights = {id(weight) for weight in model.weights}
    return [x for x in model.variables if id(x) not in weights]


def _add_seeds(model, path):
    with h5py.File(path, "a") as file:
        for i, seed in enumerate(_seeds(model)):
            file[f"seeds/{i}"] = keras.ops.convert_to_numpy(seed)


def _load_seeds(model, path):
    with h5py.File(path) as file:
        for i, seed in enumerate(_seeds(model)):
            seed.assign(file[f"seeds/{i}"][()])


def _name(folder, kind, number):
    return folder / f"{kind}-{number:04d}.weights.h5"


def _numbered(folder, kind):
    """The files of a kind, by their numbers."""
    return {
        int(path.name.split(".")[0].removeprefix(f"{kind}-")): path
        for path in folder.glob(f"{kind}-*.weights.h5")
    }


def load_average(model, paths):
    """Sets the weights of a model to the mean of those in some files.

    Args:
        model: A built `keras.Model`.
        paths: List of paths, of weights that `model.save_weights` wrote.

    Raises:
        ValueError: when there is no path.

    Example:

    ```python
    load_average(model, TrainingFolder("out", {}, "loss", keep=3).last())
    ```
    """
    if not paths:
        raise ValueError("`paths` must name at least one file. Received: [].")
    total = None
    for path in paths:
        model.load_weights(path)
        weights = model.get_weights()
        if total is None:
            total = weights
        else:
            total = [a + b for a, b in zip(total, weights, strict=True)]
    model.set_weights([weight / len(paths) for weight in total])
