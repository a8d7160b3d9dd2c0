"""Greedy search."""

import keras
from keras import ops

from kerasrnn.decoding.beams import top_k
from kerasrnn.decoding.search import Hypotheses
from kerasrnn.decoding.search import Search
from kerasrnn.decoding.trace import put
from kerasrnn.decoding.unfinished import advance_until_done


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

    Raises:
        ValueError: when `max_length` is not a positive integer, or alignments
            are asked for of a step without any.

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
        rows = {
            "done": limits < 1,
            "last": ops.full((batch_size,), self.start_id, dtype="int32"),
            "ids": ops.full(shape, self.pad_id, dtype="int32"),
            "scores": ops.zeros((batch_size,), "float32"),
            "states": states,
        }
        if source_mask is not None:
            places = ops.shape(source_mask)[1]
            rows["alignments"] = ops.zeros((*shape, places))

        def advance(t, rows, given):
            memory, limits = given
            done = rows["done"]
            logits, states, weights = step(rows["last"], rows["states"], memory)
            logits = ops.cast(logits, "float32")
            # As `argmax` and `max`, and faster than they are on a CPU.
            greatest, best = (ops.squeeze(x, 1) for x in top_k(logits, 1))
            gain = greatest - ops.logsumexp(logits, axis=-1)
            best = ops.where(done, self.pad_id, best)
            now_done = ops.logical_or(done, ops.equal(best, self.end_id))
            now_done = ops.logical_or(now_done, t + 1 >= limits)
            following = {
                "done": now_done,
                # A finished row reads the end token while it is here.
                "last": ops.where(now_done, self.end_id, best),
                "ids": put(rows["ids"], t, best, axis=1),
                "scores": rows["scores"] + ops.where(done, 0.0, gain),
                "states": states,
            }
            if source_mask is not None:
                weights = ops.where(
                    ops.expand_dims(done, 1), 0.0, self.alignments(weights)
                )
                following["alignments"] = put(
                    rows["alignments"], t, weights, axis=1
                )
            return following

        _, rows = advance_until_done(advance, 0, rows, (memory, limits))
        return Hypotheses(
            *(
                ops.expand_dims(rows[name], 1) if name in rows else None
                for name in ("ids", "scores", "alignments")
            )
        )
