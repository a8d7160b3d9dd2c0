"""A sequence tagger."""

from typing import Any

import keras
from keras import ops

from kerasrnn.arguments import instance
from kerasrnn.arguments import integer
from kerasrnn.arguments import positive_integer
from kerasrnn.arguments import rate
from kerasrnn.layers import CRF
from kerasrnn.layers import CRFLoss
from kerasrnn.layers.loop import cells
from kerasrnn.models.backbone_reader import BackboneReader
from kerasrnn.models.character_reader import CharacterReader
from kerasrnn.models.model import Model
from kerasrnn.models.model import name_of
from kerasrnn.models.rnn_stack import HasStack
from kerasrnn.models.rnn_stack import RNNStack
from kerasrnn.models.token_embedding import TokenEmbedding
from kerasrnn.saving import build_once
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor

PIECES = "pieces", "piece_counts"


@keras.saving.register_keras_serializable("kerasrnn")
class Tagger(HasStack, Model):
    """Assigns a tag to each word of a sentence.

        x_t = [E w_t; characters(w_t); backbone(w_1 ... w_T)_t]
        h = recurrent layers(x), in both directions
        tags = CRF(W h + b), or softmax(W h + b) in each step

    Compile it with `tagger.crf_loss()` or, without a `CRF`, with
    `kerasrnn.training.TokenCrossentropy(pad_id=-1)`. The labels of padding are
    -1.

    Args:
        vocabulary_size: Positive integer, the number of words.
        num_tags: Positive integer.
        cell: A recurrent cell. It is a template: every layer and direction gets
            a copy of it.
        embedding_dim: Positive integer, width of the embeddings of words.
        characters: A `CharacterReader`; `None` to read only words.
        depth: Positive integer, number of layers.
        bidirectional: Whether every layer reads in both directions.
        crf: A `kerasrnn.layers.CRF`, which may have a tag scheme; `None` for a
            softmax in each step.
        dropout: Dropout rate of word vectors, and of units after each layer.
        word_dropout: Rate at which whole embeddings of words are dropped.
        pad_id: Word id of padding.
        backbone: A `BackboneReader` for the vectors of a pretrained
            transformer; `None` for no backbone.
        factorized: Whether a dense layer projects the vectors of words to the
            width of the cell.
        **kwargs: Base model arguments, such as `name` and `dtype`, by default
            that of `cell`.

    Call arguments:
        inputs: Integer tensor of shape `(batch, time)`, the ids of words, or a
            dictionary with these as `"words"`. With a `CharacterReader`, it
            also has `"characters"` of shape `(batch, time, letters)`. With a
            `BackboneReader`, it also has `"pieces"` of shape `(batch, pieces)`
            and `"piece_counts"` of each word, of shape `(batch, time)`, or
            instead the outputs of the `BackboneReader` for them as
            `"features"`.
        training: Whether to behave as in training (dropout).

    Returns:
        Scores of shape `(batch, time, num_tags)`: the outputs of the `CRF`, or
        logits. The predicted tag has the largest score in each step.

    Masking: padding changes no state, and the `CRF` skips it.

    Raises:
        ValueError: when `cell` is not a recurrent cell, a size is not positive,
            a rate is not in `[0, 1)`, or an input is missing.

    Example:

    >>> reader = CharacterReader(40, filters=8)
    >>> tagger = Tagger(50, 5, FastLSTMCell(8), 12, reader, crf=CRF())
    >>> words = np.ones((2, 6), "int32")
    >>> letters = np.ones((2, 6, 7), "int32")
    >>> tagger({"words": words, "characters": letters}).shape
    (2, 6, 5)

    References:
        [Huang et al., 2015](https://arxiv.org/abs/1508.01991),
        [Lample et al., 2016](https://arxiv.org/abs/1603.01360).
    """

    def __init__(
        self,
        vocabulary_size: int,
        num_tags: int,
        cell: keras.layers.Layer,
        embedding_dim: int = 100,
        characters: CharacterReader | None = None,
        depth: int = 1,
        bidirectional: bool = True,
        crf: CRF | None = None,
        dropout: float = 0.0,
        word_dropout: float = 0.0,
        pad_id: int = 0,
        backbone: BackboneReader | None = None,
        factorized: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**cells.options_of(cell, "Tagger", kwargs))
        self.vocabulary_size = positive_integer(
            "vocabulary_size", vocabulary_size
        )
        self.num_tags = positive_integer("num_tags", num_tags)
        self.embedding_dim = positive_integer("embedding_dim", embedding_dim)
        self.characters = instance(
            "characters", characters, CharacterReader, optional=True
        )
        self.bidirectional = bidirectional
        self.crf = instance("crf", crf, CRF, optional=True)
        self.dropout = rate("dropout", dropout)
        self.word_dropout = rate("word_dropout", word_dropout)
        self.pad_id = integer("pad_id", pad_id)
        self.backbone = instance(
            "backbone", backbone, BackboneReader, optional=True
        )
        self.factorized = factorized
        if factorized:
            self.input_projection = keras.layers.Dense(
                cells.output_size(cell), dtype=self.dtype_policy, name="input"
            )
        self.embedding = TokenEmbedding(
            self.vocabulary_size,
            self.embedding_dim,
            word_dropout=word_dropout,
            dtype=self.dtype_policy,
            name="embedding",
        )
        self.input_dropout = keras.layers.Dropout(
            dropout, dtype=self.dtype_policy
        )
        self.stack = RNNStack(
            cell,
            depth,
            bidirectional,
            dropout=dropout,
            dtype=self.dtype_policy,
            name="stack",
        )
        self.output_projection = keras.layers.Dense(
            self.num_tags, dtype=self.dtype_policy, name="output"
        )

    def build(self, inputs_shape: Any = None) -> None:
        words: Shape = (None, None)
        self.embedding.build(words)
        width = self.embedding_dim
        if self.characters is not None:
            build_once(self.characters, (*words, None))
            width += self.characters.output_size
        if self.backbone is not None:
            self.backbone.build(words)
            width += self.backbone.output_size
        if self.factorized:
            self.input_projection.build((*words, width))
            width = self.input_projection.units
        self.stack.build((*words, width))
        self.output_projection.build((*words, self.stack.output_size))
        if self.crf is not None and not self.crf.built:
            self.crf.build((*words, self.num_tags))

    def call(
        self, inputs: Tensor | dict[str, Tensor], training: bool = False
    ) -> Tensor:
        inputs = self._parts(inputs)
        mask = ops.not_equal(inputs["words"], self.pad_id)
        parts = [self.embedding(inputs["words"], training=training)]
        if self.characters is not None:
            parts.append(
                self.characters(inputs["characters"], training=training)
            )
        if self.backbone is not None:
            features = inputs.get("features")
            if features is None:
                features = self.backbone(
                    *(inputs[name] for name in PIECES), training=training
                )
            parts.append(ops.cast(features, self.compute_dtype))
        x = self.input_dropout(
            ops.concatenate(parts, axis=-1), training=training
        )
        if self.factorized:
            x = self.input_projection(x)
        x, _ = self.stack(x, mask=mask, training=training)
        scores = self.output_projection(x)
        return scores if self.crf is None else self.crf(scores, mask=mask)

    def _parts(self, inputs):
        """Returns the inputs as a complete dictionary, or raises an error."""
        if not isinstance(inputs, dict):
            inputs = {"words": inputs}
        names = set(self.parts)
        if set(inputs) not in (names, names - {*PIECES} | {"features"}):
            raise ValueError(
                f"A Tagger {'with' if self.characters else 'without'} "
                f"`characters` and {'with' if self.backbone else 'without'} "
                f"`backbone` reads {' and '.join(sorted(names))}. "
                f"Received: {sorted(inputs)}"
            )
        return inputs

    @property
    def parts(self) -> dict[str, int]:
        """The number of axes of each input of ids, by name."""
        axes = {"words": 2}
        if self.characters is not None:
            axes["characters"] = 3
        if self.backbone is not None:
            axes |= dict.fromkeys(PIECES, 2)
        return axes

    @property
    def axes_of_ids(self) -> Any:
        return self.parts if len(self.parts) > 1 else 2

    def check_loss(self, loss: Any) -> None:
        """Raises `ValueError` if a loss does not fit the outputs.

        With a `CRF`, the outputs are not logits of single tags, so a
        cross-entropy would not train the layer.
        """
        if isinstance(loss, CRFLoss):
            self.crf_loss()  # raises an error without a `CRF`
            # A loss that was loaded without its model has no layer yet.
            if loss.crf is not None and loss.crf is not self.crf:
                raise ValueError(
                    "The loss belongs to the `CRF` of another model. Expected: "
                    "`model.crf_loss()` of the compiled model. Received: the "
                    f"loss of crf={loss.crf.name!r}"
                )
        elif self.crf is None:
            super().check_loss(loss)
        elif "crossentropy" in name_of(loss).lower():
            raise ValueError(
                "A Tagger with `crf` needs the loss of its layer. Expected: "
                f"`model.crf_loss()`. Received: loss={name_of(loss)}"
            )

    def crf_loss(self) -> CRFLoss:
        """Returns the loss of the `CRF`.

        Raises:
            ValueError: when the model has no `CRF`.
        """
        if self.crf is None:
            raise ValueError(
                "A Tagger without `crf` has no CRF loss. Expected: "
                "`kerasrnn.training.TokenCrossentropy(pad_id=-1)`. Received: "
                "crf=None"
            )
        return CRFLoss(self.crf)

    def probabilities(self, scores: Tensor) -> Tensor:
        """Returns the probability of each tag of each word.

        Args:
            scores: The outputs of the model, `(batch, time, num_tags)`.

        Returns:
            Tensor of that shape: marginals of the `CRF`, or a softmax.
        """
        if self.crf is None:
            return ops.softmax(ops.cast(scores, "float32"))
        return self.crf.marginals(*self.crf.emissions(scores))
