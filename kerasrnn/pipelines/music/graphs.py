"""Scores and continuations of piano rolls, as graph operations.

In all functions, `model` is a layer with the methods `run` and
`initial_states` of a `PianoRollModel`.
"""

import tensorflow as tf

from kerasrnn.metrics.piano_roll_metrics import step_costs


def score_rolls(model, rolls):
    """Predicts every step of rolls from those before it.

    Args:
        model: See above.
        rolls: Float tensor of shape `(batch, time, keys)`, -1 after the end
            of a roll.

    Returns:
        A dictionary of `"log_likelihoods"`, of shape `(batch, time)` and 0
        after the end of a roll; of `"total"` and `"length"`, of shape
        `(batch,)`; and of `"probabilities"`, of shape `(batch, time, keys)`.
    """
    # One step more, so that there is one to run in an empty roll.
    labels = tf.pad(rolls, [[0, 0], [0, 1], [0, 0]], constant_values=-1.0)
    logits, _ = _run_from_silence(model, rolls)
    costs, real = step_costs(labels, logits)
    return {
        "log_likelihoods": -costs[:, :-1],
        "total": -tf.reduce_sum(costs, axis=1),
        "length": tf.reduce_sum(tf.cast(real, tf.int32), axis=1),
        "probabilities": tf.sigmoid(logits[:, :-1]),
    }


def continue_rolls(model, prompts, seed, temperature, steps):
    """Adds steps to rolls, whose keys are drawn independently of each other.

    Args:
        model: See above.
        prompts: Float tensor of shape `(batch, time, keys)`.
        seed, temperature, steps: Scalar tensors; see `MusicPipeline.write`.

    Returns:
        Float tensor of shape `(batch, time + steps, keys)`.
    """
    rows, _, keys = tf.unstack(tf.shape(prompts))
    logits, states = _run_from_silence(model, prompts)
    # At least one, since an empty array cannot be stacked.
    count = tf.maximum(steps, 1)
    written = tf.TensorArray(
        tf.float32, count, element_shape=[None, prompts.shape[-1]]
    )

    def next_step(t, logits, states, written):
        sounding = _drawn(logits, tf.stack([seed, t]), temperature)
        logits, states = _run(model, sounding[:, None], states)
        return t + 1, logits[:, -1], states, written.write(t, sounding)

    *_, written = tf.while_loop(
        lambda t, *_: t < count,
        next_step,
        [0, logits[:, -1], states, written],
    )
    added = tf.reshape(written.stack(), [count, rows, keys])
    added = tf.transpose(added[:steps], [1, 0, 2])
    return tf.concat([prompts, added], axis=1)


def _run_from_silence(model, rolls):
    """Runs over rolls with a step of silence before them."""
    rolls = tf.pad(tf.maximum(rolls, 0.0), [[0, 0], [1, 0], [0, 0]])
    return _run(model, rolls, model.initial_states(tf.shape(rolls)[0]))


def _run(model, rolls, states):
    logits, states = model.run(rolls, states)
    return tf.cast(logits, tf.float32), states


def _drawn(logits, seed, temperature):
    """Draws the keys of a step from logits `(batch, keys)`."""
    numbers = tf.random.stateless_uniform(tf.shape(logits), seed)
    temperatures = tf.clip_by_value(temperature, 1e-6, 1e6)
    sounding = numbers < tf.sigmoid(logits / temperatures)
    sounding = tf.where(temperature > 0, sounding, logits > 0)
    return tf.cast(sounding, tf.float32)
