"""Additive attention."""

from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.layers import _backend
from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.layers.attention.mechanism import over_last
from kerasrnn.layers.initializers import reseeded
from kerasrnn.layers.loop.products import multiply
from kerasrnn.layers.precision import wide
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class BahdanauAttention(AttentionMechanism):
    """Additive attention (Bahdanau et al. 2015).

        score(q, k) = v . tanh(W_q q + W_k k)

    or, with `normalize`, which trains the length `g` of the vector apart from
    its direction `v`, and a bias:

        score(q, k) = g v / |v| . tanh(W_q q + W_k k + b)

    The "concat" score of Luong et al. 2015, `v . tanh(W [q; k])`, is the same
    function, with `W_q` and `W_k` side by side.

    Args:
        units: Positive integer, width of the hidden layer of the score.
        use_bias: Whether the three products have biases. The paper has none;
            some common implementations have all three.
        normalize: Whether to use the normalized score. `g` starts at
            `1 / sqrt(units)`, as in tensorflow/nmt, and `b` at 0.
        kernel_initializer: Initializer of `W_q`, `W_k` and `v`.
        dropout: Float in `[0, 1)`, dropout rate of the attention weights.
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as of
            every Keras layer.

    Call arguments:
        query: Tensor of shape `(batch, queries, query_dim)`.
        memory: Tensor of shape `(batch, positions, memory_dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, positions)`,
            `True` at the positions that may be attended to.
        training: Whether to behave as in training (dropout).

    Returns:
        `(context, weights)` of shapes `(batch, queries, memory_dim)` and
        `(batch, queries, positions)`.

    Masking: a masked position has weight exactly 0. A memory that is fully
    masked gives a context of 0.

    Raises:
        ValueError: when `units` is not a positive integer, or both `use_bias`
            and `normalize` are true.

    Example:

    >>> query, memory = np.ones((2, 1, 8)), np.ones((2, 5, 6))
    >>> context, weights = BahdanauAttention(16)(query, memory)
    >>> context.shape, weights.shape
    ((2, 1, 6), (2, 1, 5))

    References:
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473), appendix
        A.1.2; normalized as in
        [Salimans & Kingma, 2016](https://arxiv.org/abs/1602.07868).
    """

    def __init__(
        self,
        units: int,
        use_bias: bool = False,
        *,
        normalize: bool = False,
        kernel_initializer: Initializer = "glorot_uniform",
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(dropout=dropout, seed=seed, **kwargs)
        if use_bias and normalize:
            raise ValueError(
                "`use_bias` and `normalize` cannot both be true: the "
                "normalized score has the single bias `b`. "
                f"Received: use_bias={use_bias}, normalize={normalize}"
            )
        self.units = positive_integer("units", units)
        self.use_bias = use_bias
        self.normalize = normalize
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.query_projection = self._dense(0, self.units, "query", use_bias)
        # The `b` of the normalized score is added here, once for a memory.
        self.memory_projection = self._dense(
            1, self.units, "memory", use_bias or normalize
        )
        self.score_projection = self._dense(2, 1, "score", use_bias)

    def _dense(self, i, units, name, use_bias):
        return keras.layers.Dense(
            units,
            use_bias=use_bias,
            # An initializer repeats its values: three layers, three seeds.
            kernel_initializer=reseeded(self.kernel_initializer, i),
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, query_shape: Shape, memory_shape: Shape) -> None:
        self.query_projection.build(query_shape)
        self.memory_projection.build(memory_shape)
        self.score_projection.build((None, self.units))
        if self.normalize:
            self.gain = self.add_weight(
                shape=(),
                initializer=keras.initializers.Constant(self.units**-0.5),
                name="gain",
            )

    def keys_and_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        return over_last(self.memory_projection, memory), memory

    def projected_shapes(
        self, query_dim: int, memory_dim: int
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (self.units,), (memory_dim,)

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        project = self.score_projection
        if project.quantization_mode is not None:
            return self.energy(self.preactivation(query, keys))
        query = over_last(self.query_projection, query)
        vector = self._direction() if self.normalize else project.kernel
        vector = ops.cast(ops.squeeze(vector, -1), query.dtype)
        scores = additive_score(query, keys, vector)
        if project.bias is not None:
            scores = scores + ops.cast(project.bias, scores.dtype)
        return scores

    def preactivation(self, query: Tensor, keys: Tensor) -> Tensor:
        """Returns `W_q q + W_k k`, `(batch, queries, positions, units)`."""
        query = over_last(self.query_projection, query)
        return ops.expand_dims(query, 2) + ops.expand_dims(keys, 1)

    def energy(self, preactivation: Tensor) -> Tensor:
        """Returns `v . tanh(preactivation)`, `(batch, queries, positions)`."""
        project = self._direction() if self.normalize else self.score_projection
        energy = over_last(project, ops.tanh(preactivation))
        return ops.squeeze(energy, -1)

    def _direction(self):
        """Returns `g v / |v|`, of shape `(units, 1)`."""
        project = self.score_projection
        v = project.kernel
        if project.quantization_mode is not None:
            # The kernel without its scales would be another one.
            v = project(ops.eye(self.units, dtype=self.compute_dtype))
        v = wide(v)
        length = ops.sqrt(ops.sum(ops.square(v)))
        return wide(self.gain) * v / length


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
            row = ops.reshape(grad, (1, -1))
            found = wide(multiply(row, flat, flat.shape[-1]))
            of_vector = of_vector + found[0]
            gate = ops.expand_dims(grad, -1) * (1 - ops.square(active))
            of_keys = of_keys + vector * ops.sum(wide(gate), axis=0)
            of_query = vector * ops.sum(wide(gate), axis=2)
            return (of_keys, of_vector), of_query

        state = wide(ops.zeros_like(self.keys)), ops.zeros_like(vector)
        state, of_query = _backend.scan(step, state, self.blocks)
        return self.joined(of_query, self.units), *state
