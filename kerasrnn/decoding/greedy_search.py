"""Greedy search."""

import keras
from keras import ops

from kerasrnn.decoding.beams import top_k
from kerasrnn.decoding.independent_search import IndependentSearch


@keras.saving.register_keras_serializable("kerasrnn")
class GreedySearch(IndependentSearch):
    """Takes the likeliest token at every step.

    Args:
        start_id: Integer id that every hypothesis starts behind.
        end_id: Integer id that ends one.
        pad_id: Integer id put behind the end.
        max_length: Positive integer, the most tokens of a hypothesis.
        min_length: Integer from 0 to `max_length`, the fewest tokens before
            the end token.
        forbidden_ids: List of integer ids that are never produced.
        no_repeat_ngram: Integer n >= 0: no n-gram comes twice in a
            hypothesis. 0 allows all.

    The last three choose among tokens, and the score stays that of the model.
    Where they leave a hypothesis no token at all, it may end.

    Call arguments:
        step: The step function, `(ids, states, memory) -> (logits, states,
            alignments)`, such as `Translator.decode_step`. See `Search`.
        states: Nest of tensors of shape `(batch, ...)`, the first states.
        memory: Nest of tensors of shape `(batch, ...)` that `step` reads, or
            `None`.
        source_mask: Optional boolean tensor of shape `(batch, places)`. With
            it the alignments are returned.
        max_lengths: Optional integer tensor of shape `(batch,)`, the most
            tokens for each sentence, under `max_length`.
        vocabulary: Optional integer tensor of shape `(batch, columns)`, for a
            step that scores a shortlist: the ids that the columns of its
            logits stand for, all different and `end_id` among them.

    Returns:
        `Hypotheses` with one hypothesis a sentence, whose score is its total
        log-probability.

    Raises:
        ValueError: when an argument is out of its range, `states` holds no
            tensor, or alignments are asked for of a step without any.

    Example:

    >>> def step(ids, states, memory):          # counts 1, 2, 3, ...
    ...     return keras.ops.one_hot(ids + 1, 5), states, None
    >>> search = GreedySearch(start_id=0, end_id=4, pad_id=-1, max_length=6)
    >>> found = search(step, np.zeros((1, 1)))
    >>> ops.convert_to_numpy(found.ids).tolist()
    [[[1, 2, 3, 4, -1, -1]]]
    """

    def choose(self, logits, noise):
        # As `argmax`, and faster than it is on a CPU.
        _, columns = top_k(logits, 1)
        return ops.squeeze(columns, 1)
