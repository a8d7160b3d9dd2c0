"""Windows of one long text, for truncated backpropagation."""

import numpy as np
import tensorflow as tf


def text_windows(ids, batch_size, window, start_id=0):
    """Cuts a text into windows that follow one another.

    The text is cut into `batch_size` rows, and the rows into windows; batch
    i + 1 goes on where batch i ended, row by row. Each label is the token
    after the inputs before it, the first one that after `start_id`, so that
    every token of the text is predicted exactly once. Where the text ends,
    labels are -1.

    Args:
        ids: Integer array of shape `(tokens,)`, the text.
        batch_size: Positive integer, rows of a batch.
        window: Positive integer, tokens a row in a batch.
        start_id: Integer, what the text is taken to follow: the id of the
            end of a sentence.

    Returns:
        A `tf.data.Dataset` of `({"ids", "fresh"}, labels)`: int32 ids and
        labels of shape `(batch_size, window)`, and int32 flags of shape
        `(batch_size,)` that are 1 in the first batch, where the states of a
        `LanguageModel` start anew, and 0 behind it.

    Raises:
        ValueError: when `ids` is not a vector, or holds fewer tokens than
            there are rows; when a size is not positive.

    Example:

    >>> (inputs, labels), = text_windows([5, 6, 7, 8, 9], 2, 3)
    >>> inputs["ids"].numpy().tolist(), labels.numpy().tolist()
    ([[0, 5, 6], [7, 8, 0]], [[5, 6, 7], [8, 9, -1]])
    """
    ids = np.asarray(ids, "int32")
    if min(batch_size, window) < 1:
        raise ValueError(
            "`batch_size` and `window` must be positive. "
            f"Received: batch_size={batch_size}, window={window}"
        )
    if ids.ndim != 1 or len(ids) < batch_size:
        raise ValueError(
            "`ids` must be a vector of at least `batch_size` tokens. "
            f"Received: ids of shape {ids.shape}, batch_size={batch_size}"
        )
    length = -(-len(ids) // batch_size)
    count = -(-length // window)
    missing = batch_size * length - len(ids)
    inputs = np.concatenate([[start_id], ids[:-1], np.zeros(missing)])
    labels = np.concatenate([ids, np.full(missing, -1)])

    def by_window(x, fill):
        rows = np.full((batch_size, count * window), fill, "int32")
        rows[:, :length] = x.reshape(batch_size, length)
        return rows.reshape(batch_size, count, window).swapaxes(0, 1)

    # No booleans: under `tf.distribute`, Keras averages a first batch.
    fresh = np.zeros((count, batch_size), "int32")
    fresh[0] = 1
    inputs = {"ids": by_window(inputs, 0), "fresh": fresh}
    return tf.data.Dataset.from_tensor_slices((inputs, by_window(labels, -1)))
