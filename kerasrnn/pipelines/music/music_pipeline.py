"""Scores and continues piano rolls: a model with its graph functions."""

from collections.abc import Iterator
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerasrnn.arguments import integer
from kerasrnn.arguments import number
from kerasrnn.arguments import positive_integer
from kerasrnn.data.music.piano_rolls import check_rolls
from kerasrnn.data.music.piano_rolls import piano_roll_batches
from kerasrnn.metrics import NegativeLogLikelihood
from kerasrnn.pipelines.batching import indices_by_length
from kerasrnn.pipelines.finite import check_answer
from kerasrnn.pipelines.finite import check_weights
from kerasrnn.pipelines.music.functions import MOST_STEPS
from kerasrnn.pipelines.music.functions import MusicFunctions
from kerasrnn.pipelines.music.task import MusicTask
from kerasrnn.pipelines.text_pipeline import TextPipeline
from kerasrnn.training import PianoRollCrossentropy
from kerasrnn.typing import Batches
from kerasrnn.typing import Config
from kerasrnn.typing import Rolls


@keras.saving.register_keras_serializable("kerasrnn")
class MusicPipeline(TextPipeline):
    """Scores and continues piano rolls, in the same way wherever it runs.

    A roll is an array of shape `(time, keys)`, 1 where a key sounds. Every
    step is predicted from those before it, and the first from silence.

    It is saved to one `.keras` file, with the optimizer if the model is
    compiled. A loaded pipeline can generate music, continue its training or
    be exported.

    Args:
        model: A `kerasrnn.models.PianoRollModel`, or a layer with its `run`,
            `initial_states` and `keys`.
        steps_per_beat: Positive integer, how many time steps of its rolls are
            a quarter note.
        **kwargs: Base model arguments, such as `name`.

    Raises:
        ValueError: when `steps_per_beat` is not a positive integer.

    Example:

    >>> rolls = [np.eye(4 + i, 4, -i) for i in range(4)] * 40
    >>> music = MusicPipeline(PianoRollModel(FastGRUCell(8), keys=4))
    >>> music.compile(keras.optimizers.Adam(0.05))
    >>> history = music.fit(rolls, batch_size=8, epochs=3, verbose=0)
    >>> up, down = music.score([np.eye(4), np.eye(4)[::-1]])
    >>> bool(up.sum() > down.sum())
    True
    >>> music.write(np.eye(2, 4), seed=1, steps=3).shape
    (5, 4)
    >>> music.save("music.keras")
    """

    asked_by = "`score` or `write`"
    model: Any

    def __init__(
        self, model: keras.layers.Layer, steps_per_beat: int = 1, **kwargs: Any
    ) -> None:
        super().__init__(model, **kwargs)
        self.steps_per_beat = positive_integer("steps_per_beat", steps_per_beat)

    def default_loss(self) -> keras.losses.Loss:
        """Returns the cross-entropy of the keys."""
        return PianoRollCrossentropy()

    def default_metrics(self) -> list[keras.metrics.Metric]:
        """Returns the negative log-likelihood of a step."""
        return [NegativeLogLikelihood()]

    def task(self) -> MusicTask:
        return MusicTask(self)

    def functions(self) -> dict[str, list[Any]]:
        return MusicFunctions(self.model).by_name()

    def score(self, rolls: Rolls, batch_size: int = 32) -> list[np.ndarray]:
        """Scores rolls, independently of each other.

        Args:
            rolls: List of arrays of shape `(time, keys)`.
            batch_size: Positive integer, rolls in a batch.

        Returns:
            List of arrays of shape `(time,)`, the log-likelihood of every
            step of each roll, in nats.
        """
        scores = [np.zeros(0, "float32")] * len(rolls)
        for indices, padded in self._padded(rolls, batch_size):
            found = self.signatures["serving_default"](padded)
            check_answer(self.model, found)
            for index, values in zip(
                indices, found["log_likelihoods"].numpy(), strict=True
            ):
                scores[index] = values[: len(rolls[index])]
        return scores

    def probabilities(self, roll: np.ndarray) -> np.ndarray:
        """Returns the predicted probability of every key in every step.

        Args:
            roll: Array of shape `(time, keys)`. A step is predicted from
                those before it.

        Returns:
            Array of that shape.
        """
        (_, padded), *_ = self._padded([roll], 1)
        found = self.signatures["serving_default"](padded)
        check_answer(self.model, found)
        return found["probabilities"].numpy()[0]

    def evaluate(self, rolls: Rolls, batch_size: int = 32) -> dict[str, float]:
        """Computes the negative log-likelihood of a time step, in four ways.

        A step costs `-log p`, summed over the keys. Published figures are
        means over all steps, or means over pieces of the mean over the steps
        of a piece; and they do or do not count the first step, which is
        predicted from silence.

        Args:
            rolls: List of arrays of shape `(time, keys)`, at least one of
                two steps. Those of one step count where first steps do.
            batch_size: Positive integer, rolls in a batch.

        Returns:
            A dictionary of `"nll"`, the mean over all steps; `"nll_by_piece"`,
            the mean over pieces; both again as `"..._without_first"`; and
            `"steps"`, their number.

        Raises:
            ValueError: when no roll has two steps.
        """
        if max(map(len, rolls), default=0) < 2:
            raise ValueError(
                "`rolls` must hold at least one piece of two steps. "
                f"Received: lengths {[len(roll) for roll in rolls][:5]}"
            )
        costs = [-x.astype("float64") for x in self.score(rolls, batch_size)]
        scores = {}
        for end, first in (("", 0), ("_without_first", 1)):
            counted = [x[first:] for x in costs if len(x) > first]
            scores[f"nll{end}"] = float(np.concatenate(counted).mean())
            by_piece = [x.mean() for x in counted]
            scores[f"nll_by_piece{end}"] = float(np.mean(by_piece))
        return {**scores, "steps": sum(map(len, rolls))}

    def write(
        self,
        prompt: np.ndarray | None = None,
        seed: int = 0,
        temperature: float = 1.0,
        steps: int = 64,
    ) -> np.ndarray:
        """Generates a continuation of a roll.

        Args:
            prompt: Array of shape `(time, keys)`; `None` to begin from
                silence.
            seed: Integer. The same seed and prompt give the same music.
            temperature: Float by which logits are divided. At 0, the keys
                that sound are those more probable than not.
            steps: Integer, how many steps to add, at most 15,000.

        Returns:
            Uint8 array of shape `(time + steps, keys)`, with the prompt.

        Raises:
            ValueError: when a number is out of its range, or the prompt has
                another number of keys.
        """
        number("temperature", temperature, minimum=0)
        integer("seed", seed)
        integer("steps", steps, 0, MOST_STEPS)
        if prompt is None:
            prompt = np.zeros((0, self.model.keys))
        check_rolls([prompt], self.model.keys)
        check_weights(self.model)
        found = self.signatures["generate"](
            tf.constant(prompt[None], tf.float32),
            tf.constant(seed % 2**31, tf.int32),
            tf.constant(temperature, tf.float32),
            tf.constant(steps, tf.int32),
        )
        return found["roll"].numpy()[0]

    def assign_frequencies(self, rolls: Rolls) -> None:
        """Lets the untrained model expect each key as often as it sounds.

        See `PianoRollModel.assign_frequencies`.

        Args:
            rolls: List of arrays of shape `(time, keys)`, the pieces to train
                on.

        Raises:
            ValueError: when there is no piece, or one is not a roll.
        """
        check_rolls(rolls, self.model.keys)
        if not len(rolls):
            raise ValueError(
                "`rolls` must hold at least one piece. Received: none"
            )
        counts = sum(np.sum(roll, axis=0, dtype="int64") for roll in rolls)
        self.model.assign_frequencies(counts, sum(map(len, rolls)))

    def batches(
        self,
        rolls: Rolls,
        batch_size: int = 16,
        transpose: int = 0,
        seed: int | None = None,
        max_length: int | None = None,
    ) -> tf.data.Dataset:
        """Returns the `kerasrnn.data.piano_roll_batches` of rolls."""
        return piano_roll_batches(
            rolls, batch_size, transpose, seed, self.model.keys, max_length
        )

    def fit(
        self,
        rolls: Rolls | Batches,
        validation_data: Rolls | Batches | None = None,
        batch_size: int = 16,
        seed: int = 0,
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Trains the inner model, after `compile()` if it is not compiled.

        Args:
            rolls: List of arrays of shape `(time, keys)`, or a dataset that
                `batches` returned.
            validation_data: As `rolls`; `None` for no validation.
            batch_size: Positive integer, rolls in a batch.
            seed: Integer, the seed of the shuffling.
            **kwargs: Other arguments of `keras.Model.fit`, such as `epochs`
                and `callbacks`.

        Returns:
            The `keras.callbacks.History` of the training.
        """
        both = self.batched(rolls, validation_data, batch_size, seed)
        return super().fit(*both, **kwargs)

    def served_facts(self) -> Config:
        """Returns `"steps_per_beat"`, the time steps in a quarter note."""
        return {"steps_per_beat": self.steps_per_beat}

    def get_config(self) -> Config:
        return {**super().get_config(), "steps_per_beat": self.steps_per_beat}

    def _padded(self, rolls, batch_size) -> Iterator[tuple[Any, tf.Tensor]]:
        """Yields batches of rolls of similar length, -1 after their end."""
        check_rolls(rolls, self.model.keys)
        for indices in indices_by_length(rolls, batch_size):
            shape = len(indices), len(rolls[indices[-1]]), self.model.keys
            padded = np.full(shape, -1.0, "float32")
            for row, index in zip(padded, indices, strict=True):
                row[: len(rolls[index])] = rolls[index]
            yield indices, tf.constant(padded)
