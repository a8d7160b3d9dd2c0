"""The shape of a memory."""

from kerasrnn.arguments import same_shape
from kerasrnn.layers.sequence_checks import check_not_ragged


def check_memory(memory, batch_size):
    """Raises `ValueError` unless a memory is `(batch, positions, memory_dim)`.

    Args:
        memory: Tensor.
        batch_size: Integer, the number of rows that attend to it, each to its
            own; `None` where it is unknown.
    """
    check_not_ragged(memory)
    if not same_shape(memory.shape, (batch_size, None, None)):
        raise ValueError(
            "`memory` must have the shape (batch, positions, memory_dim): "
            "reshape the features of an image to (batch, height * width, "
            f"channels). Expected: ({batch_size}, positions, memory_dim). "
            f"Received: memory.shape={tuple(memory.shape)}"
        )
