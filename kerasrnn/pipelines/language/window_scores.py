"""Log probabilities of texts of any length, window by window."""

import tensorflow as tf

# Positions, in all rows together, whose logits are held at once.
_POSITIONS = 4096


def token_scores(model, ids, window, end_id):
    """Scores each token of texts, window by window, as graph operations.

    Args:
        model: A layer with the methods `run` and `initial_states` of a
            `LanguageModel`.
        ids: Integer tensor of shape `(batch, time)`.
        window: Integer, how many ids of a text to score at once; of many
            texts, these are fewer.
        end_id: Integer id of the end token, the first input of every text.

    Returns:
        Float tensor of shape `(batch, time)`, the log-probabilities.
    """
    rows, time = tf.unstack(tf.shape(ids))
    window = tf.clip_by_value(_POSITIONS // tf.maximum(rows, 1), 1, window)
    count = tf.maximum((time + window - 1) // window, 1)
    padding = count * window - time
    labels = tf.pad(ids, [[0, 0], [0, padding]], constant_values=end_id)
    inputs = tf.pad(labels, [[0, 0], [1, 0]], constant_values=end_id)
    parts = tf.TensorArray(tf.float32, count, element_shape=[None, None])

    def next_window(i, states, parts):
        start = i * window
        logits, states = model.run(inputs[:, start : start + window], states)
        found = _of_labels(logits, labels[:, start : start + window])
        return i + 1, states, parts.write(i, found)

    *_, parts = tf.while_loop(
        lambda i, *_: i < count,
        next_window,
        [0, model.initial_states(rows), parts],
    )
    found = tf.transpose(parts.stack(), [1, 0, 2])
    return tf.reshape(found, [rows, count * window])[:, :time]


def token_scores_at_once(model, ids, end_id):
    """The same in a single window."""
    inputs = tf.pad(ids, [[0, 0], [1, 0]], constant_values=end_id)[:, :-1]
    logits, _ = model.run(inputs, model.initial_states(tf.shape(ids)[0]))
    return _of_labels(logits, ids)


def _of_labels(logits, labels):
    """The log-probabilities of labels `(batch, time)`."""
    return -tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels, tf.cast(logits, tf.float32)
    )


def text_scores(found, lengths):
    """Scores of whole texts, from those of their tokens.

    Args:
        found: Float tensor of shape `(batch, time)`, the log-probabilities.
        lengths: Integer tensor of shape `(batch,)`, how many tokens of each
            text are not padding.

    Returns:
        A dictionary of `"log_probabilities"`, of shape `(batch, time)` and 0
        after the end of a text, and of `"total"`, `"perplexity"` and
        `"length"`, of shape `(batch,)`; the perplexity of no tokens is NaN.
    """
    found = tf.where(tf.sequence_mask(lengths, tf.shape(found)[1]), found, 0.0)
    total = tf.reduce_sum(found, axis=1)
    # A text without tokens has no mean.
    mean = total / tf.cast(lengths, tf.float32)
    return {
        "log_probabilities": found,
        "total": total,
        "perplexity": tf.exp(-mean),
        "length": tf.cast(lengths, tf.int32),
    }
