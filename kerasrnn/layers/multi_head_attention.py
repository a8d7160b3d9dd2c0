"""Multi-head dot-product attention over a memory."""

import keras
from keras import ops

from kerasrnn.layers.arguments import positive_integer
from kerasrnn.layers.attention import AttentionMechanism
from kerasrnn.layers.attention import masked_softmax
from kerasrnn.layers.attention import over_last
from kerasrnn.layers.recurrent_cell import initializer_of_layer


@keras.saving.register_keras_serializable("kerasrnn")
class MultiHeadDotAttention(AttentionMechanism):
    """Dot-product attention in several projected sub-spaces.

    For each head `j`:

        score_j(q, k) = (W_q^j q) . (W_k^j k) / sqrt(head_dim)
        context_j = sum_i alpha_ji W_v^j v_i
        context = W_out [context_1; ...; context_heads]

    No product carries a bias. Keys and values are projected once for a
    memory.

    Args:
        num_heads: Positive integer, number of heads.
        head_dim: Positive integer, width of a head.
        units: Positive integer, width of the context; `None` for the width
            of the query.
        kernel_initializer: Initializer of the four kernels.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        query: Tensor of shape `(batch, queries, query_dim)`.
        memory: Tensor of shape `(batch, places, memory_dim)`.
        memory_mask: Optional boolean tensor of shape `(batch, places)`.

    Returns:
        `(context, weights)` of shapes `(batch, queries, units)` and
        `(batch, queries, places)`; the weights are the mean over the heads.

    Raises:
        ValueError: when `num_heads`, `head_dim` or `units` is not a positive
            integer.

    Example:

    >>> query, memory = np.ones((2, 1, 8)), np.ones((2, 5, 6))
    >>> context, weights = MultiHeadDotAttention(2, 4)(query, memory)
    >>> context.shape, weights.shape
    ((2, 1, 8), (2, 1, 5))

    Reference:
        [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762), section
        3.2.2.
    """

    def __init__(
        self,
        num_heads,
        head_dim,
        units=None,
        kernel_initializer="glorot_uniform",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.num_heads = positive_integer("num_heads", num_heads)
        self.head_dim = positive_integer("head_dim", head_dim)
        if units is not None:
            units = positive_integer("units", units)
        self.units = units
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build(self, query_shape, memory_shape):
        width = self.num_heads * self.head_dim
        self._context_dim = self.units or query_shape[-1]

        def kernel(i, name, *shape):
            return self.add_weight(
                shape=shape,
                initializer=initializer_of_layer(self.kernel_initializer, i),
                name=name,
            )

        self.query_kernel = kernel(0, "query_kernel", query_shape[-1], width)
        self.key_kernel = kernel(1, "key_kernel", memory_shape[-1], width)
        self.value_kernel = kernel(2, "value_kernel", memory_shape[-1], width)
        self.output_kernel = kernel(
            3, "output_kernel", width, self._context_dim
        )

    def _split_heads(self, x):
        # (batch, length, heads * dim) -> (batch, heads, length, dim)
        shape = (-1, ops.shape(x)[1], self.num_heads, self.head_dim)
        return ops.swapaxes(ops.reshape(x, shape), 1, 2)

    def project(self, memory):
        return (
            self._split_heads(over_last(self.key_kernel, memory)),
            self._split_heads(over_last(self.value_kernel, memory)),
        )

    def projected_shapes(self, query_dim, memory_dim):
        return ((self.num_heads, self.head_dim),) * 2

    def score(self, query, keys):
        query = self._split_heads(over_last(self.query_kernel, query))
        scores = ops.matmul(query, ops.swapaxes(keys, -1, -2))
        return scores / self.head_dim**0.5

    def attend(self, query, projected, memory_mask=None):
        keys, values = projected
        if memory_mask is not None:
            memory_mask = ops.expand_dims(memory_mask, (1, 2))
        # (batch, heads, queries, places)
        weights = masked_softmax(self.score(query, keys), memory_mask)
        context = ops.matmul(ops.cast(weights, values.dtype), values)
        width = self.num_heads * self.head_dim
        context = ops.reshape(
            ops.swapaxes(context, 1, 2), (-1, ops.shape(query)[1], width)
        )
        return over_last(self.output_kernel, context), ops.mean(weights, 1)

    def context_dim(self, memory_dim):
        return self._context_dim

    def get_config(self):
        return {
            **super().get_config(),
            "num_heads": self.num_heads,
            "head_dim": self.head_dim,
            "units": self.units,
            "kernel_initializer": keras.initializers.serialize(
                self.kernel_initializer
            ),
        }
