"""A training in a folder, which can be resumed and continued."""

import contextlib
import json
import math
import pathlib
import textwrap
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Literal

import keras

from kerasrnn.arguments import integer
from kerasrnn.arguments import positive_integer
from kerasrnn.distribute.replicas import fit_arguments
from kerasrnn.distribute.replicas import strategy_of
from kerasrnn.distribute.workers import all_workers
from kerasrnn.distribute.workers import copy_from_first_worker
from kerasrnn.files import atomic_write
from kerasrnn.files import locked
from kerasrnn.files import reading
from kerasrnn.training.batches import check_batches
from kerasrnn.training.batches import check_executions
from kerasrnn.training.batches import check_validation
from kerasrnn.training.batches import endless
from kerasrnn.training.checkpoint import STATE
from kerasrnn.training.checkpoint import Progress
from kerasrnn.training.checkpoint import build_metrics
from kerasrnn.training.checkpoint import check_weights
from kerasrnn.training.checkpoint import constant_rate
from kerasrnn.training.checkpoint import deletion_remedy
from kerasrnn.training.checkpoint import load_state
from kerasrnn.training.checkpoint import load_weights
from kerasrnn.training.checkpoint import read_progress
from kerasrnn.training.csv_log import columns
from kerasrnn.training.csv_log import read_rows
from kerasrnn.training.csv_log import write_rows
from kerasrnn.training.fingerprints import fingerprint
from kerasrnn.training.fingerprints import plain
from kerasrnn.training.fit_callbacks import BEST
from kerasrnn.training.fit_callbacks import LOG
from kerasrnn.training.fit_callbacks import AfterCallbacks
from kerasrnn.training.fit_callbacks import BeforeCallbacks
from kerasrnn.training.fit_callbacks import BestEpoch
from kerasrnn.training.fit_callbacks import FitFacts
from kerasrnn.training.fit_callbacks import ProgressLine
from kerasrnn.training.fit_callbacks import kept_epochs
from kerasrnn.typing import Batches
from kerasrnn.typing import History
from kerasrnn.typing import PathLike

_SETTINGS = "settings.json"


class TrainingFolder:
    """A training in a folder, which can be resumed and continued.

    Each combination of settings has its own folder with the last checkpoint,
    the weights of the best epoch, and the log of all epochs. A checkpoint
    contains the weights, the optimizer and the random generators; within an
    epoch, also the number of batches and the running metrics. Files are written
    completely or not at all. An epoch counts as finished when it is validated
    and logged.

    A resumed training gives the same results as an uninterrupted one, exactly
    so if the backend is deterministic: it has the same order of batches and the
    same dropout masks. A learning rate schedule is not saved; that of the given
    model is used. Callbacks start from scratch, like those of Keras, unless
    they can be restored: see `fit`. For early stopping, use `patience` instead
    of `keras.callbacks.EarlyStopping`.

    The caller chooses which settings identify a training. The number of epochs
    must not be one of them. If the learning rate is one of them, a different
    rate starts a new training, and `fit` prints a message; otherwise the
    training continues with the rate of the new optimizer. Fine-tuning is a new
    training from other weights: include the fingerprint of their file in the
    settings (see `file_fingerprint` and `start_from`).

    Args:
        output: Folder in which to create the training folder. Only one process
            at a time may train there.
        settings: Dictionary of everything that the training depends on,
            including the data, because with other data, the same token ids may
            stand for other words.
        monitor: Name of the logged value that determines the best epoch. NaN is
            worse than any other value.
        mode: `"min"` or `"max"`: whether the lowest or the highest value is
            best.
        keep: Integer, number of last epochs whose weights are kept; see `last`.
        patience: Integer, number of epochs without improvement before training
            stops (early stopping), also across interruptions; 0 for never.

    Raises:
        ValueError: when `mode` is unknown, or `keep` or `patience` is not a
            non-negative integer.

    Attributes:
        best: Path of the weights of the best epoch.
        path: Path of the training folder. `fit` creates it.

    Example:

    >>> import tensorflow as tf
    >>> x = np.ones((8, 1))
    >>> batches = tf.data.Dataset.from_tensor_slices((x, x)).batch(4)
    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> folder = TrainingFolder("out", {"units": 1, "seed": 1}, "val_loss")
    >>> history = folder.fit(
    ...     model, batches, epochs=2, validation_data=batches, verbose=0
    ... )
    >>> len(history["val_loss"])
    2
    >>> folder.load_best(model)
    """

    def __init__(
        self,
        output: PathLike,
        settings: Mapping[str, Any],
        monitor: str,
        mode: Literal["min", "max"] = "min",
        keep: int = 0,
        patience: int = 0,
    ) -> None:
        self.path = pathlib.Path(output) / f"training-{fingerprint(settings)}"
        self.best = self.path / BEST
        self._settings = settings
        self._best = BestEpoch(monitor, mode)
        self._keep = integer("keep", keep, 0)
        self._patience = integer("patience", patience, 0)

    def fit(
        self,
        model: keras.Model,
        batches: Batches,
        epochs: int,
        validation_data: Any = None,
        callbacks: Sequence[keras.callbacks.Callback] = (),
        minutes: float = 10.0,
        verbose: str | int = "auto",
    ) -> History:
        """Trains up to a number of epochs, starting from the last checkpoint.

        If that many epochs are done, it returns the log and does not change the
        model. The same holds after a callback such as
        `keras.callbacks.EarlyStopping` stopped the training, until `epochs` is
        increased. Then the callback starts from scratch.

        Args:
            model: A built and compiled `keras.Model`. Afterwards it has the
                last weights; see `load_best`.
            batches: `tf.data.Dataset` of known length with the batches of an
                epoch. It may be reshuffled in every epoch. If it was iterated
                over before, the order continues from there. Or a
                `keras.utils.PyDataset` with the same batches in every epoch,
                whose `on_epoch_begin` and `on_epoch_end` are not called.
            epochs: Positive integer, the total number of epochs, including
                those of earlier calls.
            validation_data: As in `keras.Model.fit`, with the same order in
                every epoch, because a resumed training starts from its
                beginning. It must not be a part of a reshuffled dataset of
                which `batches` is another part, because rows would move between
                them.
            callbacks: List of callbacks. Values that they add to the logs are
                logged. If they change the weights at the end of an epoch, the
                saved weights of that epoch contain the change, but the
                checkpoint does not. A callback is restored when a training
                resumes if it has methods `get_state`, which returns a
                dictionary for JSON, and `set_state`.
            minutes: Float, minutes between two checkpoints within an epoch.
            verbose: `"auto"` prints a line with the losses and `monitor` for
                every epoch, and on a terminal a progress line. Otherwise as in
                `keras.Model.fit`.

        Returns:
            The log of all epochs: a dictionary of name to list.

        Raises:
            FloatingPointError: when the loss is NaN or infinite.
            OSError: when a file cannot be written, as on a full disk.
            RuntimeError: when another process trains in the output folder.
            ValueError: when a file of an earlier call is damaged, `epochs` is
                not positive, `monitor` is not logged, `batches` has an
                unsupported type, an unknown length or is reshuffled together
                with `validation_data`, or `steps_per_execution` does not divide
                an epoch.
        """
        positive_integer("epochs", epochs)
        check_batches(batches)
        check_validation(batches, validation_data)
        strategy = strategy_of(model)
        with locked(self.path.parent), all_workers(strategy):
            start = start_together(self.path, self._settings, strategy)
            if epochs <= max(start.epoch, start.stopped):
                more = ", more than requested," if epochs < start.epoch else ","
                print(
                    f"{start.epoch} epochs are done{more} in "
                    f"'{self.path}'.\nTo continue the training, request more "
                    "epochs."
                )
            else:
                self._train(
                    model,
                    batches,
                    validation_data,
                    callbacks,
                    start,
                    60 * minutes,
                    epochs=epochs,
                    verbose=verbose,
                )
            return self.history()

    def load_best(self, model: keras.Model) -> None:
        """Loads the weights of the best epoch.

        Args:
            model: A `keras.Model` like the one that was trained.

        Raises:
            ValueError: when the file is damaged or belongs to another model.
        """
        with reading(self.best, deletion_remedy(self.path)):
            load_weights(model, self.best)

    def best_epoch(self) -> int:
        """Returns the number of the best epoch, from 1.

        Raises:
            ValueError: when no epoch is finished.
        """
        return self._best.number(logged_rows(self.path))

    def last(self) -> list[pathlib.Path]:
        """Returns the paths of the kept weights in order of the epochs.

        Raises:
            ValueError: when a file is missing.
        """
        done, paths = self.epochs_done(), kept_epochs(self.path)
        epochs = range(max(0, done - self._keep), done)
        missing = [epoch for epoch in epochs if epoch not in paths]
        if missing:
            numbers = ", ".join(str(epoch + 1) for epoch in missing)
            raise ValueError(
                "The weights of some epochs are missing. "
                f"{deletion_remedy(self.path)} Received: no file for epochs "
                f"{numbers}"
            )
        return [paths[epoch] for epoch in epochs]

    def epochs_done(self) -> int:
        """Returns the number of epochs in the log."""
        return len(logged_rows(self.path))

    def history(self) -> History:
        """Returns the log: a dictionary of lists, one number per epoch."""
        history = columns(logged_rows(self.path))
        history.pop("epoch", None)
        return history

    def _train(
        self, model, batches, validation, callbacks, start, seconds, **options
    ):
        rate = constant_rate(model.optimizer)
        steps = len(batches)
        check_executions(model, steps, start.batch)
        if start.batch or keras.backend.backend() == "jax":
            # Variables must exist before they can be restored. On JAX, `fit`
            # would create them by drawing a batch, which changes the order of
            # the following ones.
            build_metrics(model, batches)
        metrics = []
        if start.epoch or start.batch:
            print(
                f"The training resumes after epoch {start.epoch} and "
                f"{start.batch} batches of the next epoch."
            )
            metrics = load_state(model, self.path / STATE)
        # One iterator for all epochs; Keras would create one per epoch.
        data = endless(batches, start.epoch * steps + start.batch)
        if strategy_of(model) is not None:
            # Within an epoch, each replica has its own states.
            seconds = math.inf
        run = FitFacts(
            folder=self.path,
            start=start,
            steps=steps,
            rate=rate,
            rows=list(start.rows),
            best=self._best,
            keep=self._keep,
            patience=self._patience,
            seconds=seconds,
        )
        before = BeforeCallbacks(run, metrics)
        line = ProgressLine(run, self._best.monitor)
        if options["verbose"] == "auto":
            options["verbose"] = 0
            callbacks = [*callbacks, line]
        with contextlib.closing(line):
            model.fit(
                **fit_arguments(model, data, validation),
                initial_epoch=start.epoch,
                steps_per_epoch=steps,
                shuffle=False,
                callbacks=[
                    before,
                    *callbacks,
                    AfterCallbacks(run, callbacks, before),
                ],
                **options,
            )


def start_together(folder, settings, strategy):
    """Returns the progress of a training, the same for all workers.

    Args:
        folder: Path of the training folder. It is created if it does not exist.
        settings: Dictionary of everything that the training depends on.
        strategy: A `tf.distribute.Strategy` with several replicas, or `None`.
            All workers start from the checkpoint of the first one.

    Returns:
        A `Progress`.

    Raises:
        ValueError: when a file is damaged or missing, or several devices would
            resume a training within an epoch.
    """
    start = _start(folder, settings)
    if strategy is not None:
        paths = [folder / name for name in (LOG, BEST, STATE)]
        copy_from_first_worker(folder, paths, strategy)
        start = _start(folder, settings)
    if strategy is not None and start.batch:
        raise ValueError(
            "Several devices can resume a training only at the start of an "
            "epoch. Let a single device finish the epoch first. Received: "
            f"{start.batch} finished batches of epoch {start.epoch + 1}."
        )
    return start


def logged_rows(folder):
    """Returns the log of a training: a dictionary for each epoch.

    Raises:
        ValueError: when the file is damaged.
    """
    with reading(
        folder / LOG,
        "Delete it; the training writes a new log when it resumes.",
    ):
        return read_rows(folder / LOG)


def _start(folder, settings):
    """Creates the folder, or reads the progress of its training."""
    if not (folder / _SETTINGS).exists():
        make_training_folder(folder, settings)
    # A killed process may have left incomplete files.
    for partial in folder.glob("partial-*"):
        partial.unlink()
    state = folder / STATE
    if not state.exists():
        # A training may have been killed after it logged its first epoch.
        if len(logged_rows(folder)) > 1:
            raise ValueError(
                "There is a log, but no checkpoint to resume from. "
                f"{deletion_remedy(folder)} Received: '{folder / LOG}'."
            )
        return Progress()
    progress = read_progress(state)
    if progress.rows:
        # The log may have one more epoch, or be damaged.
        write_rows(folder / LOG, progress.rows)
        check_weights(folder / BEST)
    return progress


def make_training_folder(path, settings):
    """Creates the folder of a new training, and a file of its settings.

    If there is another training in the parent folder, it prints the settings
    that differ, to show why that training was not resumed.

    Args:
        path: A `pathlib.Path`, the folder to create.
        settings: Dictionary of everything that the training depends on. Long
            values, such as the data, are written as their fingerprint.
    """
    own = {name: _short(value) for name, value in settings.items()}
    last = max(
        path.parent.glob(f"training-*/{_SETTINGS}"),
        key=lambda x: x.stat().st_mtime,
        default=None,
    )
    if last is not None:
        with reading(last, "Delete it."):
            theirs = dict(json.loads(last.read_text("utf-8")))
        names = [x for x in own | theirs if own.get(x) != theirs.get(x)]
        print(f"A new training starts in '{path}'.")
        why = f"The last one, in '{last.parent.name}', has different settings: "
        print(textwrap.fill(f"{why}{', '.join(names)}.", 79))
    path.mkdir(parents=True, exist_ok=True)  # A killed run may have.
    with atomic_write(path / _SETTINGS) as partial:
        partial.write_text(json.dumps(own, indent=2), "utf-8")


def _short(value):
    """Returns a setting as a JSON value, or the fingerprint of a long one."""
    text = json.dumps(value, default=plain)
    return json.loads(text) if len(text) < 100 else fingerprint(value)
