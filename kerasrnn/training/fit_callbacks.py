"""Callbacks of `TrainingFolder.fit`, which run around the caller's."""

import dataclasses
import math
import pathlib
import re
import shutil
import sys
import time

import keras

from kerasrnn.arguments import one_of
from kerasrnn.files import atomic_write
from kerasrnn.training.checkpoint import STATE
from kerasrnn.training.checkpoint import Progress
from kerasrnn.training.checkpoint import constant_rate
from kerasrnn.training.checkpoint import finish_state
from kerasrnn.training.checkpoint import restore_metrics
from kerasrnn.training.checkpoint import save_state
from kerasrnn.training.checkpoint import save_weights
from kerasrnn.training.csv_log import write_rows


class BestEpoch:
    """Determines the best epoch by a logged value.

    NaN is worse than any other value.

    Args:
        monitor: String, name of the value.
        mode: `"min"` or `"max"`: whether the lowest or the highest is best.

    Raises:
        ValueError: when `mode` is unknown.
    """

    def __init__(self, monitor, mode):
        one_of("mode", mode, ("min", "max"))
        self.monitor, self._sign = monitor, -1 if mode == "max" else 1

    def is_best(self, row, earlier):
        """Whether an epoch is better than all earlier ones.

        Raises:
            ValueError: when the value is not logged.
        """
        if self.monitor not in row:
            raise ValueError(
                "`monitor` must be one of the logged values, "
                f"{', '.join(list(row)[1:])}. "
                f"Received: monitor={self.monitor!r}"
            )
        new = self._sign * row[self.monitor]
        others = [self._sign * other[self.monitor] for other in earlier]
        return all(new < value or math.isnan(value) for value in others)

    def number(self, rows):
        """Returns the number of the best logged epoch, counted from 1.

        Raises:
            ValueError: when no epoch is logged.
        """
        best = [self.is_best(row, rows[:i]) for i, row in enumerate(rows)]
        if not best:
            raise ValueError(
                "There is no best epoch, because no epoch has been logged yet. "
                "Expected: at least one. Received: none"
            )
        return len(best) - best[::-1].index(True)


LOG = "history.csv"
BEST = "best.weights.h5"
_PENDING = "partial-state.weights.h5"


@dataclasses.dataclass(frozen=True)
class FitFacts:
    """The arguments and the starting point of a call of `fit`.

    Attributes:
        folder: A `pathlib.Path`, the training folder.
        start: A `Progress`, the state to resume from.
        steps: Integer, the number of batches in an epoch.
        rate: Float, the learning rate that the optimizer was created with;
            `None` for a schedule.
        rows: List of dictionaries, the log of the epochs so far.
        best: The `BestEpoch`.
        keep: Integer, number of last epochs whose weights are kept.
        patience: Integer, number of epochs without improvement before training
            stops (early stopping); 0 for never.
        seconds: Float, the time between two checkpoints within an epoch.
    """

    folder: pathlib.Path
    start: Progress
    steps: int
    rate: float | None
    rows: list
    best: BestEpoch
    keep: int
    patience: int
    seconds: float


class Counting(keras.callbacks.Callback):
    """Counts batches, including those of an epoch that was interrupted."""

    def __init__(self, run):
        super().__init__()
        self.run = run
        self.epoch = self.before = 0

    def on_epoch_begin(self, epoch, logs=None):
        start = self.run.start
        self.epoch = epoch
        self.before = start.batch if epoch == start.epoch else 0

    def done(self, batch):
        """Returns the number of finished batches of the epoch."""
        return self.before + batch + 1


class BeforeCallbacks(Counting):
    """Stops if the loss is not finite, and saves the state after each epoch.

    It saves the state before the caller's callbacks, which may change the
    weights, like `keras.callbacks.SwapEMAWeights`.

    Args:
        run: A `FitFacts`.
        metrics: List of arrays, the running metrics of the checkpoint.
    """

    def __init__(self, run, metrics):
        super().__init__(run)
        self._metrics = metrics
        # Whether a callback of this `fit`, not the caller, has set
        # `stop_training`.
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
            "gradient clipping (`global_clipnorm` of the optimizer) may help. "
            "Also check the data: labels outside the vocabulary are one cause."
            f"{kept if best.exists() else ''}"
        )


class AfterCallbacks(Counting):
    """Logs every epoch and then completes its checkpoint.

    Args:
        run: A `FitFacts`.
        callbacks: List of the caller's callbacks. The checkpoint includes the
            results of their `get_state`, which `set_state` restores.
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
        # All epochs of a `fit` have the same length, but one may be stopped.
        if self.before and done >= self.run.steps:
            self._first.ends_epoch = not self.model.stop_training
            self.model.stop_training = True

    def on_epoch_end(self, epoch, logs=None):
        numbers = {name: float(value) for name, value in logs.items()}
        row, run = {"epoch": epoch} | numbers, self.run
        if run.best.is_best(row, run.rows):
            self._save(run.folder / BEST)
        if run.keep:
            self._save(run.folder / f"epoch-{epoch:04d}.weights.h5")
            for number, path in kept_epochs(run.folder).items():
                if not epoch - run.keep < number <= epoch:
                    path.unlink()
        run.rows.append(row)
        write_rows(run.folder / LOG, run.rows)
        since_best = len(run.rows) - run.best.number(run.rows)
        if run.patience and since_best >= run.patience:
            self.model.stop_training = True
        self._finish(
            epoch=epoch + 1,
            stopped=self.params["epochs"] if self.model.stop_training else 0,
        )

    def _finish(self, **facts):
        progress = Progress(
            rows=self.run.rows,
            compiled_rate=self.run.rate,
            reached_rate=constant_rate(self.model.optimizer),
            notes={name: x.get_state() for name, x in self._stateful.items()},
            **facts,
        )
        folder = self.run.folder
        finish_state(folder / _PENDING, folder / STATE, progress)
        self._saved_at = time.monotonic()

    def _save(self, path):
        with atomic_write(path) as partial:
            save_weights(self.model, partial)


def kept_epochs(folder):
    """Returns the files of kept weights by the number of their epoch.

    Copies such as `epoch-0001 (1).weights.h5` are none of them.
    """
    found = {
        path: re.fullmatch(r"epoch-(\d{4,})\.weights\.h5", path.name)
        for path in folder.glob("*")
    }
    return {int(x[1]): path for path, x in found.items() if x}


# Seconds between two progress lines.
_PAUSE_ON_TERMINAL = 0.2
_PAUSE_IN_FILE = 60.0


class ProgressLine(Counting):
    """Prints the metrics of every epoch, and progress within it.

    On a terminal, a single progress line is overwritten; in a file, there is a
    line each minute. The remaining time is that of the whole training including
    validation. The first batch is not counted, because it includes compilation.

    Args:
        run: A `FitFacts`.
        monitor: String, the logged value that determines the best epoch. It is
            shown beside the losses.
    """

    def __init__(self, run, monitor):
        super().__init__(run)
        self._names = dict.fromkeys(["loss", "val_loss", monitor])
        self._on_terminal = sys.stdout.isatty()
        self._pause = (
            _PAUSE_ON_TERMINAL if self._on_terminal else _PAUSE_IN_FILE
        )
        self._length = 0
        self._compiled = self._began = self._written = 0.0
        self._first = self._batches = 0  # of all epochs; since the first

    def on_epoch_begin(self, epoch, logs=None):
        super().on_epoch_begin(epoch)
        self._began = time.monotonic()
        if not self._on_terminal:
            self._written = self._began  # None for short epochs.

    def on_train_batch_end(self, batch, logs=None):
        now = time.monotonic()
        done = self.done(batch)
        total = self.epoch * self.run.steps + done
        if not self._compiled:
            self._compiled, self._first = now, total
        self._batches = total - self._first
        if now - self._written >= self._pause:
            self._written = now
            facts = [
                f"{done:,} of {self.run.steps:,} batches",
                *self._figures(logs),
            ]
            if self._batches:
                rest = self.params["epochs"] * self.run.steps - total
                seconds = (now - self._compiled) / self._batches * rest
                facts.append(f"{_time(seconds)} left")
            self._write(facts)

    def on_test_begin(self, logs=None):
        if self._on_terminal:
            self._write(["validation"])

    def on_epoch_end(self, epoch, logs=None):
        row = {"epoch": epoch} | logs
        facts = [*self._figures(row), _time(time.monotonic() - self._began)]
        if self.run.best.is_best(row, self.run.rows):
            facts.append("best so far")
        self.close()
        print(self._line(facts), flush=True)

    def close(self):
        """Erases the progress line, before anything else is printed."""
        if self._length:
            print("\r" + " " * self._length, end="\r", flush=True)
            self._length = 0

    def _line(self, facts):
        head = f"Epoch {self.epoch + 1}/{self.params['epochs']}"
        return f"{head}: {', '.join(facts)}"

    def _write(self, facts):
        """Overwrites the last line, cut to the width of the terminal."""
        line = self._line(facts)
        if not self._on_terminal:
            print(line, flush=True)
            return
        # Some terminals start a new row at the last column.
        line = line[: shutil.get_terminal_size().columns - 1]
        print(f"\r{line.ljust(self._length)}", end="", flush=True)
        self._length = len(line)

    def _figures(self, logs):
        return [f"{x} {float(logs[x]):.4g}" for x in self._names if x in logs]


def _time(seconds):
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes / 60:.1f} h"
