"""The callbacks of `TrainingFolder.fit`, before and after the caller's."""

import collections.abc
import dataclasses
import math
import pathlib
import re
import time

import keras

from kerasrnn.files import atomic_write
from kerasrnn.training.csv_log import write_rows
from kerasrnn.training.resumable.checkpoint import Progress
from kerasrnn.training.resumable.checkpoint import constant_rate
from kerasrnn.training.resumable.checkpoint import finish_state
from kerasrnn.training.resumable.checkpoint import restore_metrics
from kerasrnn.training.resumable.checkpoint import save_state
from kerasrnn.training.resumable.checkpoint import save_weights

LOG = "history.csv"
BEST = "best.weights.h5"
_PENDING = "partial-state.weights.h5"


@dataclasses.dataclass(frozen=True)
class FitFacts:
    """The arguments and the starting point of one `fit`.

    Attributes:
        folder: A `pathlib.Path`, the training folder.
        start: A `Progress`, the state to resume from.
        steps: Integer, the number of batches in an epoch.
        rate: Float, the learning rate that the optimizer was created with;
            `None` for a schedule.
        is_best: Function from the row of an epoch and the earlier rows to
            whether the epoch is the best so far.
        keep: Integer, of how many last epochs the weights are kept.
        patience: Integer, after how many epochs without a better one to stop;
            0 for never.
        seconds: Float, the time between two checkpoints within an epoch.
    """

    folder: pathlib.Path
    start: Progress
    steps: int
    rate: float | None
    is_best: collections.abc.Callable
    keep: int
    patience: int
    seconds: float


class Counting(keras.callbacks.Callback):
    """Counts the batches of an epoch that an earlier process began."""

    def __init__(self, run):
        super().__init__()
        self.run = run
        self.epoch = self.before = 0

    def on_epoch_begin(self, epoch, logs=None):
        start = self.run.start
        self.epoch = epoch
        self.before = start.batch if epoch == start.epoch else 0

    def done(self, batch):
        """Returns how many batches of the epoch are done."""
        return self.before + batch + 1


class BeforeCallbacks(Counting):
    """Stops if the loss is not finite, and saves the state after an epoch.

    The state is saved before callbacks of the caller change the weights, as
    `keras.callbacks.SwapEMAWeights` does.

    Args:
        run: A `FitFacts`.
        metrics: List of arrays, the running metrics of the checkpoint.
    """

    def __init__(self, run, metrics):
        super().__init__(run)
        self._metrics = metrics
        # Whether the epoch, not a caller, has set `stop_training`.
        self.ends_epoch = False

    def on_epoch_begin(self, epoch, logs=None):
        super().on_epoch_begin(epoch)
        if self.before:
            # Keras has just reset them.
            restore_metrics(self.model, self._metrics)

    def on_train_batch_end(self, batch, logs=None):
        self._check(logs, "loss", f"at batch {self.done(batch)} of epoch")

    def on_epoch_end(self, epoch, logs=None):
        if self.ends_epoch:
            self.ends_epoch = self.model.stop_training = False
        for name in ("loss", "val_loss"):
            self._check(logs, name, "after epoch")
        save_state(self.model, self.run.folder / _PENDING)

    def _check(self, logs, name, place):
        value = float((logs or {}).get(name, 0.0))
        if math.isfinite(value):
            return
        best = self.run.folder / BEST
        kept = f" The best weights so far are in '{best}'."
        raise FloatingPointError(
            f"The training failed: `{name}` must be a finite number. Received: "
            f"{value} {place} {self.epoch + 1}. A lower learning rate or "
            "clipped gradients (`global_clipnorm` of the optimizer) may help. "
            "Check the data too: a label outside the vocabulary is one cause."
            f"{kept if best.exists() else ''}"
        )


class AfterCallbacks(Counting):
    """Logs every epoch, and then completes its checkpoint.

    Args:
        run: A `FitFacts`.
        callbacks: List of the caller's callbacks. The checkpoint includes
            what their `get_state` returns; `set_state` restores it.
        first: The `BeforeCallbacks` of the same `fit`.
    """

    def __init__(self, run, callbacks, first):
        super().__init__(run)
        self._first = first
        self._stateful = {
            f"{place} {type(callback).__name__}": callback
            for place, callback in enumerate(callbacks)
            if hasattr(callback, "get_state")
        }
        self._rows = list(run.start.rows)
        self._saved_at = None

    def on_train_begin(self, logs=None):
        self._saved_at = time.monotonic()
        for name, state in self.run.start.notes.items():
            if name in self._stateful:
                self._stateful[name].set_state(state)

    def on_train_batch_end(self, batch, logs=None):
        done, waited = self.done(batch), time.monotonic() - self._saved_at
        if done < self.run.steps and waited >= self.run.seconds:
            save_state(self.model, self.run.folder / _PENDING)
            self._finish(epoch=self.epoch, batch=done)
        # All epochs of a `fit` have the same length, but one can be stopped.
        if self.before and done >= self.run.steps:
            self._first.ends_epoch = not self.model.stop_training
            self.model.stop_training = True

    def on_epoch_end(self, epoch, logs=None):
        row = {"epoch": epoch}
        row |= {name: float(value) for name, value in logs.items()}
        if self.run.is_best(row, self._rows):
            self._save(self.run.folder / BEST)
        if self.run.keep:
            self._save(self.run.folder / f"epoch-{epoch:04d}.weights.h5")
            for number, path in kept_epochs(self.run.folder).items():
                if not epoch - self.run.keep < number <= epoch:
                    path.unlink()
        self._rows.append(row)
        write_rows(self.run.folder / LOG, self._rows)
        if self.run.patience and not self._improved():
            self.model.stop_training = True
        stopped = self.params["epochs"] if self.model.stop_training else 0
        self._finish(epoch=epoch + 1, stopped=stopped)

    def _improved(self):
        """Whether one of the last epochs is better than all before it."""
        rows = self._rows
        last = range(max(0, len(rows) - self.run.patience), len(rows))
        return any(self.run.is_best(rows[i], rows[:i]) for i in last)

    def _finish(self, **facts):
        progress = Progress(
            rows=self._rows,
            compiled_rate=self.run.rate,
            reached_rate=constant_rate(self.model.optimizer),
            notes={name: x.get_state() for name, x in self._stateful.items()},
            **facts,
        )
        folder = self.run.folder
        finish_state(folder / _PENDING, folder, progress)
        self._saved_at = time.monotonic()

    def _save(self, path):
        with atomic_write(path) as partial:
            save_weights(self.model, partial)


def kept_epochs(folder):
    """Returns the files of kept weights, by the number of their epoch."""
    # Excludes copies such as `epoch-0001 (1).weights.h5`.
    pattern = re.compile(r"epoch-(\d{4,})\.weights\.h5")
    paths = folder.glob("epoch-*")
    found = {path: pattern.fullmatch(path.name) for path in paths}
    return {int(x[1]): path for path, x in found.items() if x}
