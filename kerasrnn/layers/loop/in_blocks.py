"""A long sequence, block by block, so that inference takes little memory."""

from keras import ops

from kerasrnn.layers import _backend
from kerasrnn.layers.loop import cells

# Rows of a product over several steps.
_ROWS = 1024


def run_in_blocks(run, states, sequence, skipped, output_size, last_only):
    """Runs over one block of steps after another.

    The products with all inputs of a long sequence would take more memory than
    all else.

    Args:
        run: Function `(states, sequence, skipped=None) -> (outputs,
            states)`.
        states: List of tensors `(batch, ...)`, the states to start from.
        sequence: Tensor of shape `(time, batch, input_dim)`.
        skipped: Booleans `(time, batch)`, true where a step is skipped, or
            `None`.
        output_size: Width of the outputs, or their shape without the batch.
        last_only: Whether `run` returns only the last output.

    Returns:
        The outputs, and the last states.
    """
    time, batch_size = ops.shape(sequence)[:2]
    block = _steps_in_a_block(time, batch_size)
    if block is None:
        return run(states, sequence, skipped)

    # All blocks but the last, which is not empty.
    count = (time - 1) // block
    given = [sequence] if skipped is None else [sequence, skipped]
    blocks = [
        ops.reshape(x[: count * block], (count, block, *ops.shape(x)[1:]))
        for x in given
    ]

    def step(states, index):
        outputs, states = run(states, *(x[index] for x in blocks))
        outputs = ops.cast(outputs, states[0].dtype)
        return states, [] if last_only else [outputs]

    def all_but_the_last():
        last, outputs = _backend.scan(step, list(states), count)
        return last, [ops.reshape(x, (-1, *ops.shape(x)[2:])) for x in outputs]

    def nothing():
        shape = (0, *cells.shape_of(output_size, batch_size))
        empty = ops.zeros(shape, states[0].dtype)
        return list(states), [] if last_only else [empty]

    if ops.is_tensor(count):
        found = _backend.either(count > 0, all_but_the_last, nothing)
    else:
        found = all_but_the_last() if count else nothing()
    middle, before = found
    last, states = run(middle, *(x[count * block :] for x in given))
    outputs = ops.concatenate([*before, last])
    if isinstance(time, int) and not last_only:
        outputs = ops.reshape(outputs, (time, *ops.shape(outputs)[1:]))
    return outputs, states


def _steps_in_a_block(time, batch_size):
    """Returns how many steps make a block, or `None` for a single block."""
    if not all(
        isinstance(size, int) or ops.is_tensor(size)
        for size in (time, batch_size)
    ):
        return None  # JAX asks for shapes alone, of batches of any size.
    if isinstance(batch_size, int):
        block = max(1, _ROWS // max(1, batch_size))
    else:
        block = ops.maximum(1, _ROWS // ops.maximum(1, batch_size))
    if isinstance(time, int):
        if time == 1 or (isinstance(block, int) and time < 2 * block):
            return None
    return block
