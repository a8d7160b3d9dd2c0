"""Attention of every step to the places before it, all steps at once."""

from keras import ops


def attend_to_windows(attention, queries, places, window):
    """Lets query `t` attend to the places `t` to `t + window - 1`.

    The scores are a band. It is cut into blocks of queries, each against the
    places that its queries see: time and memory grow with
    `time * window * 3 / 2`, and no window is ever gathered.

    Args:
        attention: An attention mechanism.
        queries: Tensor of shape `(batch, time, query_dim)`.
        places: Keys, values and what is filled of `window + time` places,
            tensors `(batch, ..., places, size)`; 0 where a place is empty.
        window: Integer.

    Returns:
        The contexts, of shape `(batch, time, context_dim)`.
    """
    time, block = ops.shape(queries)[1], max(1, window // 2)
    if isinstance(time, int) and time <= 3 * block:
        return _attend_to_band(attention, queries, places, window)
    blocks, seen = -(-time // block), -(-window // block)
    queries = _pad(queries, 0, blocks * block - time)
    queries = _blocks(queries, 0, blocks, block)
    places = [
        _blocks(
            _pad(x, seen * block - window, blocks * block - time),
            seen,
            blocks,
            block,
        )
        for x in places
    ]
    context = _attend_to_band(attention, queries, places, window)
    shape = (-1, blocks * block, context.shape[-1])
    return ops.reshape(context, shape)[:, :time]


def _attend_to_band(attention, queries, places, window):
    """Query `i` of the last places attends to the `window` before its own."""
    keys, values, filled = places
    count, total = ops.shape(queries)[1], ops.shape(filled)[1]
    ahead = total - count - window
    offset = ops.arange(total) - ahead - ops.expand_dims(ops.arange(count), 1)
    band = ops.logical_and(offset >= 0, offset < window)
    mask = ops.logical_and(band, ops.swapaxes(filled, 1, 2) > 0.5)
    context, *_ = attention.attend(queries, (keys, values), mask)
    return context


def _pad(x, before, after):
    """Adds empty places at both ends of the axis before the last."""
    width = [(0, 0)] * (len(x.shape) - 2) + [(before, after), (0, 0)]
    return ops.pad(x, width)


def _blocks(x, seen, blocks, block):
    """Cuts places into blocks, each behind those that it sees.

    Args:
        x: Tensor of shape `(batch, ..., (seen + blocks) * block, size)`.
        seen: Integer, how many blocks before its own a block sees.
        blocks: Integer, their number.
        block: Integer, places in a block.

    Returns:
        Tensor of shape `(batch * blocks, ..., (seen + 1) * block, size)`.
    """
    axis = len(x.shape) - 2
    middle, size = x.shape[1:axis], x.shape[-1]
    x = ops.reshape(x, (-1, *middle, seen + blocks, block, size))
    # Blocks are taken as wholes: slices of them have a slow gradient.
    index = ops.expand_dims(ops.arange(blocks), 1) + ops.arange(seen + 1)
    x = ops.moveaxis(ops.take(x, index, axis=axis), axis, 1)
    return ops.reshape(x, (-1, *middle, (seen + 1) * block, size))


def unmasked_first(mask):
    """Brings the unmasked steps of each row to its front, in their order.

    Args:
        mask: Boolean tensor of shape `(batch, time)`.

    Returns:
        Two integer tensors of that shape: which step comes where, and how
        many unmasked ones there are up to each step, itself included.
    """
    time = ops.shape(mask)[1]
    steps = ops.arange(time)
    order = ops.argsort(ops.where(mask, steps, steps + time))
    return order, ops.cumsum(ops.cast(mask, "int32"), axis=1)


def take_by_row(x, index, axis=1):
    """Takes places of an axis by an index `(batch, count)` of each row."""
    x = ops.moveaxis(x, axis, 1)
    batch_size, length = ops.shape(x)[:2]
    index += ops.expand_dims(ops.arange(batch_size) * length, 1)
    x = ops.take(ops.reshape(x, (-1, *x.shape[2:])), index, axis=0)
    return ops.moveaxis(x, 1, axis)
