"""The encoder: reads tokens and returns a memory to attend to."""

import zlib
from typing import Any
from typing import Self

import keras
from keras import ops

from kerasrnn.arguments import instance
from kerasrnn.arguments import integer
from kerasrnn.arguments import positive_integer
from kerasrnn.arguments import rate
from kerasrnn.layers.loop import cells
from kerasrnn.layers.loop.cells import clone_cell
from kerasrnn.layers.quantization import KeepsQuantization
from kerasrnn.models.backbone_reader import BackboneReader
from kerasrnn.models.language_model import LanguageModel
from kerasrnn.models.model import ReadsIds
from kerasrnn.models.model import give_weights
from kerasrnn.models.ngram_embedding import NgramEmbedding
from kerasrnn.models.rnn_stack import HasStack
from kerasrnn.models.rnn_stack import RNNStack
from kerasrnn.models.token_embedding import TokenEmbedding
from kerasrnn.saving import Configured
from kerasrnn.saving import build_once
from kerasrnn.saving import set_trainable
from kerasrnn.saving import template
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class Encoder(HasStack, ReadsIds, Configured, KeepsQuantization):
    """Encodes a batch of token sequences with stacked recurrent layers.

    Args:
        vocabulary_size: Positive integer.
        cell: A recurrent cell, such as `keras.layers.GRUCell(256)`. It is a
            template: every layer and direction gets a copy of it.
        embedding_dim: Positive integer, width of the embeddings.
        depth: Positive integer, number of layers.
        bidirectional: Whether every layer reads in both directions and
            concatenates the outputs.
        go_backwards: Whether a unidirectional encoder reads from the last token
            to the first (Sutskever et al. 2014). The memory keeps the order of
            the source.
        factorized: Whether a dense layer projects the embeddings to the width
            of the cell.
        mask_padding: Whether to mask padding, so that it does not change the
            states and is not attended to. `False` reproduces a bug of early
            implementations, where the encoding of a source depends on its
            padding.
        lexical: Whether to append the embeddings to the outputs of the last
            layer in the memory, so that contexts include the words themselves
            (after the lexical model of Nguyen & Chiang 2018).
        dropout: Dropout rate for the embeddings, between layers and for the
            memory.
        embedding_dropout: Dropout rate for the embeddings; `None` for
            `dropout`.
        word_dropout: Rate at which whole embeddings of words are dropped in
            training (Sennrich & Zhang 2019).
        pad_id: Id of padding; `-1` if it has no row in the vocabulary.
        embedding_scale: Float, the factor on the embeddings; `None` for
            `sqrt(embedding_dim)`.
        ngrams: An `NgramEmbedding` of the same `embedding_dim`, to add to the
            embeddings; `None` for no n-grams.
        backbone: A `BackboneReader`, whose vectors replace the embeddings;
            `embedding_dim` is then their width. `None` for embeddings.
        **kwargs: Base layer arguments, such as `name` and `dtype`, by default
            that of `cell`.

    Call arguments:
        ids: Integer tensor of shape `(batch, time)`. With a `backbone`, it may
            be a dictionary of `"ids"` and `"features"`, the outputs of the
            backbone for them.
        training: Whether to behave as in training (dropout).

    Returns:
        A tuple `(memory, mask, final)`: the memory of shape
        `(batch, time, memory_dim)`, its boolean mask of shape `(batch, time)`,
        and the final states of all layers and directions, concatenated, of
        shape `(batch, final_dim)`.

    Masking: padding changes no state, and is false in the mask. Without
    `mask_padding`, the mask is all true.

    Raises:
        ValueError: when `cell` is not a recurrent cell, a size is not positive,
            a rate is not in `[0, 1)`, `bidirectional` and `go_backwards` are
            both true, or the width of `ngrams` differs.

    Example:

    >>> encoder = Encoder(20, keras.layers.GRUCell(8), embedding_dim=4)
    >>> memory, mask, final = encoder(np.ones((2, 5), "int32"))
    >>> memory.shape, mask.shape, final.shape
    ((2, 5, 16), (2, 5), (2, 16))

    References:
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473), section 3.2,
        [Nguyen & Chiang, 2018](https://arxiv.org/abs/1710.01329),
        [Sennrich & Zhang, 2019](https://arxiv.org/abs/1905.11901),
        [Sutskever et al., 2014](https://arxiv.org/abs/1409.3215).
    """

    def __init__(
        self,
        vocabulary_size: int,
        cell: keras.layers.Layer,
        embedding_dim: int = 256,
        depth: int = 1,
        bidirectional: bool = True,
        go_backwards: bool = False,
        factorized: bool = False,
        mask_padding: bool = True,
        lexical: bool = False,
        dropout: float = 0.0,
        embedding_dropout: float | None = None,
        word_dropout: float = 0.0,
        pad_id: int = 0,
        embedding_scale: float | None = None,
        ngrams: NgramEmbedding | None = None,
        backbone: BackboneReader | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**cells.options_of(cell, "Encoder", kwargs))
        cells.check_vectors(cell, "Encoder")
        self.vocabulary_size = positive_integer(
            "vocabulary_size", vocabulary_size
        )
        self.embedding_dim = positive_integer("embedding_dim", embedding_dim)
        self.bidirectional, self.go_backwards = bidirectional, go_backwards
        self.factorized, self.lexical = factorized, lexical
        self.mask_padding = mask_padding
        self.dropout, self.word_dropout = rate("dropout", dropout), word_dropout
        self.embedding_dropout = embedding_dropout
        self.pad_id = integer("pad_id", pad_id)
        self.embedding_scale = embedding_scale
        self.backbone = instance(
            "backbone", backbone, BackboneReader, optional=True
        )
        if backbone is not None:
            self.embedding_dim = backbone.output_size
        # n-grams of width 1 would be broadcast to all units.
        if ngrams is not None and ngrams.embedding_dim != self.embedding_dim:
            raise ValueError(
                "`ngrams` and encoder must have the same `embedding_dim`. "
                f"Expected: {self.embedding_dim}. Received: "
                f"{ngrams.embedding_dim}"
            )
        self.ngrams = ngrams
        if embedding_dropout is None:
            embedding_dropout = dropout
        self.embedding = backbone or TokenEmbedding(
            self.vocabulary_size,
            self.embedding_dim,
            dropout=embedding_dropout,
            word_dropout=word_dropout,
            scale=embedding_scale,
            dtype=self.dtype_policy,
            name="embedding",
        )
        if backbone is not None:
            # Created only if needed, because it draws a seed, which would
            # change the weights of other encoders with the same global seed.
            self.feature_dropout = keras.layers.Dropout(
                embedding_dropout, dtype=self.dtype_policy
            )
        if factorized:
            self.input_projection = keras.layers.Dense(
                cells.output_size(cell), dtype=self.dtype_policy, name="input"
            )
        self.stack = RNNStack(
            cell,
            depth,
            bidirectional,
            go_backwards,
            dropout,
            seed_path="encoder",
            dtype=self.dtype_policy,
            name="stack",
        )

    @classmethod
    def from_language_model(
        cls,
        model: LanguageModel,
        backwards: LanguageModel | None = None,
        **kwargs: Any,
    ) -> Self:
        """Returns an encoder initialized from a trained language model.

        It has copies of the embeddings and recurrent layers of the model.
        Pretraining on any text helps a task with few examples.

        Args:
            model: A `LanguageModel`.
            backwards: A `LanguageModel` with the same cell and embeddings that
                was trained on reversed lines, such as the `model` of
                `kerasrnn.pipelines.TextLanguageModel.opposite`. The encoder
                then reads in both directions. `None` for an encoder that reads
                forwards only.
            **kwargs: Further arguments of the encoder, such as `pad_id` and
                `word_dropout`. `dtype`, by default that of the model, also
                applies to the recurrent layers.

        Raises:
            TypeError: when an argument is unknown or determined by the language
                model.
            ValueError: when a model is quantized, or when two models have more
                than one layer, or different cells or embeddings.

        Example:

        >>> model = LanguageModel(50, RHNCell(8))
        >>> Encoder.from_language_model(model, pad_id=1).memory_dim
        8

        Reference:
            [Dai & Le, 2015](https://arxiv.org/abs/1511.01432).
        """
        kwargs["dtype"] = kwargs.get("dtype") or model.cell.dtype_policy
        encoder = cls(
            model.vocabulary_size,
            clone_cell(model.cell, dtype=kwargs["dtype"]),
            embedding_dim=model.embedding_dim,
            depth=model.depth,
            bidirectional=backwards is not None,
            go_backwards=False,
            factorized=False,
            embedding_scale=model.embedding_scale,
            **kwargs,
        )
        encoder.build((None, None))
        embedding, stack = _learnt_weights(model, backwards)
        encoder.embedding.set_weights(embedding)
        encoder.stack.set_weights(stack)
        # Also applies to the cell, which is copied from the language model.
        set_trainable(encoder.stack, True)
        return encoder

    @property
    def memory_dim(self) -> int:
        """Width of the memory."""
        return self.stack.output_size + self.lexical * self.embedding_dim

    @property
    def final_dim(self) -> int:
        """Width of the final states, concatenated."""
        return sum(self.stack.state_sizes)

    def build(self, ids_shape: Shape) -> None:
        self.embedding.build(ids_shape)
        if self.ngrams is not None:
            build_once(self.ngrams, ids_shape)
        width = self.embedding_dim
        if self.factorized:
            self.input_projection.build((*ids_shape, width))
            width = cells.output_size(self.cell)
        self.stack.build((*ids_shape, width))

    def call(
        self, ids: Tensor, training: bool = False
    ) -> tuple[Tensor, Tensor, Tensor]:
        mask = self.mask(ids)
        memory, final = self.read(self.embed(ids, training), mask, training)
        return memory, mask, final

    def embed(self, ids: Tensor, training: bool = False) -> Tensor:
        """Returns the vectors of tokens, `(batch, time, embedding_dim)`.

        Args:
            ids: Integer tensor of shape `(batch, time)`.
            training: Whether to behave as in training (dropout).
        """
        x = (
            ops.cast(ids["features"], self.compute_dtype)
            if isinstance(ids, dict)
            else self.embedding(ids, training=training)
        )
        if self.backbone is not None:
            x = self.feature_dropout(x, training=training)
        if self.ngrams is not None:
            x = x + ops.cast(self.ngrams(_ids(ids), training=training), x.dtype)
        return x

    def mask(self, ids: Tensor) -> Tensor:
        """Returns which tokens are not masked, as booleans `(batch, time)`.

        Args:
            ids: Integer tensor of shape `(batch, time)`.
        """
        mask = ops.not_equal(_ids(ids), self.pad_id)
        return mask if self.mask_padding else ops.ones_like(mask)

    def read(
        self, embeddings: Tensor, mask: Tensor, training: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Reads embedded tokens.

        Args:
            embeddings: Tensor of shape `(batch, time, embedding_dim)`.
            mask: Boolean tensor of shape `(batch, time)`.
            training: Whether to behave as in training (dropout).

        Returns:
            A tuple `(memory, final)`, as from `call`.
        """
        x = self.input_projection(embeddings) if self.factorized else embeddings
        x, final = self.stack(x, mask=mask, training=training)
        if self.lexical:
            x = ops.concatenate([x, embeddings], axis=-1)
        final = [ops.cast(state, self.compute_dtype) for state in final]
        return x, ops.concatenate(final, axis=-1)


def _ids(inputs):
    return inputs["ids"] if isinstance(inputs, dict) else inputs


def _learnt_weights(model, backwards):
    """Converts the weights of language models to those of an encoder.

    Args:
        model: A `LanguageModel`.
        backwards: A language model that reads texts backwards, or `None`; see
            `Encoder.from_language_model`.

    Returns:
        Two lists of arrays, the weights of `embedding` and `stack`.
    """
    both = [model] if backwards is None else [model, backwards]
    for each in both:
        give_weights(each)
    facts = [
        {
            "depth": each.depth,
            "cell": (
                type(each.cell).__name__,
                template(each.cell, "name", "seed", "trainable"),
            ),
            "embedding_scale": each.embedding.factor,
            "checksum of embeddings": zlib.crc32(
                each.embedding.get_weights()[0].tobytes()
            ),
        }
        for each in both
    ]
    differ = [name for name in facts[0] if facts[0][name] != facts[-1][name]]
    if differ or (backwards is not None and model.depth > 1):
        shown = [
            ", ".join(
                f"{name}={of[name]!s:.200}" for name in differ or ["depth"]
            )
            for of in facts
        ]
        raise ValueError(
            "Language models of two directions must have the same cell, the "
            "same embeddings (`TextLanguageModel.opposite` does not train "
            "them), and a single recurrent layer, because a second layer of an "
            "encoder reads the outputs of both directions. Received: "
            f"{' and '.join(shown)}"
        )
    stack = [weight for each in both for weight in each.stack.get_weights()]
    return model.embedding.get_weights(), stack
