"""The decoder: predicts each token from a memory and earlier tokens."""

from typing import Any
from typing import Literal

import keras
from keras import ops

from kerasrnn.arguments import instance
from kerasrnn.arguments import positive_integer
from kerasrnn.layers import AttentionCell
from kerasrnn.layers import AttentionRNN
from kerasrnn.layers.attention.by_name import copy_of_attention
from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.layers.loop import cells
from kerasrnn.layers.loop.cells import clone_cell
from kerasrnn.layers.quantization import KeepsQuantization
from kerasrnn.models.bridge import Bridge
from kerasrnn.models.lexicon import Lexicon
from kerasrnn.models.model import ReadsIds
from kerasrnn.models.token_embedding import TokenEmbedding
from kerasrnn.models.token_output import TokenOutput
from kerasrnn.saving import Deserialized
from kerasrnn.saving import build_once
from kerasrnn.typing import Config
from kerasrnn.typing import Nest
from kerasrnn.typing import Shape
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class Decoder(ReadsIds, Deserialized, KeepsQuantization):
    """Predicts every token of a target from earlier tokens and a memory.

        s_0 = bridge(f)                 f: the final states of the encoder
        o_t, s_t, a_t = attention_rnn(E y_{t-1}, s_{t-1}, memory)
        logits_t = output(o_t)          or, with a lexicon,
        logits_t = output(o_t) + log(sum_i a_{t,i} P(y | x_i) + 0.001)

    A lexicon holds translation probabilities of source words, which bias the
    logits towards translations of the attended words (Arthur et al. 2016).

    Args:
        vocabulary_size: Positive integer.
        cell: A recurrent cell, such as `keras.layers.GRUCell(256)`. It is a
            template: every layer gets a copy of it.
        embedding_dim: Positive integer, width of the embeddings.
        depth: Positive integer, number of stacked cells.
        attention: A mechanism of `kerasrnn.layers`, or its name; `None` for a
            decoder that sees the source only through its initial states. Like
            the cell, it is a template that is copied.
        placement: Whether to attend `"before"` or `"after"` the cell.
        attention_units: Width of the output `o_t` for the placement after
            the cell; `None` for the width of the cell.
        input_feeding: Whether the cell also reads the output of the previous
            step. Only for the placement after the cell.
        readout: Whether the output layer reads the output of the cell, its
            input and the context, as in Bahdanau et al. Only for the placement
            before the cell.
        bridge: `"dense"` for `s_0 = tanh(W f + b)`, which fits any two cells;
            `"copy"` for `s_0 = f`, which needs states of equal width.
        factorized: Whether a dense layer projects the embeddings to the width
            of the cell, and another projects the outputs back to
            `embedding_dim` before the output layer.
        tie_embeddings: Whether the output layer shares the weights of the
            embedding (Press & Wolf 2017).
        lexicon: A `Lexicon` with the target vocabulary of the decoder; `None`
            for no lexicon. Set its tables with `decoder.lexicon.assign`.
        dropout: Dropout rate for the embeddings and the input of the output
            layer.
        word_dropout: Rate at which whole embeddings of tokens are dropped.
        embedding_scale: Float, the factor on the embeddings; `None` for
            `sqrt(embedding_dim)`.
        **kwargs: Base layer arguments, such as `name` and `dtype`, by default
            that of `cell`.

    Call arguments:
        ids: Integer tensor of shape `(batch, time)`: the start token followed
            by the target, padded on the right.
        memory: Tensor of shape `(batch, positions, memory_dim)`.
        memory_mask: Boolean tensor of shape `(batch, positions)`.
        final: Tensor of shape `(batch, final_dim)`, the final states of the
            encoder, concatenated.
        source: Integer tensor of shape `(batch, positions)`, the encoded
            source. Used only with a lexicon.
        training: Whether to behave as in training (dropout).
        return_attention_scores: Whether to return the attention weights as
            well.

    Returns:
        Logits of shape `(batch, time, vocabulary_size)`. With
        `return_attention_scores`, a tuple of the logits and the weights, of
        shape `(batch, time, positions)`.

    Masking: masked positions of the memory have weight exactly 0. Padding on
    the right of `ids` affects no token before it; mask it in the loss.

    Raises:
        ValueError: when an option is unknown, a size is not positive, the
            target vocabulary of the lexicon has another size, or
            `bridge="copy"` gets final states of other widths.

    Example:

    >>> decoder = Decoder(30, keras.layers.GRUCell(8), embedding_dim=4)
    >>> memory, mask = np.ones((2, 5, 16)), np.ones((2, 5), bool)
    >>> ids, final = np.ones((2, 7), "int32"), np.ones((2, 16))
    >>> decoder(ids, memory, mask, final).shape
    (2, 7, 30)

    References:
        [Arthur et al., 2016](https://arxiv.org/abs/1606.02006),
        [Bahdanau et al., 2015](https://arxiv.org/abs/1409.0473),
        [Luong et al., 2015](https://arxiv.org/abs/1508.04025),
        [Press & Wolf, 2017](https://arxiv.org/abs/1608.05859).
    """

    def __init__(
        self,
        vocabulary_size: int,
        cell: keras.layers.Layer,
        embedding_dim: int = 256,
        depth: int = 1,
        attention: AttentionMechanism | str | None = "additive",
        placement: Literal["before", "after"] = "after",
        attention_units: int | None = None,
        input_feeding: bool = False,
        readout: bool = False,
        bridge: Literal["dense", "copy"] = "dense",
        factorized: bool = False,
        tie_embeddings: bool = False,
        lexicon: Lexicon | None = None,
        dropout: float = 0.0,
        word_dropout: float = 0.0,
        embedding_scale: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**cells.options_of(cell, "Decoder", kwargs))
        cells.check_vectors(cell, "Decoder")
        self.vocabulary_size = positive_integer(
            "vocabulary_size", vocabulary_size
        )
        self.embedding_dim = positive_integer("embedding_dim", embedding_dim)
        self.depth = positive_integer("depth", depth)
        self.factorized, self.tie_embeddings = factorized, tie_embeddings
        self.dropout, self.word_dropout = dropout, word_dropout
        self.embedding_scale = embedding_scale
        self.embedding = TokenEmbedding(
            self.vocabulary_size,
            self.embedding_dim,
            dropout=dropout,
            word_dropout=word_dropout,
            scale=embedding_scale,
            dtype=self.dtype_policy,
            name="embedding",
        )
        if factorized:
            self.input_projection = keras.layers.Dense(
                cells.output_size(cell), dtype=self.dtype_policy, name="input"
            )
        copies = [clone_cell(cell, "decoder", i) for i in range(depth)]
        # The loop has the dtype of its cells.
        self.rnn = AttentionRNN(
            AttentionCell(
                copies[0]
                if depth == 1
                else keras.layers.StackedRNNCells(
                    copies, dtype=cell.dtype_policy
                ),
                copy_of_attention(attention),
                placement=placement,
                units=attention_units,
                input_feeding=input_feeding,
                readout=readout,
            ),
            return_attention_scores=True,
            name="rnn",
        )
        self.bridge = Bridge(
            cells.flat_state_sizes(self.rnn.cell.cell),
            bridge,
            dtype=self.dtype_policy,
            name="bridge",
        )
        self.unit_dropout = keras.layers.Dropout(
            dropout, dtype=self.dtype_policy
        )
        self.output_projection = TokenOutput(
            self.vocabulary_size,
            self.embedding_dim if factorized else None,
            tied_to=self.embedding if tie_embeddings else None,
            dtype=self.dtype_policy,
            name="output",
        )
        self.lexicon = instance("lexicon", lexicon, Lexicon, optional=True)
        if lexicon is not None and lexicon.target_size != vocabulary_size:
            raise ValueError(
                "`lexicon` and decoder must have the same target vocabulary. "
                f"Received: lexicon.target_size={lexicon.target_size}, "
                f"vocabulary_size={vocabulary_size}"
            )

    @property
    def cell(self) -> keras.layers.Layer:
        """The cell of the first layer."""
        cell = self.rnn.cell.cell
        return cell.cells[0] if self.depth > 1 else cell

    def build(
        self, ids_shape: Shape, memory_shape: Shape, final_shape: Shape
    ) -> None:
        self.embedding.build(ids_shape)
        width = self.embedding_dim
        if self.factorized:
            self.input_projection.build((*ids_shape, width))
            width = cells.output_size(self.cell)
        self.rnn.build((*ids_shape, width), memory_shape)
        self.bridge.build(final_shape)
        self.output_projection.build((*ids_shape, self.rnn.cell.output_size))
        if self.lexicon is not None:
            build_once(self.lexicon)

    def call(
        self,
        ids: Tensor,
        memory: Tensor,
        memory_mask: Tensor,
        final: Tensor,
        source: Tensor | None = None,
        training: bool = False,
        return_attention_scores: bool = False,
    ) -> Any:
        outputs, weights = self.rnn(
            self.embed(ids, training),
            memory,
            memory_mask=memory_mask,
            initial_state=self.bridge(final),
            training=training,
        )
        outputs = self.unit_dropout(outputs, training=training)
        logits = self.predict(outputs, weights, self.translations(source))
        return (logits, weights) if return_attention_scores else logits

    def embed(self, ids: Tensor, training: bool = False) -> Tensor:
        """Returns the inputs of the cell for ids of shape `(batch, time)`."""
        x = self.embedding(ids, training=training)
        return self.input_projection(x) if self.factorized else x

    def translations(
        self, source: Tensor | None, vocabulary: Tensor | None = None
    ) -> Nest:
        """Returns the translations of a source; `()` without a lexicon."""
        if self.lexicon is None:
            return ()
        if source is None:
            raise ValueError(
                "A decoder with a lexicon needs the source tokens. Expected: "
                "`source` of shape (batch, positions). Received: source=None"
            )
        return self.lexicon(source, vocabulary)

    def predict(
        self,
        outputs: Tensor,
        weights: Tensor,
        translations: Nest,
        selected: tuple[Tensor, ...] = (),
    ) -> Tensor:
        """Returns logits.

        Args:
            outputs: Tensor of shape `(batch, time, output_size)`.
            weights: Attention weights of shape `(batch, time, positions)`.
            translations: The result of `translations` for the source.
            selected: The result of `output_projection.select`, for the logits
                of a shortlist; `()` for the logits of all words.
        """
        logits = self.output_projection(outputs, selected)
        if self.lexicon is None:
            return logits
        bias = self.lexicon.bias(weights, translations)
        # In float32, although logits may have half precision. `ops.add` would
        # mistake a bias without rows for a bias of the vocabulary.
        return ops.cast(logits, bias.dtype) + bias

    def start(
        self,
        memory: Tensor,
        memory_mask: Tensor,
        final: Tensor,
        source: Tensor | None = None,
        vocabulary: Tensor | None = None,
    ) -> tuple[Nest, Nest]:
        """Prepares the states and the memory for `step`, in inference.

        Args:
            memory: Tensor of shape `(batch, positions, memory_dim)`.
            memory_mask: Boolean tensor of shape `(batch, positions)`.
            final: Tensor of shape `(batch, final_dim)`.
            source: Integer tensor of shape `(batch, positions)`, for a lexicon.
            vocabulary: Integer tensor of shape `(batch, words)`, the ids of the
                words to score; `None` for all words.

        Returns:
            The initial states, and a memory of nested tensors of shape
            `(batch, ...)`.
        """
        cell = self.rnn.cell
        output = self.output_projection
        selected = () if vocabulary is None else output.select(vocabulary)
        projected = cell.project(memory, memory_mask)
        states = cell.get_initial_state(
            ops.shape(final)[0], projected, self.bridge(final)
        )
        return states, (
            projected,
            memory_mask,
            self.translations(source, vocabulary),
            selected,
        )

    def step(
        self, ids: Tensor, states: Nest, memory: Nest
    ) -> tuple[Tensor, Nest, Tensor]:
        """Decodes one token of each hypothesis, in inference.

        Args:
            ids: Integer tensor of shape `(rows,)`, the last token of each
                hypothesis. Every sentence has the same number of hypotheses, in
                adjacent rows.
            states: The states before this step. `start` returns the initial
                ones.
            memory: The memory that `start` returned for `batch` sentences.

        Returns:
            A tuple `(logits, states, weights)`: logits of shape `(rows, words)`
            and attention weights of shape `(rows, positions)`.
        """
        projected, mask, translations, selected = memory
        x = ops.squeeze(self.embed(ops.expand_dims(ids, 1)), 1)
        output, states, weights = self.rnn.cell(x, states, projected, mask)
        logits = self.predict(
            _by_sentence(output, mask),
            _by_sentence(weights, mask),
            translations,
            selected,
        )
        return ops.reshape(logits, (-1, logits.shape[-1])), states, weights

    def get_config(self) -> Config:
        # Not `Configured`, because `bridge` is a layer, and other arguments
        # belong to the cell.
        cell = self.rnn.cell
        return {
            **super().get_config(),
            "vocabulary_size": self.vocabulary_size,
            "cell": keras.saving.serialize_keras_object(self.cell),
            "embedding_dim": self.embedding_dim,
            "depth": self.depth,
            "attention": keras.saving.serialize_keras_object(cell.attention),
            "placement": cell.placement,
            "attention_units": cell.units,
            "input_feeding": cell.input_feeding,
            "readout": cell.readout,
            "bridge": self.bridge.kind,
            "factorized": self.factorized,
            "tie_embeddings": self.tie_embeddings,
            "lexicon": keras.saving.serialize_keras_object(self.lexicon),
            "dropout": self.dropout,
            "word_dropout": self.word_dropout,
            "embedding_scale": self.embedding_scale,
        }


def _by_sentence(x, mask):
    """Reshapes `(rows, dim)` to `(batch, hypotheses, dim)`."""
    return ops.reshape(x, (ops.shape(mask)[0], -1, ops.shape(x)[-1]))
