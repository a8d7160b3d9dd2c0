"""Start, end and padding of rows of ids, as graph operations."""

import tensorflow as tf

from kerasrnn.typing import Tensor


def with_start(ids: tf.RaggedTensor, start_id: int) -> tf.RaggedTensor:
    """Puts an id before every row.

    Args:
        ids: Integer `RaggedTensor` of shape `(batch, tokens)`.
        start_id: Integer.
    """
    start = tf.fill((ids.nrows(), 1), tf.cast(start_id, ids.dtype))
    return tf.concat([start, ids], axis=1)


def with_end(
    ids: tf.RaggedTensor, end_id: int, also_empty: bool = True
) -> tf.RaggedTensor:
    """Appends an id to every row.

    Args:
        ids: Integer `RaggedTensor` of shape `(batch, tokens)`.
        end_id: Integer.
        also_empty: Whether rows without ids get it as well.
    """
    end = tf.fill((ids.nrows(), 1), tf.cast(end_id, ids.dtype))
    if not also_empty:
        end = tf.ragged.boolean_mask(end, ids.row_lengths()[:, None] > 0)
    return tf.concat([ids, end], axis=1)


def pad_to(
    ids: Tensor, pad_id: int, least: int = 1, most: int | None = None
) -> Tensor:
    """Pads rows on the right to one length.

    Args:
        ids: Integer tensor or `RaggedTensor` of shape `(batch, time, ...)`.
        pad_id: Integer, the id of padding.
        least: Integer, the minimum length of each axis but the first.
        most: Integer, the maximum length: longer rows are truncated. `None`
            for any.

    Returns:
        Integer tensor of shape `(batch, time, ...)`.
    """
    if isinstance(ids, tf.RaggedTensor):
        ids = ids.to_tensor(pad_id)
    ids = ids[:, :most]
    missing = tf.unstack(tf.maximum(0, least - tf.shape(ids)[1:]))
    paddings = [[0, 0], *([0, count] for count in missing)]
    ids = tf.pad(ids, paddings, constant_values=pad_id)
    if least == most:
        ids.set_shape((None, least))
    return ids
