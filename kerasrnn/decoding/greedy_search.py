"""Greedy search."""

import keras
from keras import ops

from kerasrnn.decoding.beams import top_k
from kerasrnn.decoding.search import Hypotheses
from kerasrnn.decoding.search import Search


class GreedySearch(Search):
    """Takes the likeliest token at every step.

    Args:
        start_id: Integer id that every hypothesis starts behind.
        end_id: Integer id that ends one.
        pad_id: Integer id put behind the end.
        max_length: Positive integer, the most tokens of a hypothesis.

    Call arguments:
        step: The step function, `(ids, states, memory) -> (logits, states,
            alignments)`, such as `Translator.decode_step`.
        states: Nest of tensors of shape `(batch, ...)`, the first states.
        memory: Nest of tensors of shape `(batch, ...)` that `step` reads.
        source_mask: Optional boolean tensor of shape `(batch, places)`. With
            it the alignments are returned.
        max_lengths: Optional integer tensor of shape `(batch,)`, the most
            tokens for each sentence, under `max_length`.

    Returns:
        `Hypotheses` with one hypothesis a sentence, whose score is its total
        log-probability.

    Example:

    >>> def step(ids, states, memory):          # counts 1, 2, 3, ...
    ...     return keras.ops.one_hot(ids + 1, 5), states, None
    >>> search = GreedySearch(start_id=0, end_id=4, pad_id=-1, max_length=6)
    >>> search(step, np.zeros((1, 1)), ()).ids
    [[[ 1,  2,  3,  4, -1, -1]]]
    """

    def __call__(
        self, step, states, memory, source_mask=None, max_lengths=None
    ):
        batch_size = ops.shape(keras.tree.flatten(states)[0])[0]
        limits = self.limits(max_lengths, batch_size)
        shape = (batch_size, self.max_length)
        ids = ops.full(shape, self.pad_id, dtype="int32")
        last = ops.full((batch_size,), self.start_id, dtype="int32")
        scores = ops.zeros((batch_size,), "float32")
        alignments = ()
        if source_mask is not None:
            alignments = ops.zeros((*shape, ops.shape(source_mask)[1]))

        def unfinished(t, last, done, *rest):
            return ops.any(ops.logical_not(done))

        def advance(t, last, done, ids, scores, alignments, states):
            logits, states, weights = step(last, states, memory)
            logits = ops.cast(logits, "float32")
            # As `argmax` and `max`, and faster than they are on a CPU.
            greatest, best = (ops.squeeze(x, 1) for x in top_k(logits, 1))
            gain = greatest - ops.logsumexp(logits, axis=-1)
            scores += ops.where(done, 0.0, gain)
            best = ops.where(done, self.pad_id, best)
            ids = self.put(ids, t, best, axis=1)
            if source_mask is not None:
                weights = ops.where(ops.expand_dims(done, 1), 0.0, weights)
                alignments = self.put(alignments, t, weights, axis=1)
            done = ops.logical_or(done, ops.equal(best, self.end_id))
            done = ops.logical_or(done, t + 1 >= limits)
            # A finished row reads the end token until the others finish.
            last = ops.where(done, self.end_id, best)
            return t + 1, last, done, ids, scores, alignments, states

        _, _, _, ids, scores, alignments, _ = ops.while_loop(
            unfinished,
            advance,
            (0, last, limits < 1, ids, scores, alignments, states),
        )
        return Hypotheses(
            ops.expand_dims(ids, 1),
            ops.expand_dims(scores, 1),
            None if source_mask is None else ops.expand_dims(alignments, 1),
        )
