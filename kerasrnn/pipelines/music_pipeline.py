"""A pipeline that scores and continues piano rolls."""

from collections.abc import Iterator
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerasrnn.arguments import positive_integer
from kerasrnn.data.music.piano_rolls import check_rolls
from kerasrnn.data.music.piano_rolls import piano_roll_batches
from kerasrnn.metrics import NegativeLogLikelihood
from kerasrnn.metrics.piano_roll_metrics import step_costs
from kerasrnn.pipelines.music_task import MusicTask
from kerasrnn.pipelines.pipeline import TextPipeline
from kerasrnn.pipelines.signatures import PAD
from kerasrnn.pipelines.signatures import after
from kerasrnn.pipelines.signatures import check_length
from kerasrnn.pipelines.signatures import check_number
from kerasrnn.pipelines.signatures import check_same_rows
from kerasrnn.pipelines.signatures import check_steps
from kerasrnn.pipelines.signatures import flat_specs
from kerasrnn.pipelines.signatures import named
from kerasrnn.pipelines.texts import indices_by_length
from kerasrnn.training import PianoRollCrossentropy
from kerasrnn.typing import Config
from kerasrnn.typing import Rolls

# Limits what clients can request.
MOST_STEPS = 15_000


class MusicFunctions:
    """The graph functions that a `MusicPipeline` serves.

    Each takes tensors and returns a dictionary of tensors.

    Args:
        model: The model of the pipeline.
    """

    def __init__(self, model):
        self.model = model

    def by_name(self):
        """Returns the functions by name, each in a list with its arguments."""
        shape = [None, None, self.model.keys]
        roll = tf.TensorSpec(shape, tf.float32, name="roll")
        return {
            "serving_default": [self.score, roll],
            "step": [
                self.step,
                roll,
                *flat_specs("state", self.model.initial_states(1)),
            ],
            "generate": [
                self.generate,
                tf.TensorSpec(shape, tf.float32, name="prompt"),
                tf.TensorSpec([], tf.int32, name="seed"),
                tf.TensorSpec([], tf.float32, name="temperature"),
                tf.TensorSpec([], tf.int32, name="steps"),
            ],
        }

    def score(self, roll):
        """Returns the log-likelihood of every step of rolls."""
        [roll] = after([_check_keys(roll, PAD)], roll)
        # With an additional step, so that an empty roll has one to run.
        labels = tf.pad(roll, [[0, 0], [0, 1], [0, 0]], constant_values=-1.0)
        logits, _ = self._run_from_silence(roll)
        costs, real = step_costs(labels, logits)
        return {
            "log_likelihoods": -costs[:, :-1],
            "total": -tf.reduce_sum(costs, axis=1),
            "length": tf.reduce_sum(tf.cast(real, tf.int32), axis=1),
            "probabilities": tf.sigmoid(logits[:, :-1]),
        }

    def step(self, roll, *states):
        """Returns probabilities of the next steps, with carried states."""
        checks = [
            check_same_rows(roll=roll, **named("state", states)),
            check_steps(roll),
            _check_keys(roll),
        ]
        [roll] = after(checks, roll)
        logits, states = self._run(roll, list(states))
        return {
            "probabilities": tf.sigmoid(logits),
            **named("state", states),
        }

    def generate(self, prompt, seed, temperature, steps):
        """Returns continuations of rolls."""
        lengths = tf.stack([tf.shape(prompt)[1], steps])
        checks = [
            check_number("temperature", temperature),
            check_number("steps", steps),
            check_length(lengths, MOST_STEPS, "steps"),
            _check_keys(prompt),
        ]
        steps, prompt = after(checks, steps, prompt)
        rows, _, keys = tf.unstack(tf.shape(prompt))
        logits, states = self._run_from_silence(prompt)
        # At least one, because an empty array cannot be stacked.
        count = tf.maximum(steps, 1)
        written = tf.TensorArray(
            tf.float32, count, element_shape=[None, prompt.shape[-1]]
        )

        def next_step(t, logits, states, written):
            numbers = tf.random.stateless_uniform((rows, keys), [seed, t])
            # The keys of a step are drawn independently.
            warm = tf.clip_by_value(temperature, 1e-6, 1e6)
            sounding = numbers < tf.sigmoid(logits / warm)
            sounding = tf.where(temperature > 0, sounding, logits > 0)
            sounding = tf.cast(sounding, tf.float32)
            logits, states = self._run(sounding[:, None], states)
            return t + 1, logits[:, -1], states, written.write(t, sounding)

        *_, written = tf.while_loop(
            lambda t, *_: t < count,
            next_step,
            [0, logits[:, -1], states, written],
        )
        added = tf.reshape(written.stack(), [count, rows, keys])
        added = tf.transpose(added[:steps], [1, 0, 2])
        return {"roll": tf.cast(tf.concat([prompt, added], 1), tf.uint8)}

    def _run_from_silence(self, rolls):
        """Runs over rolls that are preceded by a step of silence."""
        rolls = tf.pad(tf.maximum(rolls, 0.0), [[0, 0], [1, 0], [0, 0]])
        return self._run(rolls, self.model.initial_states(tf.shape(rolls)[0]))

    def _run(self, rolls, states):
        logits, states = self.model.run(rolls, states)
        return tf.cast(logits, tf.float32), states


def _check_keys(roll, *others):
    """Raises unless all keys of a roll are 0, 1 or among `others`."""
    known = tf.reduce_any([roll == x for x in (0, 1, *others)], axis=0)
    return tf.debugging.Assert(
        tf.reduce_all(known),
        [
            f"A key of a roll must be {(0, 1, *others)}. Received:",
            tf.boolean_mask(roll, ~known),
        ],
    )


@keras.saving.register_keras_serializable("kerasrnn")
class MusicPipeline(TextPipeline):
    """Scores and continues piano rolls, in Python and when served.

    A roll is an array of shape `(time, keys)`, 1 where a key sounds. Every step
    is predicted from the steps before it, and the first from silence.

    It is saved to one `.keras` file, with the optimizer if the model is
    compiled. A loaded pipeline can generate music, continue its training or
    be exported.

    Args:
        model: A `kerasrnn.models.PianoRollModel`, or a layer with its `run`,
            `initial_states` and `keys`.
        steps_per_beat: Positive integer, number of time steps in a quarter
            note.
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
        for indices, found in self._scored(rolls, batch_size):
            for index, values in zip(
                indices, found["log_likelihoods"].numpy(), strict=True
            ):
                scores[index] = values[: len(rolls[index])]
        return scores

    def probabilities(self, roll: np.ndarray) -> np.ndarray:
        """Returns the predicted probability of every key in every step.

        Args:
            roll: Array of shape `(time, keys)`. A step is predicted from the
                steps before it.

        Returns:
            Array of that shape.
        """
        [(_, found)] = self._scored([roll], 1)
        return found["probabilities"].numpy()[0]

    def evaluate(self, rolls: Rolls, batch_size: int = 32) -> dict[str, float]:
        """Computes the negative log-likelihood of a step, in four ways.

        The cost of a step is `-log p`, summed over the keys. Published results
        are means over all steps, or means over pieces of the mean over their
        steps. They may or may not include the first step, which is predicted
        from silence.

        Args:
            rolls: List of arrays of shape `(time, keys)`, at least one with two
                steps. Rolls with one step only count in scores that include
                first steps.
            batch_size: Positive integer, rolls in a batch.

        Returns:
            A dictionary of `"nll"`, the mean over all steps; `"nll_by_piece"`,
            the mean over pieces; both without first steps as
            `"..._without_first"`; and `"steps"`, the number of steps.

        Raises:
            ValueError: when no roll has two steps.
        """
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
            prompt: Array of shape `(time, keys)`; `None` to start from silence.
            seed: Integer. The same seed and prompt give the same music.
            temperature: Float that divides the logits. At 0, keys with a
                probability above 0.5 sound.
            steps: Integer, number of steps to add, at most 15,000.

        Returns:
            Uint8 array of shape `(time + steps, keys)`, including the prompt.

        Raises:
            ValueError: when the prompt has another number of keys, or a number
                is out of range.
        """
        if prompt is None:
            prompt = np.zeros((0, self.model.keys))
        check_rolls([prompt], self.model.keys)
        found = self.ask(
            self.signatures["generate"],
            tf.constant(np.asarray(prompt)[None], tf.float32),
            tf.constant(seed % 2**31, tf.int32),
            tf.constant(temperature, tf.float32),
            tf.constant(steps, tf.int32),
        )
        return found["roll"].numpy()[0]

    def assign_frequencies(self, rolls: Rolls) -> None:
        """Initializes the bias with the frequencies of the keys.

        See `PianoRollModel.assign_frequencies`.

        Args:
            rolls: List of arrays of shape `(time, keys)`, the training pieces.

        Raises:
            ValueError: when there are no pieces, or one is not a roll.
        """
        check_rolls(rolls, self.model.keys)
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

    def served_facts(self) -> Config:
        """Returns `"steps_per_beat"`, the time steps in a quarter note."""
        return {"steps_per_beat": self.steps_per_beat}

    def _scored(self, rolls, batch_size) -> Iterator[tuple[Any, Any]]:
        """Yields the scores of batches of rolls of similar length."""
        check_rolls(rolls, self.model.keys)
        for indices in indices_by_length(rolls, batch_size):
            shape = len(indices), len(rolls[indices[-1]]), self.model.keys
            padded = np.full(shape, -1.0, "float32")
            for row, index in zip(padded, indices, strict=True):
                row[: len(rolls[index])] = rolls[index]
            found = self.ask(
                self.signatures["serving_default"], tf.constant(padded)
            )
            yield indices, found
