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


class GradientNorms(keras.callbacks.Callback):
    """Notes how long the gradients of a model's parts are, over a training.

    Args:
        measure: Function without arguments that returns a dictionary of name
            to norm, such as those of the gradients of some batch.
        path: Path of the CSV file to write, a row for each measurement: the
            batches learnt from so far, and the norms. Rows of a training
            that was interrupted stay.
        every: Positive integer, how many batches are between two
            measurements.

    Example:

    ```python
    norms = GradientNorms(lambda: {"cell": 0.5}, "norms.csv", every=10)
    model.fit(batches, callbacks=[norms])
    norms.history()     # {"step": [10.0, 20.0], "cell": [0.5, 0.5]}
    ```
    """

    def __init__(self, measure, path, every=50):
        super().__init__()
        self.measure = measure
        self.every = every
        self._path = pathlib.Path(path)

    def on_train_batch_end(self, batch, logs=None):
        step = int(self.model.optimizer.iterations)
        if step % self.every:
            return
        row = {"step": step} | self.measure()
        is_new = not self._path.exists()
        with open(self._path, "a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, row)
            if is_new:
                writer.writeheader()
            writer.writerow(row)

    def history(self):
        """Returns what was noted: a dictionary of lists."""
        return _columns(_read_rows(self._path))


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
        keep: Integer, of how many of the last epochs the weights are kept;
            see `last`.

    Attributes:
        best: Path of the weights of the best epoch.
        path: Path of the folder.

    Example:

    ```python
    folder = TrainingFolder("out", {"units": 8}, "val_loss")
    if folder.epochs_done() < 10:
        model.fit(batches, epochs=10, callbacks=folder.callbacks())
    model.load_weights(folder.best)
    ```
    """

    def __init__(self, output, settings, monitor, mode="min", keep=0):
        text = json.dumps(settings, default=str, sort_keys=True)
        name = f"training-{zlib.crc32(text.encode()):08x}"
        self.path = pathlib.Path(output) / name
        self.path.mkdir(parents=True, exist_ok=True)
        self._log = self.path / "history.csv"
        self._monitor, self._mode, self._keep = monitor, mode, keep
        self.best = self.path / "best.weights.h5"

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
            keras.callbacks.BackupAndRestore(self.path / "backup"),
            *inner,
            _LastWeights(self.path, self._keep),
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

    def last(self):
        """Returns the paths of the weights that are kept, the last last."""
        return sorted(self.path.glob("epoch-*.weights.h5"))

    def epochs_done(self):
        """Returns how many epochs are in the log."""
        return len(_read_rows(self._log))

    def history(self):
        """Returns the log: a dictionary of lists, one number an epoch."""
        columns = _columns(_read_rows(self._log))
        columns.pop("epoch", None)
        return columns


class _LastWeights(keras.callbacks.Callback):
    """Keeps the weights of the last epochs in a folder."""

    def __init__(self, folder, count):
        super().__init__()
        self.folder, self.count = folder, count

    def on_epoch_end(self, epoch, logs=None):
        if not self.count:
            return
        self.model.save_weights(self.folder / f"epoch-{epoch:04d}.weights.h5")
        for path in sorted(self.folder.glob("epoch-*"))[: -self.count]:
            path.unlink()


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


def _read_rows(path):
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _columns(rows):
    return {
        name: [float(row[name] or math.nan) for row in rows]
        for name in (rows[0] if rows else ())
    }
