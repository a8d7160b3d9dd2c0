"""Where a place stands in its memory."""

from keras import ops


def positions(memory, memory_mask=None):
    """Counts the places of a memory from 0, masked ones left out.

    Args:
        memory: Tensor of shape `(batch, places, dim)`.
        memory_mask: Boolean tensor of shape `(batch, places)`, or `None`.

    Returns:
        Integer tensors `(batch, places)`, where a masked place has the
        position of the unmasked one before it, or -1; and `(batch, 1)`, how
        many places are unmasked.
    """
    if memory_mask is None:
        memory_mask = ops.ones(ops.shape(memory)[:2], "int32")
    memory_mask = ops.cast(memory_mask, "int32")
    count = ops.sum(memory_mask, axis=1, keepdims=True)
    return ops.cumsum(memory_mask, axis=1) - 1, count
