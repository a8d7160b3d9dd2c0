"""Reads texts with a pretrained transformer, below the recurrent layers."""

from typing import Any
from typing import Literal

import keras
from keras import ops

from kerasrnn.arguments import integer
from kerasrnn.arguments import positive_integer
from kerasrnn.layers.quantization import KeepsQuantization
from kerasrnn.models.model import ReadsIds
from kerasrnn.saving import Configured
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class BackboneReader(ReadsIds, Configured, KeepsQuantization):
    """Turns the pieces of words into vectors, by a pretrained transformer.

    It is put below the recurrent layers of a `Tagger` or an `Encoder`, which
    then start from what the backbone has learnt of the language. `start_id` and
    `end_id` are put around each text. Texts that are longer than the backbone
    can read are read in parts.

    Args:
        backbone: A `keras_hub.models.Backbone` of texts with an attribute
            `transformer_layers`, such as `BertBackbone`. With
            `backbone.trainable = False` it stays as it is.
        start_id, end_id, pad_id: Integers, ids of the vocabulary of the
            backbone.
        last_layers: Positive integer. The outputs of this many of the last
            layers are read.
        layers_as: `"concatenation"` or `"mean"` of the outputs of the layers.
        words_as: `"first"`: a word has the vector of its first piece; or
            `"mean"`: the mean of those of all its pieces.
        rate_factor: Float, by which the learning rate of the backbone is
            multiplied if it is trained by `kerasrnn.training.AdamByPart`.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        ids: Integer tensor of shape `(batch, pieces)`, padded at its end.
        counts: Integer tensor of shape `(batch, words)`, the number of pieces
            of each word; `None` for the vectors of all pieces.
        training: Whether to behave as in training (dropout), if the backbone is
            trainable.

    Returns:
        Tensor of shape `(batch, pieces, output_size)`, or with `counts`
        `(batch, words, output_size)`. A word without pieces is 0.

    Masking: padding is not attended to.

    Raises:
        ValueError: when the backbone has no `transformer_layers`, or not as
            many as `last_layers`; or when an argument is none of its values.

    Reference:
        [Devlin et al., 2019](https://arxiv.org/abs/1810.04805), section 5.3.
    """

    def __init__(
        self,
        backbone: keras.Model,
        start_id: int,
        end_id: int,
        pad_id: int = 0,
        last_layers: int = 4,
        layers_as: Literal["concatenation", "mean"] = "concatenation",
        words_as: Literal["first", "mean"] = "first",
        rate_factor: float = 1.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.backbone = backbone
        self.start_id = integer("start_id", start_id)
        self.end_id = integer("end_id", end_id)
        self.pad_id = integer("pad_id", pad_id)
        self.last_layers = positive_integer("last_layers", last_layers)
        self.layers_as = layers_as
        self.words_as = words_as
        self.rate_factor = rate_factor
        for weight in backbone.weights:
            weight.rate_factor = rate_factor
        layers = getattr(backbone, "transformer_layers", [])
        chosen = [layer.output for layer in layers[-last_layers:]]
        choices = {
            "last_layers": (len(chosen), range(last_layers, last_layers + 1)),
            "layers_as": (layers_as, ("concatenation", "mean")),
            "words_as": (words_as, ("first", "mean")),
        }
        for name, (found, expected) in choices.items():
            if found not in expected:
                raise ValueError(
                    f"`{name}` must be of {list(expected)}, and `backbone` one "
                    f"with `transformer_layers`. Received: {found}, of a "
                    f"{type(backbone).__name__}"
                )
        self.output_size = sum(x.shape[-1] for x in chosen)
        if layers_as == "mean":
            self.output_size //= last_layers
        model = keras.Model(backbone.input, chosen)
        for layer in backbone.layers:
            if layer not in model.layers:  # It would have no gradient.
                layer.trainable = False
        # In a function, Keras does not take it for one more layer to save.
        self._outputs = model.__call__

    @property
    def vocabulary_size(self) -> int:
        """The number of pieces that the backbone knows."""
        return self.backbone.vocabulary_size

    def build(self, ids_shape: Shape) -> None:
        """The backbone is built."""

    def call(
        self,
        ids: Tensor,
        counts: Tensor | None = None,
        training: bool = False,
    ) -> Tensor:
        rows, length = ops.shape(ids)
        # Parts of equal length, each with a start and an end.
        size = ops.minimum(length, self.backbone.max_sequence_length - 2)
        missing = ops.mod(-length, size)
        ids = ops.pad(ids, [[0, 0], [0, missing]], constant_values=self.pad_id)
        ids = ops.reshape(ids, (-1, size))
        x = self._read(ids, training and self.backbone.trainable)
        x = ops.reshape(x, (rows, -1, self.output_size))[:, :length]
        return x if counts is None else self._joined(x, counts)

    def _read(self, ids, training):
        """The outputs at the pieces of texts that are not too long."""
        column = ops.zeros_like(ids[:, :1])
        present = ops.cast(ops.not_equal(ids, self.pad_id), "int32")
        end = ops.sum(present, axis=1, keepdims=True) + 1
        ids = ops.concatenate(
            [column + self.start_id, ids, column + self.pad_id], axis=1
        )
        places = ops.arange(ops.shape(ids)[1])
        ids = ops.where(ops.equal(places, end), self.end_id, ids)
        inputs = {
            "token_ids": ids,
            "segment_ids": ops.zeros_like(ids),
            "padding_mask": ops.cast(ops.less_equal(places, end), "int32"),
        }
        inputs = {name: inputs[name] for name in self.backbone.input}
        x = keras.tree.flatten(self._outputs(inputs, training=training))
        if self.layers_as == "mean":
            x = [sum(x) / len(x)]
        return ops.concatenate(x, axis=-1)[:, 1:-1]

    def _joined(self, x, counts):
        """The vectors of words, from those of their pieces."""
        ends = ops.cumsum(counts, axis=1)
        starts = ends - counts
        if self.words_as == "mean":
            sums = ops.pad(ops.cumsum(x, axis=1), [[0, 0], [1, 0], [0, 0]])
            x = _at(sums, ends) - _at(sums, starts)
            return x / ops.cast(ops.maximum(counts, 1), x.dtype)[..., None]
        x = _at(x, ops.minimum(starts, ops.shape(x)[1] - 1))
        return ops.where(counts[..., None] > 0, x, 0)


def _at(x, places):
    return ops.take_along_axis(x, places[..., None], axis=1)
