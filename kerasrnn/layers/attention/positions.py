"""The positions of the places of a memory."""

from keras import ops


def positions(memory, memory_mask=None):
    """Numbers the unmasked places of a memory, from 0.

    Args:
        memory: Tensor of shape `(batch, places, dim)`.
        memory_mask: Boolean tensor of shape `(batch, places)`, or `None`.

    Returns:
        Two integer tensors: the positions, of shape `(batch, places)`, where
        a masked place has the position of the last unmasked one before it, or
        -1; and the number of unmasked places, of shape `(batch, 1)`.
    """
    if memory_mask is None:
        memory_mask = ops.ones(ops.shape(memory)[:2], "int32")
    memory_mask = ops.cast(memory_mask, "int32")
    count = ops.sum(memory_mask, axis=1, keepdims=True)
    return ops.cumsum(memory_mask, axis=1) - 1, count
