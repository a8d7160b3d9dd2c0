"""Logits over the vocabulary, for the models that predict tokens."""

import keras
from keras import ops


class TokenLogits:
    """Mixin of layers with `embedding`, `embedding_dim`, `vocabulary_size`
    and `tie_embeddings`.

    Untied, the logits are those of a dense layer. Tied, they are products with
    the embeddings (Press & Wolf 2017), behind a linear projection where the
    outputs have another width, and a bias: rare words are not rare by their
    embedding alone.
    """

    def new_output_projection(self, width):
        """Returns the layer that stands behind outputs of a width."""
        options = {"dtype": self.dtype_policy, "name": "output"}
        if not self.tie_embeddings:
            return keras.layers.Dense(self.vocabulary_size, **options)
        if width != self.embedding_dim:
            return keras.layers.Dense(
                self.embedding_dim, use_bias=False, **options
            )
        return keras.layers.Identity(**options)

    def build_output(self, width):
        """Adds the weights that outputs of a width need."""
        self.output_projection.build((None, width))
        if self.tie_embeddings:
            self.output_bias = self.add_weight(
                shape=(self.vocabulary_size,),
                initializer="zeros",
                name="output_bias",
            )

    def logits(self, outputs):
        """Projects outputs `(..., width)` onto the vocabulary."""
        outputs = self.output_projection(outputs)
        if not self.tie_embeddings:
            return outputs
        logits = self.embedding(outputs, reverse=True)
        return ops.add(logits, self.output_bias)
