"""Additive attention."""

import functools
from typing import Unpack

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.layers import _backend
from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.layers.attention.mechanism import over_last
from kerasrnn.layers.initializers import reseeded
from kerasrnn.layers.precision import wide
from kerasrnn.tensors import at_least_one
from kerasrnn.typing import Initializer
from kerasrnn.typing import LayerOptions
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class BahdanauAttention(AttentionMechanism):
    """Additive attention (Bahdanau et al. 2015).

        score(q, k) = v . tanh(W_q q + W_k k)

    With `normalize`, the length `g` of the vector is trained separately from
    its direction `v`, and there is a bias:

        score(q, k) = g v / |v| . tanh(W_q q + W_k k + b)

    The "concat" score of Luong et al. 2015, `v . tanh(W [q; k])`, is the same
    function with `W = [W_q W_k]`.

    Args:
        units: Positive integer, width of the hidden layer of the score.
        use_bias: Whether to add a bias to each of the three products. The paper
            has none; some common implementations have all three.
        normalize: Whether to use the normalized score. `g` starts at
            `1 / sqrt(units)`, as in tensorflow/nmt, and `b` at 0.
        kernel_initializer: Initializer of `W_q`, `W_k` and `v`.
        dropout: Float in `[0, 1)`, dropout rate of the attention weights.
        seed: Optional integer, seed of dropout.
        **kwargs: `name`, `dtype`, `trainable` and `activity_regularizer`, as in
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

    names = {
        "additive": lambda width: {"units": width},
        "bahdanau": lambda width: {"units": width},
        "concat": lambda width: {"units": width},
        "normed_bahdanau": lambda width: {"units": width, "normalize": True},
    }

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
        self.units = positive_integer("units", units)
        self.use_bias = use_bias
        self.normalize = normalize
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.query_projection = self._dense(0, self.units, "query", use_bias)
        # The `b` of the normalized score is added here, once per memory.
        self.memory_projection = self._dense(
            1, self.units, "memory", use_bias or normalize
        )
        self.score_projection = self._dense(2, 1, "score", use_bias)

    def _dense(self, i, units, name, use_bias):
        return keras.layers.Dense(
            units,
            use_bias=use_bias,
            # An initializer repeats its values, so each of the three layers
            # needs its own seed.
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
        return ops.squeeze(over_last(project, ops.tanh(preactivation)), -1)

    def _direction(self):
        """Returns `g v / |v|`, of shape `(units, 1)`."""
        project = self.score_projection
        v = project.kernel
        if project.quantization_mode is not None:
            # A quantized kernel is only valid with its scales.
            v = project(ops.eye(self.units, dtype=self.compute_dtype))
        v = wide(v)
        return wide(self.gain) * v / ops.sqrt(ops.sum(ops.square(v)))


# Number of hidden units held at once: 16 MiB of float32.
_MOST = 2**22


def additive_score(query, keys, vector):
    """Returns `v . tanh(q + k)` for each query and position.

    Many queries are scored block by block, in the backward pass too, because
    their hidden layer would be the largest tensor of a model.

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
    # A TensorFlow graph for batches of any size does not know the sizes. While
    # JAX infers a shape, they are neither integers nor tensors.
    in_graph = ops.is_tensor(row) or ops.is_tensor(count)
    known = isinstance(row, int) and isinstance(count, int)
    if not in_graph and not (known and count * row > _MOST):
        return _score(query, keys, vector)
    most = at_least_one(_MOST // at_least_one(row))
    scores = _in_blocks(query, keys, vector, most)
    # Restores the static shape.
    return ops.reshape(scores, (batch_size, count, ops.shape(keys)[1]))


def _score(query, keys, vector):
    """Scores queries `(batch, queries, units)` all at once."""
    hidden = ops.expand_dims(query, 2) + ops.expand_dims(keys, 1)
    return _product(ops.tanh(hidden), vector)


def _product(hidden, vector):
    """`v . h`, for any leading axes."""
    return ops.squeeze(over_last(ops.expand_dims(vector, -1), hidden), -1)


def _in_blocks(query, keys, vector, most):
    """Scores blocks of at most `most` queries one after another."""
    return _backend.custom_gradient(functools.partial(_blocks, most))(
        query, keys, vector
    )


def _blocks(most, query, keys, vector):
    """Scores in blocks, holding the hidden layer of one block at a time.

    Args:
        most: Integer or integer tensor, maximum number of queries in a block.
        query, keys, vector: As in `additive_score`.

    Returns:
        The scores `(batch, queries, positions)` and their gradient function,
        for `custom_gradient`.
    """
    batch_size, count, units = ops.shape(query)
    # ONNX rounds negative quotients up.
    blocks = at_least_one((count + most - 1) // most)
    size = (count + blocks - 1) // blocks

    def divided(x, width):
        """`(batch, queries, width)` to `(blocks, size, batch, width)`."""
        rest = ops.zeros((blocks * size - count, batch_size, width), x.dtype)
        x = ops.concatenate([ops.swapaxes(x, 0, 1), rest])
        return ops.reshape(x, (blocks, size, batch_size, width))

    def joined(x, width):
        """`(blocks, size, batch, width)` to `(batch, queries, width)`."""
        x = ops.reshape(x, (blocks * size, batch_size, width))
        return ops.swapaxes(x[:count], 0, 1)

    queries, positions = divided(query, units), ops.shape(keys)[1]

    def of_block(queries, keys, vector):
        """Scores of a block of queries, `(size, batch, positions)`."""
        hidden = ops.tanh(ops.expand_dims(queries, 2) + keys)
        return _product(hidden, vector)

    def one_by_one():
        _, scores = _backend.scan(
            lambda state, index: (
                state,
                of_block(queries[index], keys, vector),
            ),
            [],
            blocks,
        )
        return joined(scores, positions)

    def gradient(upstream):
        upstream = divided(*upstream, positions)

        def step(state, index):
            (of_queries, *grads), _ = _backend.gradients(
                lambda *arguments: ([of_block(*arguments)], ()),
                [queries[index], keys, vector],
                [upstream[index]],
            )
            return [
                x + wide(y) for x, y in zip(state, grads, strict=True)
            ], of_queries

        state = [wide(ops.zeros_like(x)) for x in (keys, vector)]
        (of_keys, of_vector), of_queries = _backend.scan(step, state, blocks)
        return (
            joined(of_queries, units),
            ops.cast(of_keys, keys.dtype),
            ops.cast(of_vector, vector.dtype),
        )

    if isinstance(count <= most, bool):
        return one_by_one(), gradient
    # A few queries, as in a decoding step, need no loop.
    scores = ops.cond(
        count <= most, lambda: _score(query, keys, vector), one_by_one
    )
    return scores, gradient
