"""Windows of one long text, for truncated backpropagation."""

import numpy as np
import tensorflow as tf

from kerasrnn.arguments import positive_integer
from kerasrnn.data.batches import without_tuning
from kerasrnn.typing import Tensor


def text_windows(
    ids: Tensor, batch_size: int, window: int, start_id: int = 0
) -> tf.data.Dataset:
    """Cuts a text into consecutive windows.

    The text is cut into `batch_size` rows, and the rows into windows. Each
    row of batch i + 1 continues the same row of batch i. The labels are the
    inputs shifted by one token, and the first input is `start_id`, so every
    token of the text is predicted exactly once. After the end of the text,
    labels are -1.

    Args:
        ids: Integer array of shape `(tokens,)`, the text.
        batch_size: Positive integer, rows in a batch.
        window: Positive integer, tokens in a row of a batch.
        start_id: Integer, the first input: the id of the end of a sentence.

    Returns:
        A `tf.data.Dataset` of `({"ids", "fresh"}, labels)`: int32 ids and
        labels of shape `(batch_size, window)`, and int32 flags of shape
        `(batch_size,)`, which are 1 in the first batch and 0 in all others. A
        `LanguageModel` resets its states where they are 1.

    Raises:
        ValueError: when `ids` is not a vector of integers or has fewer than
            `batch_size` tokens; when a size is not positive.

    Example:

    >>> (inputs, labels), = text_windows([5, 6, 7, 8, 9], 2, 3)
    >>> inputs["ids"].numpy().tolist(), labels.numpy().tolist()
    ([[0, 5, 6], [7, 8, 0]], [[5, 6, 7], [8, 9, -1]])
    """
    ids = np.asarray(ids)
    positive_integer("batch_size", batch_size)
    positive_integer("window", window)
    is_integer = ids.dtype.kind in "iu"
    if ids.ndim != 1 or len(ids) < batch_size or not is_integer:
        raise ValueError(
            "`ids` must be a vector of at least `batch_size` integers. "
            f"Received: ids of shape {ids.shape} and dtype {ids.dtype}, "
            f"batch_size={batch_size}"
        )
    length = -(-len(ids) // batch_size)
    count = -(-length // window)
    missing = batch_size * length - len(ids)
    shifted = np.concatenate([[start_id], ids[:-1], np.zeros(missing)])
    labels = np.concatenate([ids, np.full(missing, -1)])

    def by_window(x, fill):
        rows = np.full((batch_size, count * window), fill, "int32")
        rows[:, :length] = x.reshape(batch_size, length)
        return rows.reshape(batch_size, count, window).swapaxes(0, 1)

    # Integers, since Keras under `tf.distribute` cannot average booleans.
    fresh = np.zeros((count, batch_size), "int32")
    fresh[0] = 1
    inputs = {"ids": by_window(shifted, 0), "fresh": fresh}
    windows = inputs, by_window(labels, -1)
    return without_tuning(tf.data.Dataset.from_tensor_slices(windows))
