"""A text classifier."""

from typing import Any

import keras

from kerasrnn.arguments import instance
from kerasrnn.arguments import positive_integer
from kerasrnn.arguments import rate
from kerasrnn.models.classification.summary_by_name import get_summary
from kerasrnn.models.encoder import Encoder
from kerasrnn.models.model import Model
from kerasrnn.typing import Config
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class TextClassifier(Model):
    """Classifies a text by a summary of its encoding.

        h_1 ... h_T, s_T = encoder(ids)
        logits = W summary(h_1 ... h_T, s_T) + b

    Args:
        encoder: An `Encoder`.
        summary: What summarizes the memory in one vector, a layer or its name:

            * `"last"`: the last output of each direction (`LastSummary`),
            * `"pooled"`: the same, with maximum and mean (`PooledSummary`),
            * `"attention"`: the mean weighted by additive attention
              (`AttentionSummary`),
            * `"decoder"`: the output of a decoder step (`DecoderSummary`).
        num_classes: Positive integer, the number of logits. 1 is for binary
            labels, 0 and 1, with
            `keras.losses.BinaryCrossentropy(from_logits=True)`; 2 or more have
            one logit for each class, with
            `keras.losses.SparseCategoricalCrossentropy(from_logits=True)`.
            For several labels a text, it is the number of labels, with the
            loss of binary labels.
        dropout: Dropout rate on the summary.
        **kwargs: Base model arguments, such as `name` and `dtype`.

    Call arguments:
        ids: Integer tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout).

    Returns:
        Logits of shape `(batch, num_classes)`.

    Masking: padding is ignored.

    Raises:
        ValueError: when `encoder` is not an `Encoder`, `summary` is unknown, or
            `num_classes` is not positive; when `summary` is a `DecoderSummary`
            and the encoder is bidirectional.

    Example:

    >>> encoder = Encoder(50, keras.layers.GRUCell(8))
    >>> TextClassifier(encoder, "pooled")(np.ones((2, 7), "int32")).shape
    (2, 1)
    >>> summary = AttentionSummary("general")
    >>> model = TextClassifier(encoder, summary, num_classes=4)
    >>> model(np.ones((2, 7), "int32")).shape
    (2, 4)

    References:
        [Howard & Ruder, 2018](https://arxiv.org/abs/1801.06146) for
        `"pooled"`, [Yang et al., 2016](https://aclanthology.org/N16-1174).
    """

    labels_of_steps = False

    def __init__(
        self,
        encoder: Encoder,
        summary: keras.layers.Layer | str = "last",
        num_classes: int = 1,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.encoder = instance("encoder", encoder, Encoder)
        # Not `self.summary`, which is a method of every Keras model.
        self.summary_layer = get_summary(summary, encoder)
        self.num_classes = positive_integer("num_classes", num_classes)
        self.dropout = rate("dropout", dropout)
        self.unit_dropout = keras.layers.Dropout(
            dropout, dtype=self.dtype_policy
        )
        self.output_projection = keras.layers.Dense(
            num_classes, dtype=self.dtype_policy, name="output"
        )

    def build(self, ids_shape: Shape = (None, None)) -> None:
        if not self.encoder.built:
            self.encoder.build(ids_shape)
        summary, _ = self._summarize(
            keras.KerasTensor((*ids_shape, self.encoder.memory_dim)),
            keras.KerasTensor(ids_shape, "bool"),
            keras.KerasTensor((ids_shape[0], self.encoder.final_dim)),
        )
        self.output_projection.build(summary.shape)

    def call(self, ids: Tensor, training: bool = False) -> Tensor:
        return self.classify_ids(ids, training)[0]

    def classify_ids(
        self, ids: Tensor, training: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Classifies texts, and says what it attended to.

        Args:
            ids: Integer tensor of shape `(batch, time)`.
            training: Whether to behave as in training (dropout).

        Returns:
            The logits and the attention weights, as from `classify`.
        """
        memory, mask, final = self.encoder(ids, training=training)
        return self.classify(memory, mask, final, training)

    def classify(
        self,
        memory: Tensor,
        mask: Tensor,
        final: Tensor,
        training: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Classifies encoded texts.

        Args:
            memory: Tensor of shape `(batch, time, memory_dim)`.
            mask: Boolean tensor of shape `(batch, time)`.
            final: Tensor of shape `(batch, final_dim)`.
            training: Whether to behave as in training (dropout).

        Returns:
            The logits, of shape `(batch, num_classes)`, and the attention
            weights of shape `(batch, time)`, or `None` without attention.
        """
        summary, weights = self._summarize(
            memory, mask, final, training=training
        )
        summary = self.unit_dropout(summary, training=training)
        return self.output_projection(summary), weights

    def mask(self, ids: Tensor) -> Tensor:
        """Returns which tokens are read, a boolean tensor `(batch, time)`.

        Args:
            ids: Integer tensor of shape `(batch, time)`.
        """
        return self.encoder.mask(ids)

    def embed(self, ids: Tensor) -> Tensor:
        """Returns what is read of tokens, `(batch, time, embedding_dim)`.

        Args:
            ids: Integer tensor of shape `(batch, time)`.
        """
        return self.encoder.embed(ids)

    def classify_embedded(
        self, embeddings: Tensor, ids: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Classifies what `embed` returned, for derivatives by it.

        Args:
            embeddings: Tensor of shape `(batch, time, embedding_dim)`.
            ids: Integer tensor of shape `(batch, time)`, their tokens.

        Returns:
            The logits and the attention weights, as from `classify`.
        """
        mask = self.mask(ids)
        memory, final = self.encoder.read(embeddings, mask)
        return self.classify(memory, mask, final)

    def hidden_states(self, ids: Tensor) -> Tensor:
        """Returns the outputs of the encoder, `(batch, time, memory_dim)`.

        Args:
            ids: Integer tensor of shape `(batch, time)`.
        """
        return self.encoder(ids)[0]

    def _summarize(self, *args, **kwargs):
        found = self.summary_layer(*args, **kwargs)
        return found if isinstance(found, tuple) else (found, None)

    def get_config(self) -> Config:
        # The attribute `summary` is a method of Keras.
        return {
            **keras.Model.get_config(self),
            "encoder": keras.saving.serialize_keras_object(self.encoder),
            "summary": keras.saving.serialize_keras_object(self.summary_layer),
            "num_classes": self.num_classes,
            "dropout": self.dropout,
        }
