"""Several queries for each memory, as adjacent rows of a batch."""

import keras
from keras import ops

from kerasrnn.layers.loop.products import of_the_loop


def attend_rows(
    attention, query, projected, memory_mask, state, training, noise
):
    """Attends with one row for each memory, or with several.

    The rows of one sentence, such as the hypotheses of a beam search, are
    adjacent and share its memory, which is not repeated for them.

    Args:
        attention: A mechanism of `kerasrnn.layers`.
        query: Tensor of shape `(rows, query_dim)`.
        projected: What `attention.project` returned for a memory, tensors of
            shape `(batch, positions, ...)`.
        memory_mask: Optional boolean tensor of shape `(batch, positions)`.
        state: State of the attention, a nest of tensors `(rows, ...)`.
        training: Whether to behave as in training.
        noise: The noise of this step, a nest of tensors `(rows, ...)`.

    Returns:
        A tuple `(context, weights, state)` of tensors `(rows, ...)`.
    """
    rows, batch_size = ops.shape(query)[0], ops.shape(projected[0])[0]
    # A loop over time has one row for each memory.
    count = 1 if of_the_loop() else _quotient(rows, batch_size)
    shape = (batch_size, count)
    query, state, noise = keras.tree.map_structure(
        lambda x: x if x is None else _reshape(x, shape, 1),
        (query, state, noise),
    )
    found = attention.attend(
        query, projected, memory_mask, state, training, noise
    )
    return keras.tree.map_structure(lambda x: _reshape(x, (rows,), 2), found)


def _reshape(x, shape, axes):
    """Reshapes the first `axes` axes of a tensor to `shape`."""
    return ops.reshape(x, (*shape, *ops.shape(x)[axes:]))


def _quotient(rows, batch_size):
    """Returns the number of rows per memory; the batch may be empty."""
    if ops.is_tensor(batch_size):  # TensorFlow, a size not known in advance
        return rows // ops.maximum(batch_size, 1)
    return rows // (batch_size or 1)
