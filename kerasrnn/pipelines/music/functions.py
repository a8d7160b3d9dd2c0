"""What a model of music serves: its functions on piano rolls."""

import tensorflow as tf

from kerasrnn.pipelines.graphs import flat_specs
from kerasrnn.pipelines.graphs import named
from kerasrnn.pipelines.music.graphs import continue_rolls
from kerasrnn.pipelines.music.graphs import score_rolls
from kerasrnn.pipelines.served_checks import check_length
from kerasrnn.pipelines.served_checks import check_number
from kerasrnn.pipelines.served_checks import check_same_rows
from kerasrnn.pipelines.served_checks import check_steps
from kerasrnn.pipelines.served_ids import PAD

# A client may ask for more than the memory of a server.
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
        """The log-likelihood of every step of rolls."""
        with tf.control_dependencies([_check_keys(roll, PAD)]):
            return score_rolls(self.model, tf.identity(roll))

    def step(self, roll, *states):
        """The probabilities of the steps after some, with carried states."""
        given = named("state", states)
        checks = [
            check_same_rows(roll=roll, **given),
            check_steps(roll),
            _check_keys(roll),
        ]
        with tf.control_dependencies(checks):
            roll = tf.identity(roll)
        logits, states = self.model.run(roll, list(states))
        return {
            "probabilities": tf.sigmoid(tf.cast(logits, tf.float32)),
            **named("state", states),
        }

    def generate(self, prompt, seed, temperature, steps):
        """How rolls go on."""
        lengths = tf.stack([tf.shape(prompt)[1], steps])
        checks = [
            check_number("temperature", temperature),
            check_number("steps", steps),
            check_length(lengths, MOST_STEPS, "steps"),
            _check_keys(prompt),
        ]
        with tf.control_dependencies(checks):
            steps, prompt = tf.identity(steps), tf.identity(prompt)
        roll = continue_rolls(self.model, prompt, seed, temperature, steps)
        return {"roll": tf.cast(roll, tf.uint8)}


def _check_keys(roll, *others):
    """Raises unless all keys of a roll are 0 or 1, or one of other numbers."""
    known = tf.reduce_any([roll == x for x in (0, 1, *others)], axis=0)
    return tf.debugging.Assert(
        tf.reduce_all(known),
        [
            f"A key of a roll must be {(0, 1, *others)}. Received:",
            tf.boolean_mask(roll, ~known),
        ],
    )
