"""A pretrained transformer below the recurrent layers."""

from typing import Any
from typing import Literal

import keras
from keras import ops

from kerasrnn.arguments import integer
from kerasrnn.arguments import one_of
from kerasrnn.arguments import positive_integer
from kerasrnn.layers.precision import wide
from kerasrnn.layers.quantization import KeepsQuantization
from kerasrnn.models.model import ReadsIds
from kerasrnn.saving import Configured
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class BackboneReader(ReadsIds, Configured, KeepsQuantization):
    """Encodes subword tokens with a pretrained transformer.

    The recurrent layers of a `Tagger` or `Encoder` read its outputs. Each text
    is enclosed in `start_id` and `end_id`. Texts that are too long for the
    backbone are read in parts.

    Args:
        backbone: A text `keras_hub.models.Backbone` with an attribute
            `transformer_layers`, such as `BertBackbone`. Set
            `backbone.trainable = False` to freeze it.
        start_id, end_id, pad_id: Integers, ids in the vocabulary of the
            backbone.
        last_layers: Positive integer, number of last layers whose outputs are
            used.
        layers_as: `"concatenation"` or `"mean"`, how the outputs of these
            layers are combined.
        words_as: `"first"` or `"mean"`: a word has the vector of its first
            piece, or the mean of the vectors of all its pieces.
        rate_factor: Float, factor on the learning rate of the backbone, if it
            is trained with `kerasrnn.training.AdamByPart`.
        **kwargs: Base layer arguments, such as `name` and `dtype`.

    Call arguments:
        ids: Integer tensor of shape `(batch, pieces)`, padded on the right.
        counts: Integer tensor of shape `(batch, words)`, the number of pieces
            of each word; `None` to return the vectors of all pieces.
        training: Whether to behave as in training (dropout), if the backbone is
            trainable.

    Returns:
        Tensor of shape `(batch, pieces, output_size)`, or with `counts`
        `(batch, words, output_size)`. A word without pieces has a vector of
        zeros.

    Masking: padding is not attended to.

    Raises:
        ValueError: when the backbone has no `transformer_layers` or fewer than
            `last_layers`, or when an argument has an unknown value.

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
        self.layers_as = one_of(
            "layers_as", layers_as, ("concatenation", "mean")
        )
        self.words_as = one_of("words_as", words_as, ("first", "mean"))
        self.rate_factor = rate_factor
        for weight in backbone.weights:
            weight.rate_factor = rate_factor
        layers = getattr(backbone, "transformer_layers", [])
        chosen = [layer.output for layer in layers[-last_layers:]]
        if len(chosen) != last_layers:
            raise ValueError(
                "`last_layers` must be at most the number of "
                f"`transformer_layers` of `backbone`. Expected: {len(chosen)} "
                f"or fewer. Received: last_layers={last_layers}, for a "
                f"{type(backbone).__name__}"
            )
        self.output_size = sum(x.shape[-1] for x in chosen)
        if layers_as == "mean":
            self.output_size //= last_layers
        model = keras.Model(backbone.input, chosen)
        for layer in backbone.layers:
            if layer not in model.layers:  # It would get no gradient.
                layer.trainable = False
        # Inside a function, Keras does not track it as another layer.
        self._outputs = model.__call__

    @property
    def vocabulary_size(self) -> int:
        """The size of the vocabulary of the backbone."""
        return self.backbone.vocabulary_size

    def build(self, ids_shape: Shape) -> None:
        """Does nothing: the backbone is built already."""

    def call(
        self,
        ids: Tensor,
        counts: Tensor | None = None,
        training: bool = False,
    ) -> Tensor:
        rows, length = ops.shape(ids)
        # Parts of equal length, each between a start and an end token.
        size = ops.minimum(length, self.backbone.max_sequence_length - 2)
        missing = ops.mod(-length, size)
        ids = ops.pad(ids, [[0, 0], [0, missing]], constant_values=self.pad_id)
        ids = ops.reshape(ids, (-1, size))
        x = self._read(ids, training and self.backbone.trainable)
        x = ops.reshape(x, (rows, -1, self.output_size))[:, :length]
        return x if counts is None else self._joined(x, counts)

    def _read(self, ids, training):
        """Returns the outputs at the pieces, for texts of admissible length."""
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
        """Combines the vectors of pieces to those of words."""
        ends = ops.cumsum(counts, axis=1)
        starts = ends - counts
        if self.words_as == "mean":
            # In half precision, differences of long sums would lose all digits.
            sums = ops.cumsum(wide(x), axis=1)
            sums = ops.pad(sums, [[0, 0], [1, 0], [0, 0]])
            sums = _at(sums, ends) - _at(sums, starts)
            counts = ops.cast(ops.maximum(counts, 1), sums.dtype)
            return ops.cast(sums / counts[..., None], x.dtype)
        x = _at(x, ops.minimum(starts, ops.shape(x)[1] - 1))
        return ops.where(counts[..., None] > 0, x, 0)


def _at(x, places):
    return ops.take_along_axis(x, places[..., None], axis=1)
