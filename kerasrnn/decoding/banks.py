"""A beam shared out among hypotheses by how much they have written.

Hypotheses that lack required phrases would crowd out those that pay for them.
So the beam is divided among banks (Post & Vilar 2018): one for each number of
tokens of required phrases that a hypothesis may have. They give each bank
the same number of slots. Here a hypothesis ranks below every better one in the
same or a higher bank, so no slot goes to one that has fewer phrase tokens and
is no likelier for it.
"""

from keras import ops

from kerasrnn.decoding.constraints import NEVER
from kerasrnn.decoding.phrases import next_tokens


def with_next_tokens(gains, columns, allowed, progress, phrases):
    """Adds the next token of each required phrase to the best of each beam.

    Args:
        gains: Float tensor of shape `(batch, beams, choices)`, the logits of
            the best tokens.
        columns: Integer tensor of that shape, the tokens of these logits.
        allowed: Float tensor of shape `(batch, beams, vocabulary)`, all logits.
        progress: The progress of the hypotheses.
        phrases: What `phrases.arranged` returned.

    Returns:
        `gains` and `columns` with one more choice for each required phrase. Its
        gain is minus infinity if the phrase is complete or its token is a
        choice already.
    """
    tokens, wanted = next_tokens(progress, phrases)
    vocabulary_size = ops.shape(allowed)[2]
    wanted = ops.logical_and(wanted, tokens < vocabulary_size)
    tokens = ops.minimum(tokens, vocabulary_size - 1)
    their_gains = ops.take_along_axis(allowed, tokens, axis=2)
    size = ops.shape(columns)[2]
    columns = ops.concatenate(
        [columns, ops.cast(tokens, columns.dtype)], axis=2
    )
    position = ops.arange(ops.shape(columns)[2], dtype="int32")
    same = ops.equal(tokens[..., None], ops.cast(columns, "int32")[:, :, None])
    earlier = position < position[size:, None]
    # Of the phrases, only tokens that they want are choices.
    are_choices = ops.pad(
        wanted, [[0, 0], [0, 0], [size, 0]], constant_values=True
    )
    earlier = ops.logical_and(earlier, are_choices[:, :, None])
    is_there = ops.any(ops.logical_and(same, earlier), axis=3)
    new = ops.logical_and(wanted, ops.logical_not(is_there))
    their_gains = ops.where(new, their_gains, NEVER)
    return ops.concatenate([gains, their_gains], axis=2), columns


def shared_out(totals, is_end, progress, phrases, beam_width):
    """Says which candidates are finished, and in which order others are kept.

    Args:
        totals: Float tensor of shape `(batch, candidates)`.
        is_end: Boolean tensor of that shape, whether each ends.
        progress: The progress of the candidates.
        phrases: What `phrases.arranged` returned.
        beam_width: Integer.

    Returns:
        A tuple `(finishes, order)`: booleans, and floats, the largest first
        and minus infinity for none.
    """
    bank = ops.sum(progress["required"], axis=2)
    last = ops.sum(phrases["required"]["lengths"], axis=1, keepdims=True)
    complete = ops.equal(bank, last)
    first = _rank(totals, ops.cast(complete, "int32")) < beam_width
    finishes = ops.logical_and(ops.logical_and(is_end, complete), first)
    totals = ops.where(is_end, NEVER, totals)
    # First those that nothing is ahead of, from the last bank on.
    turn = _rank(totals, bank) * (ops.max(last) + 1) + last - bank
    order = ops.where(totals > NEVER, -ops.cast(turn, "float32"), NEVER)
    return finishes, order


def _rank(values, banks):
    """Returns the rank of each candidate, 0 for the best.

    That is the number of candidates of the same or a higher bank that are
    better, or equally good and earlier.
    """
    position = ops.arange(ops.shape(values)[1], dtype="int32")
    mine, others = values[:, :, None], values[:, None]
    before = ops.logical_and(
        ops.equal(others, mine), position < position[:, None]
    )
    ahead = ops.logical_or(others > mine, before)
    ahead = ops.logical_and(ahead, banks[:, None] >= banks[:, :, None])
    return ops.sum(ops.cast(ahead, "int32"), axis=2)
