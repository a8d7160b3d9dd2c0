"""Attention over a memory: what the five mechanisms share, and four of them.

The score functions follow Luong et al. 2015 (arXiv 1508.04025, section 3.1)
and Bahdanau et al. 2015 (arXiv 1409.0473, appendix A.1.2).
"""

import keras
from keras import ops

from kerasrnn.layers.arguments import positive_integer


def masked_softmax(scores, mask=None):
    """Softmax over the last axis that never looks at a masked place.

    Args:
        scores: Tensor of shape `(..., places)`.
        mask: Optional boolean tensor that broadcasts against `scores`,
            `True` where a place may be attended to.

    Returns:
        Weights of the shape of `scores`, in float32 or wider: exactly 0
        wherever `mask` is `False`, and all 0 (never NaN) where nothing is
        left to attend to.
    """
    scores = ops.cast(
        scores, keras.backend.result_type(scores.dtype, "float32")
    )
    if mask is None:
        return ops.softmax(scores, axis=-1)
    weights = ops.softmax(ops.where(mask, scores, -1e9), axis=-1)
    return weights * ops.cast(mask, weights.dtype)


class AttentionMechanism(keras.layers.Layer):
    """Base of the attention mechanisms: scores, weights, context.

    For a query `q` and a memory whose places have keys `k_i` and values `v_i`:

        alpha = softmax_i(score(q, k_i))       over the unmasked places
        context = sum_i alpha_i v_i

    A mechanism overrides `score`, and `project` where keys or values are not
    the memory itself. `project` depends on the memory alone: call it once for
    a memory and pass its result to `attend` at every step. Calling the layer
    does both.

    Args:
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        query: Tensor of shape `(batch, queries, query_dim)`.
        memory: Tensor of shape `(batch, places, memory_dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, places)`,
            `True` at the places that may be attended to.

    Returns:
        A tuple `(context, weights)` of shapes `(batch, queries, context_dim)`
        and `(batch, queries, places)`.

    Masking: a masked place has weight exactly 0, and a memory that is wholly
    masked gives a context of 0.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def project(self, memory):
        """Returns `(keys, values)` of a memory `(batch, places, dim)`."""
        return memory, memory

    def score(self, query, keys):
        """Returns the scores, of shape `(batch, queries, places)`."""
        raise NotImplementedError(
            f"{type(self).__name__} must override `score(query, keys)`."
        )

    def attend(self, query, projected, memory_mask=None):
        """Attends to a memory that went through `project` before.

        Args:
            query: Tensor of shape `(batch, queries, query_dim)`.
            projected: What `project` returned.
            memory_mask: Boolean tensor of shape `(batch, places)`, or `None`.

        Returns:
            `(context, weights)`, as the layer itself does.
        """
        keys, values = projected
        if memory_mask is not None:
            memory_mask = ops.expand_dims(memory_mask, 1)
        weights = masked_softmax(self.score(query, keys), memory_mask)
        return ops.matmul(ops.cast(weights, values.dtype), values), weights

    def call(self, query, memory, memory_mask=None):
        return self.attend(query, self.project(memory), memory_mask)

    def context_dim(self, memory_dim):
        """Width of the context that a memory of width `memory_dim` gives."""
        return memory_dim


@keras.saving.register_keras_serializable("kerasrnn")
class DotAttention(AttentionMechanism):
    """Dot-product attention (Luong et al. 2015, "dot").

        score(q, k) = q . k

    It has no weights, so query and memory must be equally wide.

    Args:
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        query: Tensor of shape `(batch, queries, dim)`.
        memory: Tensor of shape `(batch, places, dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, places)`.

    Returns:
        `(context, weights)` of shapes `(batch, queries, dim)` and
        `(batch, queries, places)`.

    Raises:
        ValueError: when query and memory differ in width.

    Example:

    >>> query, memory = np.ones((2, 1, 8)), np.ones((2, 5, 8))
    >>> context, weights = DotAttention()(query, memory)
    >>> context.shape, weights.shape
    ((2, 1, 8), (2, 1, 5))

    Reference:
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025), equation 8.
    """

    def build(self, query_shape, memory_shape):
        if query_shape[-1] != memory_shape[-1]:
            raise ValueError(
                f"{type(self).__name__} has no weights, so query and memory "
                "must be equally wide ('general' attention takes any "
                f"widths). Received: a query of width {query_shape[-1]} and "
                f"a memory of width {memory_shape[-1]}."
            )

    def score(self, query, keys):
        return ops.matmul(query, ops.swapaxes(keys, -1, -2))


@keras.saving.register_keras_serializable("kerasrnn")
class ScaledDotAttention(DotAttention):
    """Scaled dot-product attention.

        score(q, k) = q . k / sqrt(dim)

    It has no weights, so query and memory must be equally wide.

    Args:
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        query: Tensor of shape `(batch, queries, dim)`.
        memory: Tensor of shape `(batch, places, dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, places)`.

    Returns:
        `(context, weights)` of shapes `(batch, queries, dim)` and
        `(batch, queries, places)`.

    Raises:
        ValueError: when query and memory differ in width.

    Example:

    >>> query, memory = np.ones((2, 1, 8)), np.ones((2, 5, 8))
    >>> context, weights = ScaledDotAttention()(query, memory)
    >>> context.shape, weights.shape
    ((2, 1, 8), (2, 1, 5))

    Reference:
        [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762), equation 1.
    """

    def score(self, query, keys):
        return super().score(query, keys) / query.shape[-1] ** 0.5


@keras.saving.register_keras_serializable("kerasrnn")
class GeneralAttention(AttentionMechanism):
    """Bilinear attention (Luong et al. 2015, "general").

        score(q, k) = q W k

    `W` is applied to the memory, once, and not to every query.

    Args:
        kernel_initializer: Initializer of `W`.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        query: Tensor of shape `(batch, queries, query_dim)`.
        memory: Tensor of shape `(batch, places, memory_dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, places)`.

    Returns:
        `(context, weights)` of shapes `(batch, queries, memory_dim)` and
        `(batch, queries, places)`.

    Example:

    >>> query, memory = np.ones((2, 1, 8)), np.ones((2, 5, 6))
    >>> context, weights = GeneralAttention()(query, memory)
    >>> context.shape, weights.shape
    ((2, 1, 6), (2, 1, 5))

    Reference:
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025), equation 8.
    """

    def __init__(self, kernel_initializer="glorot_uniform", **kwargs):
        super().__init__(**kwargs)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build(self, query_shape, memory_shape):
        self.kernel = self.add_weight(
            shape=(query_shape[-1], memory_shape[-1]),
            initializer=self.kernel_initializer,
            name="kernel",
        )

    def project(self, memory):
        return ops.matmul(memory, ops.transpose(self.kernel)), memory

    def score(self, query, keys):
        return ops.matmul(query, ops.swapaxes(keys, -1, -2))

    def get_config(self):
        return {
            **super().get_config(),
            "kernel_initializer": keras.initializers.serialize(
                self.kernel_initializer
            ),
        }


@keras.saving.register_keras_serializable("kerasrnn")
class BahdanauAttention(AttentionMechanism):
    """Additive attention (Bahdanau et al. 2015).

        score(q, k) = v . tanh(W_q q + W_k k)

    Args:
        units: Positive integer, width of the hidden layer of the score.
        use_bias: Whether the three products carry biases. The paper has
            none; some widespread implementations have all three.
        kernel_initializer: Initializer of `W_q`, `W_k` and `v`.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        query: Tensor of shape `(batch, queries, query_dim)`.
        memory: Tensor of shape `(batch, places, memory_dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, places)`.

    Returns:
        `(context, weights)` of shapes `(batch, queries, memory_dim)` and
        `(batch, queries, places)`.

    Raises:
        ValueError: when `units` is not a positive integer.

    Example:

    >>> query, memory = np.ones((2, 1, 8)), np.ones((2, 5, 6))
    >>> context, weights = BahdanauAttention(16)(query, memory)
    >>> context.shape, weights.shape
    ((2, 1, 6), (2, 1, 5))

    Reference:
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473), appendix
        A.1.2.
    """

    def __init__(
        self,
        units,
        use_bias=False,
        kernel_initializer="glorot_uniform",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units = positive_integer("units", units)
        self.use_bias = use_bias
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.query_projection = self._dense(units, "query")
        self.memory_projection = self._dense(units, "memory")
        self.score_projection = self._dense(1, "score")

    def _dense(self, units, name):
        return keras.layers.Dense(
            units,
            use_bias=self.use_bias,
            # Initializers carry a seed: three layers, three streams.
            kernel_initializer=self.kernel_initializer.clone(),
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, query_shape, memory_shape):
        self.query_projection.build(query_shape)
        self.memory_projection.build(memory_shape)
        self.score_projection.build((None, self.units))

    def project(self, memory):
        return _over_last(self.memory_projection, memory), memory

    def score(self, query, keys):
        # (batch, queries, 1, units) + (batch, 1, places, units)
        query = ops.expand_dims(_over_last(self.query_projection, query), 2)
        hidden = ops.tanh(query + ops.expand_dims(keys, 1))
        return ops.squeeze(_over_last(self.score_projection, hidden), -1)

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "use_bias": self.use_bias,
            "kernel_initializer": keras.initializers.serialize(
                self.kernel_initializer
            ),
        }


def _over_last(dense, x):
    """A dense layer over the last axis, as one product of two matrices.

    On tensors of more axes it would go through TensorFlow's `tensordot`, and
    a decoding step has hardly more to do than that.
    """
    flat = dense(ops.reshape(x, (-1, x.shape[-1])))
    return ops.reshape(flat, (*ops.shape(x)[:-1], flat.shape[-1]))
