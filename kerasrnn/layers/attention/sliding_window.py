"""Attention of every step to the positions before it, all steps at once."""

from keras import ops


def attend_to_windows(attention, queries, cache, window):
    """Lets query `t` attend to the positions `t` to `t + window - 1`.

    The scores form a band. It is computed in blocks of queries, each with the
    positions that its queries see: time and memory grow with
    `time * window * 3 / 2`, and no query has its own copy of its window.

    Args:
        attention: An attention mechanism.
        queries: Tensor of shape `(batch, time, query_dim)`.
        cache: Keys, values, and flags that are 0 where a position is empty,
            all of `window + time` positions: tensors
            `(batch, ..., positions, size)`.
        window: Integer, number of positions that a query sees.

    Returns:
        The contexts, of shape `(batch, time, context_dim)`.
    """
    batch_size, time = ops.shape(queries)[:2]
    block = max(1, window // 2)
    if isinstance(time, int) and time <= 3 * block:
        return _attend_to_band(attention, queries, cache, window)
    blocks, seen = -(-time // block), -(-window // block)
    queries = _pad(queries, 0, blocks * block - time)
    queries = _blocks(queries, 0, blocks, block)
    cache = [
        _blocks(
            _pad(x, seen * block - window, blocks * block - time),
            seen,
            blocks,
            block,
        )
        for x in cache
    ]
    context = _attend_to_band(attention, queries, cache, window)
    # A loop over windows needs the static batch size, if there is one.
    shape = (batch_size, blocks * block, context.shape[-1])
    return ops.reshape(context, shape)[:, :time]


def attend_to_windows_and_own(attention, queries, cache, window):
    """Lets query `t` attend to the positions `t` to `t + window`.

    The arguments are those of `attend_to_windows`. The last of these positions
    is the query's own.
    """
    cache = [_pad(x, 0, 1) for x in cache]
    return attend_to_windows(attention, queries, cache, window + 1)


def _attend_to_band(attention, queries, cache, window):
    """Lets each query attend to the `window` positions before its own.

    The queries belong to the last positions, one for each.
    """
    keys, values, filled = cache
    count, total = ops.shape(queries)[1], ops.shape(filled)[1]
    ahead = total - count - window
    offset = ops.arange(total) - ahead - ops.expand_dims(ops.arange(count), 1)
    band = ops.logical_and(offset >= 0, offset < window)
    mask = ops.logical_and(band, ops.swapaxes(filled, 1, 2) > 0.5)
    context, *_ = attention.attend(queries, (keys, values), mask)
    return context


def _pad(x, before, after):
    """Adds empty positions at both ends of the axis before the last."""
    width = [(0, 0)] * (len(x.shape) - 2) + [(before, after), (0, 0)]
    return ops.pad(x, width)


def _blocks(x, seen, blocks, block):
    """Cuts positions into blocks, each preceded by the blocks that it sees.

    Args:
        x: Tensor of shape `(batch, ..., (seen + blocks) * block, size)`.
        seen: Integer, number of preceding blocks that a block sees.
        blocks: Integer, number of blocks.
        block: Integer, number of positions in a block.

    Returns:
        Tensor of shape `(batch * blocks, ..., (seen + 1) * block, size)`.
    """
    axis = len(x.shape) - 2
    middle, size = x.shape[1:axis], x.shape[-1]
    x = ops.reshape(x, (-1, *middle, seen + blocks, block, size))
    # Whole blocks are gathered, because slices have a slow gradient.
    index = ops.expand_dims(ops.arange(blocks), 1) + ops.arange(seen + 1)
    x = ops.moveaxis(ops.take(x, index, axis=axis), axis, 1)
    return ops.reshape(x, (-1, *middle, (seen + 1) * block, size))
