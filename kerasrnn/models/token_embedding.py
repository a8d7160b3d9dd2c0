"""Token embeddings with the dropouts of low-resource translation."""

import keras
from keras import ops

from kerasrnn.layers.arguments import rate


@keras.saving.register_keras_serializable("kerasrnn")
class TokenEmbedding(keras.layers.ReversibleEmbedding):
    """An embedding that drops whole words and single units in training.

        x_t = sqrt(embedding_dim) E[id_t]       E ~ N(0, 1 / embedding_dim)

    The scale is that of Vaswani et al. 2017, section 3.4: what the recurrent
    layers read starts with unit variance, and so do the logits of a tied
    output layer. The small default of Keras leaves both near 0 for epochs.

    Args:
        vocabulary_size: Positive integer.
        embedding_dim: Positive integer.
        dropout: Rate at which units are dropped.
        word_dropout: Rate at which a token loses its whole embedding.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        ids: Integer tensor of shape `(batch, time)`; a negative id (padding
            that has no row in the vocabulary) reads row 0.
        reverse: Whether to go from `(batch, time, embedding_dim)` to logits
            `(batch, time, vocabulary_size)` instead, with no dropout.
        training: Whether to drop.

    Returns:
        Embeddings of shape `(batch, time, embedding_dim)`, or logits.

    Example:

    >>> embed = TokenEmbedding(20, 8, word_dropout=0.1)
    >>> embed(np.ones((2, 5), "int32")).shape
    (2, 5, 8)

    References:
        [Vaswani et al., 2017](https://arxiv.org/abs/1706.03762),
        [Gal & Ghahramani, 2016](https://arxiv.org/abs/1512.05287),
        [Sennrich & Zhang, 2019](https://arxiv.org/abs/1905.11901).
    """

    def __init__(
        self,
        vocabulary_size,
        embedding_dim,
        dropout=0.0,
        word_dropout=0.0,
        **kwargs,
    ):
        kwargs.setdefault(
            "embeddings_initializer",
            keras.initializers.RandomNormal(stddev=embedding_dim**-0.5),
        )
        super().__init__(vocabulary_size, embedding_dim, **kwargs)
        self.unit_dropout = keras.layers.Dropout(rate("dropout", dropout))
        self.word_dropout = keras.layers.Dropout(
            rate("word_dropout", word_dropout), noise_shape=(None, None, 1)
        )

    def call(self, inputs, reverse=False, training=False):
        if reverse:
            return super().call(inputs, reverse=True)
        x = super().call(ops.maximum(inputs, 0)) * self.output_dim**0.5
        x = self.word_dropout(x, training=training)
        return self.unit_dropout(x, training=training)

    def compute_output_spec(self, inputs, reverse=False, training=False):
        return super().compute_output_spec(inputs, reverse=reverse)

    def get_config(self):
        config = super().get_config()
        return {
            "vocabulary_size": config.pop("input_dim"),
            "embedding_dim": config.pop("output_dim"),
            "dropout": self.unit_dropout.rate,
            "word_dropout": self.word_dropout.rate,
            **config,
        }
