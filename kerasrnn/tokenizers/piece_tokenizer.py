"""Subword tokens of pretrained transformers."""

from typing import Any
from typing import Self

import keras
import tensorflow as tf

from kerasrnn.tokenizers.tokenizer import END
from kerasrnn.tokenizers.tokenizer import PAD
from kerasrnn.tokenizers.tokenizer import START
from kerasrnn.tokenizers.tokenizer import UNKNOWN
from kerasrnn.tokenizers.tokenizer import Tokenizer
from kerasrnn.typing import Config
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class PieceTokenizer(Tokenizer):
    """A KerasHub tokenizer, for models with a `BackboneReader`.

    Args:
        tokenizer: A `keras_hub.tokenizers.Tokenizer` with start, end and
            padding tokens, such as `keras_hub.models.BertTokenizer`.
        name: String, the name of the layer.
    """

    options = ()

    def __init__(
        self, tokenizer: keras.layers.Layer, name: str | None = None
    ) -> None:
        super().__init__(lowercase=False, name=name)
        self.tokenizer = tokenizer
        # In a graph, the pieces are ragged.
        self._pieces = tf.function(
            lambda texts: tf.cast(tokenizer(texts), tf.int32),
            [tf.TensorSpec([None], tf.string)],
            autograph=False,
        )
        if getattr(tokenizer, "vocabulary", None):
            self.set_vocabulary(tokenizer.get_vocabulary())

    def set_vocabulary(self, vocabulary: Any) -> None:
        super().set_vocabulary(vocabulary)
        names = {PAD: "pad_token", START: "start_token", END: "end_token"}
        for name, attribute in (names | {UNKNOWN: "oov_token"}).items():
            token = getattr(self.tokenizer, attribute, None)
            if token in self._vocabulary:
                self._special_ids[name] = self._vocabulary.index(token)

    def tokenize(
        self, texts: Tensor, max_tokens: int | None = None
    ) -> tf.RaggedTensor:
        return self._pieces(texts)[:, :max_tokens]

    def split(self, texts: Tensor) -> tf.RaggedTensor:
        """Returns the pieces of texts, a string tensor `(batch, pieces)`."""
        ids = self.tokenize(texts)
        return ids.with_flat_values(self.tokens(ids.flat_values))

    def get_config(self) -> Config:
        tokenizer = keras.saving.serialize_keras_object(self.tokenizer)
        return {"tokenizer": tokenizer, "name": self.name}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        tokenizer = keras.saving.deserialize_keras_object(config["tokenizer"])
        return cls(tokenizer, config["name"])
