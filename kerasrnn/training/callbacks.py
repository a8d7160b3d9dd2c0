"""What `Model.fit` needs and Keras lacks."""

import numbers
import pathlib
import time

import keras

from kerasrnn.training.csv_log import columns
from kerasrnn.training.csv_log import read_rows
from kerasrnn.training.csv_log import write_rows


class Stopwatch:
    """Wall and CPU seconds since it was made.

    Example:

    >>> clock = Stopwatch()
    >>> clock.read()
    {'wall_seconds': ..., 'cpu_seconds': ...}
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

    The scores join the logs of the epoch, and so does `score_seconds`, what
    they took by the clock, so that progress bar, history and any callback
    behind this one see them.

    Args:
        generate: Function from a list of strings to a list of strings, such
            as `TextTranslator.translate`.
        inputs: List of strings to generate from.
        references: List of strings, as many.
        score: Function from hypotheses and references to a dictionary, such
            as `kerasrnn.metrics.corpus_scores`; its numbers are logged.

    Example:

    >>> inputs, references = ["one", "two"], ["Eins", "Zwei"]
    >>> def score(found, references):
    ...     return {"accuracy": np.mean(np.equal(found, references))}
    >>> scores = TextScores(
    ...     lambda texts: ["Eins", "Drei"], inputs, references, score
    ... )
    >>> model = keras.Sequential([keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> x = np.ones((4, 1))
    >>> history = model.fit(x, x, verbose=0, callbacks=[scores])
    >>> float(history.history["val_accuracy"][0])
    0.5
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
        clock = Stopwatch()
        scores = self.score(self.generate(self.inputs), self.references)
        logs["score_seconds"] = clock.read()["wall_seconds"]
        for name, value in scores.items():
            if isinstance(value, numbers.Real):
                logs[f"val_{name}"] = value


class TrainingSpeed(keras.callbacks.Callback):
    """Logs what the training part of every epoch cost, validation left out.

    The logs get `tokens`, how many were learnt from since the first epoch,
    `tokens_per_second`, and `wall_seconds` and `cpu_seconds` of the epoch, so
    that progress bar, history and any callback behind this one see them. In
    an epoch that `TrainingFolder.fit` goes on with, the seconds up to the
    state that it goes on from count too.

    Args:
        tokens: Integer, how many an epoch learns from.

    Example:

    >>> model = keras.Sequential([keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> x = np.ones((4, 1))
    >>> history = model.fit(x, x, verbose=0, callbacks=[TrainingSpeed(len(x))])
    >>> history.history["tokens"]
    [4]
    """

    def __init__(self, tokens):
        super().__init__()
        self.tokens = tokens
        self._clock = self._seconds = None
        self._before = {}

    def on_epoch_begin(self, epoch, logs=None):
        self._clock, self._seconds = Stopwatch(), None

    def on_test_begin(self, logs=None):
        if self._seconds is None and self._clock is not None:
            self._seconds = self.get_state()

    def on_epoch_end(self, epoch, logs=None):
        if logs is None:
            return
        seconds = self._seconds or self.get_state()
        self._before = {}
        logs.update(
            tokens=(epoch + 1) * self.tokens,
            tokens_per_second=self.tokens / max(seconds["wall_seconds"], 0.01),
            **seconds,
        )

    def get_state(self):
        """Returns what the epoch took so far."""
        return {
            name: self._before.get(name, 0.0) + seconds
            for name, seconds in self._clock.read().items()
        }

    def set_state(self, state):
        """Takes over what an epoch took in an earlier process."""
        self._before = state


def without_costs(history):
    """Returns what a training logged but for tokens and seconds.

    Args:
        history: Dictionary of name to list, as `model.fit(...).history`.

    Example:

    >>> without_costs({"loss": [2.0], "tokens": [100.0], "val_loss": [2.5]})
    {'loss': [2.0], 'val_loss': [2.5]}
    """
    return {
        name: values
        for name, values in history.items()
        if not name.startswith("tokens") and not name.endswith("_seconds")
    }


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

    >>> norms = GradientNorms(lambda: {"cell": 0.5}, "norms.csv", every=2)
    >>> model = keras.Sequential([keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> x = np.ones((4, 1))
    >>> history = model.fit(x, x, batch_size=1, verbose=0, callbacks=[norms])
    >>> norms.history()
    {'step': [2.0, 4.0], 'cell': [0.5, 0.5]}
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
        # An interrupted training comes by its last batches again.
        rows = [row for row in read_rows(self._path) if row["step"] < step]
        write_rows(self._path, [*rows, {"step": step} | self.measure()])

    def history(self):
        """Returns what was noted: a dictionary of lists."""
        return columns(read_rows(self._path))
