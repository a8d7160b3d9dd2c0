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
        blocks = _Blocks(query, keys, vector, most)

        def gradient(upstream):
            grads = blocks.gradients(*upstream)
            operands = query, keys, vector
            return tuple(
                map(lambda x, y: ops.cast(x, y.dtype), grads, operands)
            )

        return blocks.scores(), gradient

    return run(query, keys, vector)


class _Blocks:
    """Queries in blocks, of which the hidden layer of one is held at a time.

    Args:
        query, keys, vector: As of `additive_score`.
        most: Integer, or a tensor, the most queries of a block.
    """

    def __init__(self, query, keys, vector, most):
        self.query = query
        self.keys = keys
        self.vector = vector
        self.most = most
        self.batch_size, self.count, self.units = ops.shape(query)
        self.positions = ops.shape(keys)[1]
        # Of negative numbers, ONNX rounds quotients up.
        blocks = (self.count + most - 1) // most
        if ops.is_tensor(blocks):  # then there may be no queries
            blocks = ops.maximum(blocks, 1)
        self.blocks = blocks
        self.size = (self.count + blocks - 1) // blocks
        self.queries = self.divided(query, self.units)

    def divided(self, x, width):
        """`(batch, queries, width)` as `(blocks, size, batch, width)`."""
        missing = self.blocks * self.size - self.count
        rest = ops.zeros((missing, self.batch_size, width), x.dtype)
        x = ops.concatenate([ops.swapaxes(x, 0, 1), rest])
        return ops.reshape(x, (self.blocks, self.size, self.batch_size, width))

    def joined(self, x, width):
        """`(blocks, size, batch, width)` as `(batch, queries, width)`."""
        shape = (self.blocks * self.size, self.batch_size, width)
        return ops.swapaxes(ops.reshape(x, shape)[: self.count], 0, 1)

    def hidden(self, index):
        """The hidden layer of a block, `(size, batch, positions, units)`."""
        return ops.tanh(ops.expand_dims(self.queries[index], 2) + self.keys)

    def scores(self):
        """Returns the scores, `(batch, queries, positions)`."""
        if not ops.is_tensor(self.most):
            return self.one_by_one()
        # A few queries, as in a step of a search, need no loop.
        return ops.cond(
            self.count <= self.most,
            lambda: _score(self.query, self.keys, self.vector),
            self.one_by_one,
        )

    def one_by_one(self):
        """Returns the scores, block by block."""

        def step(state, index):
            return state, _product(self.hidden(index), self.vector)

        _, scores = _backend.scan(step, [], self.blocks)
        return self.joined(scores, self.positions)

    def gradients(self, upstream):
        """Returns the gradients of query, keys and vector, block by block."""
        vector = wide(self.vector)
        upstream = self.divided(upstream, self.positions)

        def step(state, index):
            of_keys, of_vector = state
            grad, active = upstream[index], self.hidden(index)
            flat = ops.reshape(active, (-1, self.units))
            found = multiply(ops.reshape(grad, (1, -1)), flat)
            of_vector = of_vector + found[0]
            gate = ops.expand_dims(grad, -1) * (1 - ops.square(active))
            of_keys = of_keys + vector * ops.sum(wide(gate), axis=0)
            of_query = vector * ops.sum(wide(gate), axis=2)
            return (of_keys, of_vector), of_query

        state = wide(ops.zeros_like(self.keys)), ops.zeros_like(vector)
        state, of_query = _backend.scan(step, state, self.blocks)
        return self.joined(of_query, self.units), *state
