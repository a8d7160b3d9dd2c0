"""Ids as signatures take and return them."""

import tensorflow as tf

IDS = tf.TensorSpec([None, None], tf.int32, name="ids")
PAD = -1
"""Id of padding in every signature on ids, at the end of a row."""


def checked_ids(ids, vocabulary_size, pad_id):
    """Returns ids `(batch, ..., time)` with the padding of a model.

    Args:
        ids: Integer tensor of shape `(batch, ..., time)`, padded with -1 on
            the right.
        vocabulary_size: Integer, the number of ids that the model knows.
        pad_id: Integer id, put in the place of -1.

    Raises:
        tf.errors.InvalidArgumentError: when an id is unknown, or padding is
            followed by an id.
    """
    is_pad = tf.equal(ids, PAD)
    known = tf.logical_or(is_pad, (ids >= 0) & (ids < vocabulary_size))
    resumed = tf.logical_and(is_pad[..., :-1], ~is_pad[..., 1:])
    checks = [
        tf.debugging.Assert(
            tf.reduce_all(known),
            [
                f"Ids must be from 0 to {vocabulary_size - 1}, or {PAD} for "
                "padding. Received:",
                tf.boolean_mask(ids, ~known),
            ],
        ),
        tf.debugging.Assert(
            ~tf.reduce_any(resumed),
            [f"Padding, {PAD}, must be on the right. Received:", ids],
        ),
    ]
    with tf.control_dependencies(checks):
        return tf.where(is_pad, pad_id, ids)


def served_ids(ids, pad_id):
    """Returns ids with the padding of signatures; `checked_ids` undoes it.

    Args:
        ids: Integer tensor of shape `(batch, time)`.
        pad_id: Integer id of padding of the model.
    """
    return tf.where(ids == pad_id, PAD, ids)
