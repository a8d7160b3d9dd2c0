"""Constraints: set the logits of refused tokens to minus infinity."""

from keras import ops

from kerasrnn.decoding.beams import flatten_beams

NEVER = float("-inf")


def is_any(ids, few):
    """Returns whether each id is in `few`, a tuple of integers."""
    same = ops.equal(ops.expand_dims(ids, -1), ops.array(few, "int32"))
    return ops.any(same, axis=-1)


def repetitions(history, t, n):
    """Finds the columns that would repeat an n-gram.

    Returns:
        The last column of each n-gram of the history, and whether the
        hypothesis now ends with the other columns of that n-gram. Both have the
        shape `(batch, beams, n-grams)`.
    """
    count = history.shape[2] - n + 1
    endings = history[:, :, n - 1 :]
    # The history is empty from step `t` on. Negative numbers stand for
    # repeatable ids, which match no column.
    written = ops.arange(n - 1, n - 1 + count, dtype="int32") < t
    repeated = ops.logical_and(written, endings >= 0)
    for i in range(n - 1):
        latest = ops.take(history, [ops.maximum(t - n + 1 + i, 0)], axis=2)
        same = ops.equal(history[:, :, i : i + count], latest)
        repeated = ops.logical_and(repeated, same)
    return ops.maximum(endings, 0), repeated


def or_end(allowed, logits, is_end):
    """Allows the end token where no token is allowed.

    Args:
        allowed: Float tensor of shape `(batch, beams, columns)`.
        logits: The same without constraints; the logit of the end token is
            taken from it.
        is_end: Boolean tensor that broadcasts to that shape, true at the end
            token.
    """
    stuck = ops.equal(ops.max(allowed, axis=2, keepdims=True), NEVER)
    return ops.where(ops.logical_and(stuck, is_end), logits, allowed)


def marked(shape, columns, marks):
    """Returns which columns are marked, booleans `(batch, beams, columns)`.

    Args:
        shape: Tuple, the shape of the result.
        columns: Integer tensor of shape `(batch, beams, positions)`. A column
            may occur several times, with or without a mark. Marks of columns
            out of range are ignored.
        marks: Boolean tensor of that shape.
    """
    marks = ops.logical_and(marks, columns < shape[2])
    columns = flatten_beams(ops.minimum(columns, shape[2] - 1))
    rows = ops.arange(ops.shape(columns)[0], dtype=columns.dtype)
    times = ops.segment_sum(
        ops.reshape(ops.cast(marks, "int32"), (-1,)),
        ops.reshape(ops.expand_dims(rows * shape[2], 1) + columns, (-1,)),
        num_segments=shape[0] * shape[1] * shape[2],
    )
    return ops.reshape(times, shape) > 0
