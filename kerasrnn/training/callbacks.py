"""Callbacks: scores of generated text, speed, gradient norms, weight noise."""

import numbers
import pathlib
import time
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from kerasrnn.arguments import number
from kerasrnn.arguments import positive_integer
from kerasrnn.training.csv_log import columns
from kerasrnn.training.csv_log import read_rows
from kerasrnn.training.csv_log import write_rows
from kerasrnn.typing import History
from kerasrnn.typing import PathLike


class Stopwatch:
    """Measures wall and CPU seconds since its creation.

    Example:

    >>> clock = Stopwatch()
    >>> clock.read()
    {'wall_seconds': ..., 'cpu_seconds': ...}
    """

    def __init__(self) -> None:
        self.wall = time.perf_counter()
        self.cpu = time.process_time()

    def read(self) -> dict[str, float]:
        """Returns the seconds so far, as a dictionary."""
        return {
            "wall_seconds": round(time.perf_counter() - self.wall, 2),
            "cpu_seconds": round(time.process_time() - self.cpu, 2),
        }


_SPEED = "_per_second"


class TextScores(keras.callbacks.Callback):
    """Scores generated texts or tags after every epoch.

    The scores, and `score_seconds`, the time to compute them, are added to the
    logs of the epoch, where the progress bar, the history and later callbacks
    see them.

    Args:
        generate: Function from a list of inputs to a list of results, such as
            `TextTranslator.translate` (from strings to strings).
        inputs: List of inputs, such as strings.
        references: List of true results, one for each input.
        score: Function from hypotheses and references to a dictionary, such as
            `kerasrnn.metrics.corpus_scores`. Its values are logged as
            `val_NAME`.

    Raises:
        ValueError: when inputs and references differ in number.

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

    def __init__(
        self,
        generate: Callable[[list[Any]], list[Any]],
        inputs: Sequence[Any],
        references: Sequence[Any],
        score: Callable[[list[Any], list[Any]], dict[str, Any]],
    ) -> None:
        super().__init__()
        self.generate = generate
        self.inputs = list(inputs)
        self.references = list(references)
        self.score = score

    def on_epoch_end(
        self, epoch: int, logs: dict[str, Any] | None = None
    ) -> None:
        if logs is None:
            return
        clock = Stopwatch()
        scores = self.score(self.generate(self.inputs), self.references)
        logs["score_seconds"] = clock.read()["wall_seconds"]
        for name, value in scores.items():
            # Values may also be tensors or arrays with one number.
            is_scalar = getattr(value, "shape", None) == ()
            if isinstance(value, numbers.Real) or is_scalar:
                logs[f"val_{name}"] = float(value)


class TrainingSpeed(keras.callbacks.Callback):
    """Logs the training speed of every epoch, without validation.

    It adds these values to the logs of the epoch, where the progress bar, the
    history and later callbacks see them:

    * `UNIT`, such as `tokens`: the number of units since the first epoch;
    * `UNIT_per_second` in this epoch;
    * `wall_seconds` and `cpu_seconds` of this epoch.

    When `TrainingFolder.fit` resumes within an epoch, the seconds before its
    checkpoint count too.

    Args:
        count: Integer, number of units in an epoch.
        unit: String, name of the unit, such as `"words"`.

    Example:

    >>> model = keras.Sequential([keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> x = np.ones((4, 1))
    >>> speed = TrainingSpeed(len(x), "steps")
    >>> history = model.fit(x, x, verbose=0, callbacks=[speed])
    >>> history.history["steps"]
    [4]
    """

    def __init__(self, count: int, unit: str = "tokens") -> None:
        super().__init__()
        self.count, self.unit = count, unit
        self._clock: Stopwatch | None = None  # only within an epoch
        self._seconds: dict[str, float] | None = None
        self._before: dict[str, float] = {}

    def on_epoch_begin(
        self, epoch: int, logs: dict[str, Any] | None = None
    ) -> None:
        self._clock, self._seconds = Stopwatch(), None

    def on_test_begin(self, logs: dict[str, Any] | None = None) -> None:
        if self._seconds is None:
            self._seconds = self.get_state()

    def on_epoch_end(
        self, epoch: int, logs: dict[str, Any] | None = None
    ) -> None:
        if logs is None:
            return
        seconds = self._seconds or self.get_state()
        self._before, self._clock = {}, None
        speed = self.count / max(seconds["wall_seconds"], 0.01)
        logs.update(
            {
                self.unit: (epoch + 1) * self.count,
                self.unit + _SPEED: speed,
                **seconds,
            }
        )

    def get_state(self) -> dict[str, float]:
        """Returns the seconds of the epoch so far; `{}` between epochs."""
        if self._clock is None:
            return {}
        return {
            name: self._before.get(name, 0.0) + seconds
            for name, seconds in self._clock.read().items()
        }

    def set_state(self, state: dict[str, float]) -> None:
        """Restores the seconds that an earlier process spent on the epoch."""
        self._before = state


def without_costs(history: Mapping[str, list[float]]) -> History:
    """Returns a history or scores without token counts and times.

    It removes all values that `TrainingSpeed` logs, and the number of
    `"tokens"` that a language model was evaluated on.

    Args:
        history: Dictionary of name to list, such as
            `model.fit(...).history`.

    Example:

    >>> history = {"loss": [2.0], "words": [100], "words_per_second": [50.0]}
    >>> without_costs(history)
    {'loss': [2.0]}
    """
    speeds = {name for name in history if name.endswith(_SPEED)}
    costs = {"tokens"} | {name.removesuffix(_SPEED) for name in speeds} | speeds
    return {
        name: values
        for name, values in history.items()
        if name not in costs and not name.endswith("_seconds")
    }


class GradientNorms(keras.callbacks.Callback):
    """Records the gradient norms of the parts of a model during training.

    Args:
        measure: Function without arguments that returns a dictionary of name to
            norm, such as the gradient norms of a fixed batch.
        path: Path of the CSV file to write. Each row is a measurement: the
            number of training steps so far, and the norms. A resumed training
            appends to the existing rows.
        every: Positive integer, number of steps between two measurements.

    Raises:
        ValueError: when `every` is not a positive integer.

    Example:

    >>> norms = GradientNorms(lambda: {"cell": 0.5}, "norms.csv", every=2)
    >>> model = keras.Sequential([keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> x = np.ones((4, 1))
    >>> history = model.fit(x, x, batch_size=1, verbose=0, callbacks=[norms])
    >>> norms.history()
    {'step': [2.0, 4.0], 'cell': [0.5, 0.5]}
    """

    def __init__(
        self,
        measure: Callable[[], dict[str, float]],
        path: PathLike,
        every: int = 50,
    ) -> None:
        super().__init__()
        self.measure = measure
        self.every = positive_integer("every", every)
        self._path = pathlib.Path(path)

    def on_train_batch_end(
        self, batch: int, logs: dict[str, Any] | None = None
    ) -> None:
        step = int(self.model.optimizer.iterations)
        if step % self.every:
            return
        # A resumed training repeats the steps since its last checkpoint.
        rows = [x for x in read_rows(self._path) if x["step"] < step]
        write_rows(self._path, [*rows, {"step": step} | self.measure()])

    def history(self) -> History:
        """Returns the measurements: a dictionary of lists."""
        return columns(read_rows(self._path))


class WeightNoise(keras.callbacks.Callback):
    """Adds new Gaussian noise to all trainable weights for every batch.

    The gradient of a batch is computed at the noisy weights. The noise is
    removed after the update, so checkpoints, validation and the final weights
    do not contain it. A resumed training continues with the same noise.

    Args:
        stddev: Positive float, the standard deviation of the noise.
        seed: Integer.

    Raises:
        ValueError: when `stddev` is not positive, the model is not built,
            `steps_per_execution` is not 1, or the optimizer keeps a moving
            average of the (noisy) weights.

    Example:

    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> x, noise = np.ones((4, 1)), WeightNoise(0.075)
    >>> history = model.fit(x, x, verbose=0, callbacks=[noise])

    References:
        [Graves, 2011](https://papers.nips.cc/paper/4329), with a fixed
        variance, as in [Chung et al., 2014](https://arxiv.org/abs/1412.3555).
    """

    def __init__(self, stddev: float, seed: int = 0) -> None:
        super().__init__()
        self.stddev = number("stddev", stddev, above=0)
        self.seed = seed
        self._noise: list[Any] = []

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        if not self.model.built:
            raise ValueError(
                "The model must be built before training, so that it has "
                f"weights. Received: {self.model.name!r}, which is not built."
            )
        steps = self.model.steps_per_execution
        if steps != 1:
            raise ValueError(
                "Several batches in one execution would have the same noise. "
                "Expected: a model compiled with `steps_per_execution=1`. "
                f"Received: steps_per_execution={steps}"
            )
        # A `LossScaleOptimizer` wraps the actual optimizer.
        optimizer = self.model.optimizer
        if getattr(optimizer, "inner_optimizer", optimizer).use_ema:
            raise ValueError(
                "The moving average would average noisy weights. Expected: an "
                "optimizer with `use_ema=False`. Received: use_ema=True"
            )

    def on_train_batch_begin(
        self, batch: int, logs: dict[str, Any] | None = None
    ) -> None:
        # On JAX, reading `self.model` updates its weights.
        model = self.model
        rng = np.random.default_rng(
            [self.seed, int(model.optimizer.iterations)]
        )
        self._noise = [
            rng.normal(scale=self.stddev, size=weight.shape).astype(
                weight.dtype
            )
            for weight in model.trainable_weights
        ]
        self._add(model, 1)

    def on_train_batch_end(
        self, batch: int, logs: dict[str, Any] | None = None
    ) -> None:
        self._add(self.model, -1)

    def _add(self, model, sign):
        for weight, noise in zip(
            model.trainable_weights, self._noise, strict=True
        ):
            weight.assign_add(sign * noise)
