"""The numbers of the unmasked positions of a memory."""

from keras import ops


def positions(memory, memory_mask=None):
    """Numbers the unmasked positions of a memory, from 0.

    Args:
        memory: Tensor of shape `(batch, positions, dim)`.
        memory_mask: Boolean tensor of shape `(batch, positions)`, or `None`.

    Returns:
        Two integer tensors: the numbers, of shape `(batch, positions)`, where a
        masked position has the number of the last unmasked one before it, or
        -1; and how many are unmasked, of shape `(batch, 1)`.
    """
    if memory_mask is None:
        memory_mask = ops.ones(ops.shape(memory)[:2], "int32")
    memory_mask = ops.cast(memory_mask, "int32")
    count = ops.sum(memory_mask, axis=1, keepdims=True)
    return ops.cumsum(memory_mask, axis=1) - 1, count
