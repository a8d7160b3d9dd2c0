"""What a model of music serves: its functions on piano rolls."""

import tensorflow as tf

from kerasrnn.pipelines.roll_graphs import continue_rolls
from kerasrnn.pipelines.roll_graphs import score_rolls
from kerasrnn.pipelines.served_ids import check_length
from kerasrnn.pipelines.served_ids import check_number
from kerasrnn.pipelines.served_ids import check_rows
from kerasrnn.pipelines.served_ids import check_steps
from kerasrnn.pipelines.served_ids import flat_specs
from kerasrnn.pipelines.served_ids import named

# A client may ask for more than the memory of a server.
_MOST_STEPS = 15_000


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
        return score_rolls(self.model, roll)

    def step(self, roll, *states):
        """The probabilities of the steps after some, with carried states."""
        given = named("state", states)
        checks = [check_rows(roll=roll, **given), check_steps(roll)]
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
            check_length(lengths, _MOST_STEPS, "steps"),
        ]
        with tf.control_dependencies(checks):
            steps = tf.identity(steps)
        roll = continue_rolls(self.model, prompt, seed, temperature, steps)
        return {"roll": tf.cast(roll, tf.uint8)}
