"""Additive attention."""

import keras
from keras import ops

from kerasrnn.layers.arguments import positive_integer
from kerasrnn.layers.attention import AttentionMechanism
from kerasrnn.layers.attention import over_last
from kerasrnn.layers.recurrent_cell import initializer_of_layer


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
        self.query_projection = self._dense(0, self.units, "query")
        self.memory_projection = self._dense(1, self.units, "memory")
        self.score_projection = self._dense(2, 1, "score")

    def _dense(self, i, units, name):
        return keras.layers.Dense(
            units,
            use_bias=self.use_bias,
            # Initializers carry a seed: three layers, three streams.
            kernel_initializer=initializer_of_layer(self.kernel_initializer, i),
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, query_shape, memory_shape):
        self.query_projection.build(query_shape)
        self.memory_projection.build(memory_shape)
        self.score_projection.build((None, self.units))

    def project(self, memory):
        return over_last(self.memory_projection, memory), memory

    def projected_shapes(self, query_dim, memory_dim):
        return (self.units,), (memory_dim,)

    def score(self, query, keys):
        # (batch, queries, 1, units) + (batch, 1, places, units)
        query = ops.expand_dims(over_last(self.query_projection, query), 2)
        hidden = ops.tanh(query + ops.expand_dims(keys, 1))
        return ops.squeeze(over_last(self.score_projection, hidden), -1)

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "use_bias": self.use_bias,
            "kernel_initializer": keras.initializers.serialize(
                self.kernel_initializer
            ),
        }
