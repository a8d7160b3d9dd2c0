"""The additive score of many queries, in bounded memory."""

from keras import ops

from kerasrnn.layers import _backend
from kerasrnn.layers.attention.projection import over_last
from kerasrnn.layers.loop.products import multiply
from kerasrnn.layers.precision import wide

# How many hidden units are held at once: 16 MiB of float32.
_MOST = 2**22


def additive_score(query, keys, vector):
    """Returns `v . tanh(q + k)` for each query and position.

    Many queries are scored block by block, forwards and backwards: the hidden
    layer of all of them would be the largest tensor of a model.

    Args:
        query: Tensor of shape `(batch, queries, units)`.
        keys: Tensor of shape `(batch, positions, units)`.
        vector: Tensor of shape `(units,)`, of the same dtype.

    Returns:
        Tensor of shape `(batch, queries, positions)`.
    """
    if query.shape[1] == 1:
        return _score(query, keys, vector)
    batch_size, count, units = ops.shape(query)
    row = batch_size * ops.shape(keys)[1] * units
    if ops.is_tensor(row) or ops.is_tensor(count):
        # A graph of TensorFlow for batches of any size.
        most = ops.maximum(_MOST // ops.maximum(row, 1), 1)
        scores = _in_blocks(query, keys, vector, most)
        # The lengths that are known were lost.
        return ops.reshape(scores, (batch_size, count, ops.shape(keys)[1]))
    known = isinstance(row, int) and isinstance(count, int)
    # JAX may ask for the shape alone.
    if not known or count * row <= _MOST:
        return _score(query, keys, vector)
    return _in_blocks(query, keys, vector, max(1, _MOST // row))


def _score(query, keys, vector):
    """Scores of queries `(batch, queries, units)`, all at once."""
    hidden = ops.expand_dims(query, 2) + ops.expand_dims(keys, 1)
    return _product(ops.tanh(hidden), vector)


def _product(hidden, vector):
    """`v . h`, for any leading axes."""
    found = over_last(ops.expand_dims(vector, -1), hidden)
    return ops.squeeze(found, -1)


def _in_blocks(query, keys, vector, most):
    """Scores of blocks of at most this many queries, one after another."""

    @_backend.custom_gradient
    def run(query, keys, vector):
        batch_size, count, units = ops.shape(query)
        positions = ops.shape(keys)[1]
        # Of negative numbers, ONNX rounds quotients up.
        blocks = (count + most - 1) // most
        if ops.is_tensor(blocks):  # then there may be no queries
            blocks = ops.maximum(blocks, 1)
        size = (count + blocks - 1) // blocks

        def divided(x, width):
            """`(batch, queries, width)` as `(blocks, size, batch, width)`."""
            rest = (blocks * size - count, batch_size, width)
            rest = ops.zeros(rest, x.dtype)
            x = ops.concatenate([ops.swapaxes(x, 0, 1), rest])
            return ops.reshape(x, (blocks, size, batch_size, width))

        def joined(x, width):
            x = ops.reshape(x, (blocks * size, batch_size, width))
            return ops.swapaxes(x[:count], 0, 1)

        def hidden(block):
            return ops.tanh(ops.expand_dims(block, 2) + keys)

        queries = divided(query, units)

        def step(state, index):
            return state, _product(hidden(queries[index]), vector)

        def one_by_one():
            _, scores = _backend.scan(step, [], blocks)
            return joined(scores, positions)

        if ops.is_tensor(most):
            # A few queries, as in a step of a search, need no loop.
            scores = ops.cond(
                count <= most, lambda: _score(query, keys, vector), one_by_one
            )
        else:
            scores = one_by_one()

        def gradient(upstream):
            (upstream,) = upstream
            wide_vector = wide(vector)
            upstream = divided(upstream, positions)

            def step_back(state, index):
                grad, active = upstream[index], hidden(queries[index])
                of_keys, of_vector = state
                flat = ops.reshape(active, (-1, units))
                found = multiply(ops.reshape(grad, (1, -1)), flat)
                of_vector = of_vector + found[0]
                gate = ops.expand_dims(grad, -1) * (1 - ops.square(active))
                of_keys = of_keys + wide_vector * ops.sum(wide(gate), axis=0)
                of_query = wide_vector * ops.sum(wide(gate), axis=2)
                return (of_keys, of_vector), of_query

            state = wide(ops.zeros_like(keys)), wide(ops.zeros_like(vector))
            (of_keys, of_vector), of_query = _backend.scan(
                step_back, state, blocks
            )
            return (
                ops.cast(joined(of_query, units), query.dtype),
                ops.cast(of_keys, keys.dtype),
                ops.cast(of_vector, vector.dtype),
            )

        return scores, gradient

    return run(query, keys, vector)
