"""What `Model.fit` needs and Keras lacks."""

import csv
import json
import math
import pathlib
import time
import zlib

import keras


class Stopwatch:
    """Wall and CPU seconds since it was made.

    Example:

    >>> clock = Stopwatch()
    >>> clock.read()
    {'wall_seconds': 0.0, 'cpu_seconds': 0.0}
    """

    def __init__(self):
        self.wall = time.perf_counter()
        self.cpu = time.process_time()

    def read(self):
        """Returns the seconds, as a dictionary."""
        return {
            "wall_seconds": round(time.perf_counter() - self.wall, 2),
            "cpu_seconds": round(time.process_time() - self.cpu, 2),
        }


class TextScores(keras.callbacks.Callback):
    """Scores generated text after every epoch.

    The scores join the logs of the epoch, so that progress bar, history and
    any callback behind this one see them.

    Args:
        generate: Function from a list of strings to a list of strings, such
            as `TextTranslator.translate_all`.
        inputs: List of strings to generate from.
        references: List of strings, as many.
        score: Function from hypotheses and references to a dictionary, such
            as `kerasrnn.metrics.corpus_scores`; its numbers are logged.

    Example:

    ```python
    scores = TextScores(
        translator.translate_all, sources, references, corpus_scores
    )
    model.fit(batches, callbacks=[scores])      # logs val_bleu and val_chrf
    ```
    """

    def __init__(self, generate, inputs, references, score):
        super().__init__()
        self.generate = generate
        self.inputs = list(inputs)
        self.references = list(references)
        self.score = score

    def on_epoch_end(self, epoch, logs=None):
        if logs is None:
            return
        scores = self.score(self.generate(self.inputs), self.references)
        for name, value in scores.items():
            if isinstance(value, (int, float)):
                logs[f"val_{name}"] = value


class TrainingSpeed(keras.callbacks.Callback):
    """Logs what the training part of every epoch cost, validation left out.

    The logs get `tokens`, how many were learnt from since the first epoch,
    `tokens_per_second`, and `wall_seconds` and `cpu_seconds` of the epoch, so
    that progress bar, history and any callback behind this one see them.

    Args:
        tokens: Integer, how many an epoch learns from.

    Example:

    ```python
    model.fit(windows, callbacks=[TrainingSpeed(len(ids))])
    ```
    """

    def __init__(self, tokens):
        super().__init__()
        self.tokens = tokens
        self._clock = self._seconds = None

    def on_epoch_begin(self, epoch, logs=None):
        self._clock, self._seconds = Stopwatch(), None

    def on_test_begin(self, logs=None):
        if self._seconds is None and self._clock is not None:
            self._seconds = self._clock.read()

    def on_epoch_end(self, epoch, logs=None):
        if logs is None:
            return
        seconds = self._seconds or self._clock.read()
        logs.update(
            tokens=(epoch + 1) * self.tokens,
            tokens_per_second=self.tokens / max(seconds["wall_seconds"], 0.01),
            **seconds,
        )


class TrainingFolder:
    """What a training leaves on disk, so that it can be gone on with.

    A folder of its own for each combination of settings holds a backup of
    the last epoch, the weights of the best one, and the log of all epochs,
    those before an interruption too.

    Args:
        output: Folder to make it in.
        settings: Dictionary of what the training depends on.
        monitor: Name of the logged value that says which epoch is best.
        mode: `"min"` or `"max"`, which value of it is.

    Attributes:
        best: Path of the weights of the best epoch.

    Example:

    ```python
    folder = TrainingFolder("out", {"units": 8}, "val_loss")
    if folder.epochs_done() < 10:
        model.fit(batches, epochs=10, callbacks=folder.callbacks())
    model.load_weights(folder.best)
    ```
    """

    def __init__(self, output, settings, monitor, mode="min"):
        text = json.dumps(settings, default=str, sort_keys=True)
        name = f"training-{zlib.crc32(text.encode()):08x}"
        self._path = pathlib.Path(output) / name
        self._path.mkdir(parents=True, exist_ok=True)
        self._log = self._path / "history.csv"
        self._monitor, self._mode = monitor, mode
        self.best = self._path / "best.weights.h5"

    def callbacks(self, inner=()):
        """Returns the callbacks of `fit`, `inner` among them.

        Args:
            inner: Callbacks to run after the backup and before the weights
                and the log are written: what they log is logged.
        """
        seen = self.history().get(self._monitor)
        least = None
        if seen:
            least = min(seen) if self._mode == "min" else max(seen)
        return [
            keras.callbacks.BackupAndRestore(self._path / "backup"),
            *inner,
            keras.callbacks.ModelCheckpoint(
                self.best,
                self._monitor,
                save_best_only=True,
                save_weights_only=True,
                mode=self._mode,
                initial_value_threshold=least,
            ),
            keras.callbacks.CSVLogger(self._log, append=True),
        ]

    def epochs_done(self):
        """Returns how many epochs are in the log."""
        return len(self._rows())

    def history(self):
        """Returns the log: a dictionary of lists, one number an epoch."""
        rows = self._rows()
        names = [name for name in (rows[0] if rows else ()) if name != "epoch"]
        return {
            name: [float(row[name] or math.nan) for row in rows]
            for name in names
        }

    def _rows(self):
        if not self._log.exists():
            return []
        with open(self._log, newline="", encoding="utf-8") as log:
            return list(csv.DictReader(log))
