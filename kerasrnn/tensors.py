"""Operations on tensors that `keras.ops` lacks."""

import keras
from keras import ops


def gather(x, index, axis=1):
    """Returns `x[b, index[b, k]]`, along the second axis or another one.

    Args:
        x: Tensor of shape `(batch, ..., length, ...)`.
        index: Integer tensor of shape `(batch, count)`.
        axis: The axis of the length.

    Returns:
        Tensor of shape `(batch, ..., count, ...)`.
    """
    if axis != 1:
        return ops.moveaxis(gather(ops.moveaxis(x, axis, 1), index), 1, axis)
    batch, length, *rest = ops.shape(x)
    rows = ops.arange(batch, dtype="int32") * length
    rows = ops.expand_dims(rows, 1) + ops.cast(index, "int32")
    shapes = (batch * length, *rest), (*ops.shape(index), *rest)
    if not isinstance(batch, int) and all(
        isinstance(n, int) for n in (length, *shapes[1][1:])
    ):
        # A graph reshapes by one operation then, and not by one for each size.
        shapes = (-1, *rest), (-1, *shapes[1][1:])
    # JAX forgets the shape of an empty index, if it is not flat.
    x = ops.reshape(x, shapes[0])
    return ops.reshape(ops.take(x, ops.reshape(rows, (-1,)), axis=0), shapes[1])


def at_least_one(size):
    """Returns a size, or 1 if it is 0: an integer, or an integer tensor."""
    return ops.maximum(size, 1) if ops.is_tensor(size) else max(size, 1)


def without_last_axis(labels):
    """Returns labels `(batch, time)`, also if given as `(batch, time, 1)`.

    The sparse losses of Keras take both.
    """
    shape = labels.shape
    return labels[..., 0] if len(shape) == 3 and shape[2] == 1 else labels


def where_unmasked(mask, x, otherwise=0):
    """Returns `x` where a mask of its first axes is true."""
    for _ in range(len(x.shape) - len(mask.shape)):
        mask = ops.expand_dims(mask, -1)
    return ops.where(mask, x, ops.cast(otherwise, x.dtype))


def unmasked_first(mask, axis=1):
    """Returns an index that sorts unmasked steps to the front, in order.

    Args:
        mask: Boolean tensor of shape `(batch, time)`, or `(time, batch)` with
            `axis=0`.
        axis: The axis of time.

    Returns:
        Integer tensor of the same shape.
    """
    time = ops.shape(mask)[axis]
    steps = ops.expand_dims(ops.arange(time, dtype="int32"), 1 - axis)
    return ops.argsort(ops.where(mask, steps, steps + time), axis=axis)


def largest(x, k):
    """Returns the `k` largest values of the last axis, and where they are.

    It is `keras.ops.top_k`, with the first of equal values first. Of these
    PyTorch would take any.
    """
    if keras.backend.backend() != "torch":
        return ops.top_k(x, k)
    index = (
        ops.argmax(x, axis=-1, keepdims=True)
        if k == 1
        else ops.argsort(-x, axis=-1)[..., :k]
    )
    return ops.take_along_axis(x, index, axis=-1), ops.cast(index, "int32")
