"""The steps of a decoder in a search: one token of each hypothesis."""

from collections.abc import Callable

from keras import ops

from kerasrnn.layers import AttentionRNN
from kerasrnn.models.bridge import Bridge
from kerasrnn.models.token_output import TokenOutput
from kerasrnn.typing import Nest
from kerasrnn.typing import Tensor


class DecoderSteps:
    """The part of `Decoder` that predicts one token at a time.

    A search calls `start` once, and then `step` for each position.
    """

    rnn: AttentionRNN
    bridge: Bridge
    output_projection: TokenOutput
    embed: Callable[..., Tensor]
    translations: Callable[..., Nest]
    predict: Callable[..., Tensor]

    def start(
        self,
        memory: Tensor,
        memory_mask: Tensor,
        final: Tensor,
        source: Tensor | None = None,
        vocabulary: Tensor | None = None,
    ) -> tuple[Nest, Nest]:
        """Prepares the states and the memory that `step` reads, for inference.

        Args:
            memory: Tensor of shape `(batch, positions, memory_dim)`.
            memory_mask: Boolean tensor of shape `(batch, positions)`.
            final: Tensor of shape `(batch, final_dim)`.
            source: Integer tensor of shape `(batch, positions)`, for a lexicon.
            vocabulary: Integer tensor of shape `(batch, words)`, the ids of the
                words to score; `None` for all.

        Returns:
            The first states, and a memory of nested tensors of shape
            `(batch, ...)`.
        """
        cell = self.rnn.cell
        selected: tuple[Tensor, ...] = ()
        if vocabulary is not None:
            selected = self.output_projection.select(vocabulary)
        projected = cell.project(memory, memory_mask)
        states = cell.get_initial_state(
            ops.shape(final)[0], projected, self.bridge(final)
        )
        translations = self.translations(source, vocabulary)
        return states, (projected, memory_mask, translations, selected)

    def step(
        self, ids: Tensor, states: Nest, memory: Nest
    ) -> tuple[Tensor, Nest, Tensor]:
        """Decodes one token of each hypothesis, for inference.

        Args:
            ids: Integer tensor of shape `(rows,)`, the last token of each
                hypothesis. Every sentence has the same number of hypotheses, in
                adjacent rows.
            states: The states before this step; `start` gives the first.
            memory: The memory that `start` returned, for `batch` sentences.

        Returns:
            A tuple `(logits, states, weights)`, where the logits have shape
            `(rows, words)` and the attention weights `(rows, positions)`.
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


def _by_sentence(x, mask):
    """`(rows, dim)` as `(batch, hypotheses, dim)`, for a mask `(batch, ..)`."""
    return ops.reshape(x, (ops.shape(mask)[0], -1, ops.shape(x)[-1]))
