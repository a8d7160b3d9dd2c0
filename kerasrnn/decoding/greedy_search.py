"""Greedy search."""

import keras
from keras import ops

from kerasrnn.decoding.beams import top_k
from kerasrnn.decoding.independent_search import IndependentSearch
from kerasrnn.typing import Tensor


@keras.saving.register_keras_serializable("kerasrnn")
class GreedySearch(IndependentSearch):
    """Takes the most likely token at every step.

    Args:
        start_id: Integer id of the start token.
        end_id: Integer id of the end token.
        pad_id: Integer id of padding, which follows the end token.
        max_length: Positive integer, the maximum number of tokens of a
            hypothesis.
        min_length: Integer from 0 to `max_length`, the minimum number of tokens
            before the end token.
        forbidden_ids: List of integer ids that are never produced.
        no_repeat_ngram: Integer n >= 0: no n-gram occurs twice in a hypothesis.
            0 allows all.
        repeatable_ids: List of integer ids that stand for different words, such
            as that of `<unk>`: an n-gram with one of them may occur again.

    `min_length`, `forbidden_ids` and `no_repeat_ngram` restrict the choice of
    tokens; the score remains that of the model. A hypothesis left without any
    allowed token may end.

    Call arguments:
        step: The step function, `(ids, states, memory) -> (logits, states,
            alignments)`, such as `Translator.decode_step`. See `Search`.
        states: Nest of tensors of shape `(batch, ...)`, the first states.
        memory: Nest of tensors of shape `(batch, ...)` that `step` reads, or
            `None`.
        source_mask: Optional boolean tensor of shape `(batch, positions)`. With
            it the alignments are returned.
        max_lengths: Optional integer tensor of shape `(batch,)`, the maximum
            number of tokens for each sentence, if below `max_length`.
        vocabulary: Optional integer tensor of shape `(batch, columns)`, for a
            step that scores a shortlist: the ids of the columns of its logits,
            all different and including `end_id`.
        static_sizes: Whether all sizes must follow from those of the
            arguments. XLA needs that in a graph for batches of any size.
        prefix: Optional integer tensor of shape `(batch, tokens)`, with which
            the hypotheses of each sentence begin, whatever else is refused.
            A prefix longer than the maximum length leaves its sentence without
            a hypothesis. Here and below, negative ids are padding, on the
            right.
        required: Optional integer tensor of shape `(batch, phrases, tokens)`:
            phrases that occur in each hypothesis. If a hypothesis lacks one, it
            is not returned.
        forbidden: Optional integer tensor of that shape: phrases of which none
            occurs after the prefix.

    Returns:
        `Hypotheses` with one hypothesis a sentence, whose score is its total
        log-probability.

    Raises:
        ValueError: when an argument is out of its range, `states` holds no
            tensor, with `source_mask` the step returns no alignments, or there
            are phrases and a `vocabulary`.

    Example:

    >>> def step(ids, states, memory):          # counts 1, 2, 3, ...
    ...     return keras.ops.one_hot(ids + 1, 5), states, None
    >>> search = GreedySearch(start_id=0, end_id=4, pad_id=-1, max_length=6)
    >>> found = search(step, np.zeros((1, 1)))
    >>> ops.convert_to_numpy(found.ids).tolist()
    [[[1, 2, 3, 4, -1, -1]]]
    """

    def choose(self, logits: Tensor, noise: Tensor | None) -> Tensor:
        # The same as `argmax`, and faster on a CPU.
        _, columns = top_k(logits, 1)
        return ops.squeeze(columns, 1)
