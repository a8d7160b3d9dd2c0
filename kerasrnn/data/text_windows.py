"""Windows of one long text, for truncated backpropagation."""

import numpy as np
import tensorflow as tf

from kerasrnn.arguments import positive_integer
from kerasrnn.data.batches import without_tuning
from kerasrnn.data.stored_rows import StoredIds
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
        ids: Integer array of shape `(tokens,)`, the text; or `StoredIds`.
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
    positive_integer("batch_size", batch_size)
    positive_integer("window", window)
    if not isinstance(ids, StoredIds):
        ids = np.asarray(ids)
    shape, dtype = ids.shape, ids.dtype
    if len(shape) != 1 or shape[0] < batch_size or dtype.kind not in "iu":
        raise ValueError(
            "`ids` must be a vector of at least `batch_size` integers. "
            f"Received: ids of shape {shape} and dtype {dtype}, "
            f"batch_size={batch_size}"
        )
    length = -(-len(ids) // batch_size)
    count = -(-length // window)

    def windows(index):
        # Integers, since Keras under `tf.distribute` cannot average booleans.
        fresh = np.full(batch_size, index == 0, "int32")
        inputs = np.zeros((batch_size, window), "int32")
        labels = np.full((batch_size, window), -1, "int32")
        for row in range(batch_size):
            first = row * length + index * window
            last = min(first + window, (row + 1) * length, len(ids))
            if first < last:
                found = ids[max(0, first - 1) : last]
                if first == 0:
                    found = np.insert(found, 0, start_id)
                inputs[row, : last - first] = found[:-1]
                labels[row, : last - first] = found[1:]
        return inputs, fresh, labels

    def batch(index):
        types = 3 * [tf.int32]
        found = tf.numpy_function(windows, [index], types, stateful=False)
        shapes = (batch_size, window), (batch_size,), (batch_size, window)
        inputs, fresh, labels = map(tf.ensure_shape, found, shapes)
        return {"ids": inputs, "fresh": fresh}, labels

    return without_tuning(tf.data.Dataset.range(count).map(batch))
