"""What the training of a language model minimizes and measures."""

from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import positive_integer
from kerasrnn.distribute.replicas import replica_count
from kerasrnn.models.language.augmented_loss import augmented_loss
from kerasrnn.models.language.augmented_loss import check_augmented_loss
from kerasrnn.models.language.augmented_loss import check_labels
from kerasrnn.models.language.sampled_softmax import sampled_logits
from kerasrnn.models.recurrent_model import RecurrentModel
from kerasrnn.models.token_embedding import TokenEmbedding
from kerasrnn.models.token_output import TokenOutput
from kerasrnn.typing import Tensor


class LanguageLosses(RecurrentModel):
    """The part of `LanguageModel` that computes losses and metrics.

    See `LanguageModel` for the arguments.
    """

    batch_size: int | None
    embedding: TokenEmbedding
    output_projection: TokenOutput

    def __init__(
        self,
        augmented_loss: float = 0.0,
        loss_temperature: float = 10.0,
        sampled_words: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_augmented_loss(augmented_loss, loss_temperature)
        self.augmented_loss = augmented_loss
        self.loss_temperature = loss_temperature
        if sampled_words is not None:
            sampled_words = positive_integer("sampled_words", sampled_words)
            if augmented_loss:
                raise ValueError(
                    "The augmented loss needs the logits of all words. "
                    "Expected: `sampled_words=None`. "
                    f"Received: sampled_words={sampled_words}"
                )
            self.seed_generator = keras.random.SeedGenerator()
        self.sampled_words = sampled_words

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Tensor:
        if self.batch_size is not None and not isinstance(x, dict):
            raise ValueError(
                "A model that carries its states is trained and evaluated on "
                'dictionaries of "ids" and "fresh", as `text_windows` makes '
                "them: ids alone would start anew in every batch. Expected: "
                "these; or, for texts that do not follow each other, a model "
                "of `batch_size=None`, as `with_batch_size(None)` returns. "
                f"Received: batch_size={self.batch_size}, ids alone"
            )
        if self.sampled_words and isinstance(y_pred, dict):
            self._check_padding()
            y_pred = sampled_logits(
                self.output_projection,
                y_pred["outputs"],
                y,
                self.sampled_words,
                self.seed_generator,
            )
            # The right word is the first; padding stays negative.
            y = ops.minimum(y, 0)
        loss = super().compute_loss(x, y, y_pred, sample_weight, training)
        if not (training and self.augmented_loss):
            return loss
        check_labels(y, self.embedding)
        added = augmented_loss(
            ops.cast(self.embedding.embeddings, self.compute_dtype),
            ops.cast(y, "int32"),
            y_pred,
            self.loss_temperature,
            sample_weight,
        )
        # Keras sums the losses of replicas.
        added = added * (self.augmented_loss / replica_count(self))
        return loss + ops.cast(added, loss.dtype)

    def _check_padding(self):
        """Raises `ValueError` if a word of the vocabulary is padding."""
        pad_id = getattr(self.loss, "pad_id", -1)
        if pad_id >= 0:
            raise ValueError(
                "With `sampled_words`, the labels of padding must be negative. "
                "Expected: a loss such as `TokenCrossentropy(-1)`. "
                f"Received: one with pad_id={pad_id}"
            )

    def compute_metrics(
        self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None
    ) -> dict[str, Any]:
        if isinstance(y_pred, dict):
            y, y_pred = y[:1], y_pred["first_row"]
            if sample_weight is not None:
                sample_weight = sample_weight[:1]
        return super().compute_metrics(x, y, y_pred, sample_weight)
