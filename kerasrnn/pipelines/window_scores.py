"""Log probabilities of texts of any length, window by window."""

import tensorflow as tf


def log_probabilities(model, ids, lengths, window, end_id):
    """Scores texts window by window, as graph operations.

    Args:
        model: A layer with the methods `run` and `initial_states` of a
            `LanguageModel`.
        ids: Integer tensor of shape `(batch, time)`.
        lengths: Integer tensor of shape `(batch,)`, how many ids are not
            padding.
        window: Integer, how many ids to score at once.
        end_id: Integer id of the end token, the first input of every text.

    Returns:
        A dictionary of `"log_probabilities"`, of shape `(batch, time)` and 0
        after the end of a text, and of `"total"`, `"perplexity"` and
        `"length"`, of shape `(batch,)`; the perplexity of no tokens is NaN.
    """
    rows, time = tf.unstack(tf.shape(ids))
    count = tf.maximum((time + window - 1) // window, 1)
    padding = count * window - time
    labels = tf.pad(ids, [[0, 0], [0, padding]], constant_values=end_id)
    inputs = tf.pad(labels, [[0, 0], [1, 0]], constant_values=end_id)
    parts = tf.TensorArray(tf.float32, count, element_shape=[None, window])

    def next_window(i, states, parts):
        start = i * window
        logits, states = model.run(inputs[:, start : start + window], states)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels[:, start : start + window],
            tf.cast(logits, tf.float32),
        )
        return i + 1, states, parts.write(i, -losses)

    *_, parts = tf.while_loop(
        lambda i, *_: i < count,
        next_window,
        [0, model.initial_states(rows), parts],
    )
    found = tf.transpose(parts.stack(), [1, 0, 2])
    found = tf.reshape(found, [rows, count * window])[:, :time]
    real = tf.sequence_mask(lengths, time)
    found = tf.where(real, found, 0.0)
    total = tf.reduce_sum(found, axis=1)
    # A text without tokens has no mean.
    mean = total / tf.cast(lengths, tf.float32)
    return {
        "log_probabilities": found,
        "total": total,
        "perplexity": tf.exp(-mean),
        "length": tf.cast(lengths, tf.int32),
    }
