"""How far a training is: a line of progress, and one line an epoch."""

import shutil
import sys
import time

from kerasrnn.training.resumable.fit_callbacks import Counting

# Seconds between two lines of progress.
_PAUSE_ON_TERMINAL = 0.2
_PAUSE_IN_FILE = 60.0


class ProgressLine(Counting):
    """Prints the figures of every epoch, and progress within it.

    On a terminal, progress is one line, which the next one overwrites; in a
    file it is a line each minute. The time that is left is that of the whole
    training, validation included. The first batch, which compiles, does not
    count.

    Args:
        run: A `FitFacts`.
        monitor: String, the logged value that decides which epoch is best. It
            is shown beside the losses.
    """

    def __init__(self, run, monitor):
        super().__init__(run)
        self._names = dict.fromkeys(["loss", "val_loss", monitor])
        self._rows = list(run.start.rows)
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
            self._written = self._began  # None for epochs within a minute.

    def on_train_batch_end(self, batch, logs=None):
        now = time.monotonic()
        done = self.done(batch)
        total = self.epoch * self.run.steps + done
        if not self._compiled:
            self._compiled, self._first = now, total
        self._batches = total - self._first
        if now - self._written >= self._pause:
            self._written = now
            facts = [f"{done:,} of {self.run.steps:,} batches"]
            facts += self._figures(logs)
            if self._batches:
                rest = self.params["epochs"] - self.epoch
                rest = rest * self.run.steps - done
                seconds = (now - self._compiled) / self._batches * rest
                facts.append(f"{_time(seconds)} left")
            self._write(facts)

    def on_test_begin(self, logs=None):
        if self._on_terminal:
            self._write(["validation"])

    def on_epoch_end(self, epoch, logs=None):
        row = {"epoch": epoch} | logs
        facts = [*self._figures(row), _time(time.monotonic() - self._began)]
        if self.run.is_best(row, self._rows):
            facts.append("best so far")
        self._rows.append(row)
        self.close()
        print(self._line(facts), flush=True)

    def close(self):
        """Erases the line of progress, for whatever is printed next."""
        if self._length:
            print("\r" + " " * self._length, end="\r", flush=True)
            self._length = 0

    def _line(self, facts):
        head = f"Epoch {self.epoch + 1}/{self.params['epochs']}"
        return f"{head}: {', '.join(facts)}"

    def _write(self, facts):
        """Writes a line; over the last, cut where the terminal ends."""
        line = self._line(facts)
        if not self._on_terminal:
            print(line, flush=True)
            return
        # In the last column some terminals begin a new row.
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
