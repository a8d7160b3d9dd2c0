"""Constraints of each sentence: prefix, required and forbidden phrases.

The progress with a phrase is the number of its first tokens that a hypothesis
ends with. Each token either advances it by one, or sets it back to the longest
beginning of the phrase that the hypothesis then ends with (Knuth, Morris &
Pratt 1977).

In a plain beam, hypotheses without the required phrases would displace those
with them, because phrases lower the probability. So the beam is divided into
banks (Post & Vilar 2018), one for each number of tokens of required phrases
that a hypothesis may have. Post & Vilar give each bank the same number of
slots. Here, a hypothesis ranks below every better one in the same or a higher
bank. So no slot goes to a hypothesis that has fewer phrase tokens without being
more likely.
"""

from keras import ops

from kerasrnn.arguments import check_shape
from kerasrnn.decoding.constraints import NEVER
from kerasrnn.decoding.constraints import marked
from kerasrnn.decoding.constraints import or_end


def arranged(prefix, required, forbidden):
    """Prepares phrases for the other functions; `None` if there are none.

    Args:
        prefix: Integer tensor of shape `(batch, tokens)`, or `None`.
        required: Integer tensor of shape `(batch, phrases, tokens)`, or `None`.
        forbidden: The same. Negative ids are padding, on the right.

    Raises:
        ValueError: when one has a wrong number of axes.
    """
    phrases = {}
    for name, tokens, *axes in (
        ("prefix", prefix, "batch", "tokens"),
        ("required", required, "batch", "phrases", "tokens"),
        ("forbidden", forbidden, "batch", "phrases", "tokens"),
    ):
        if tokens is None:
            continue
        tokens = ops.cast(tokens, "int32")
        check_shape(name, tokens, axes)
        # One more position of padding, so that there is at least one.
        padding = [[0, 0]] * (len(axes) - 1) + [[0, 1]]
        tokens = ops.pad(tokens, padding, constant_values=-1)
        phrases[name] = tokens if name == "prefix" else _with_borders(tokens)
    return phrases or None


def _with_borders(tokens):
    """Returns phrases, their lengths, and where they overlap themselves.

    If `p` tokens of a phrase are written, `borders[..., p, n]` tells whether
    its first `n` tokens are the last `n` of these `p`.
    """
    size = ops.shape(tokens)[2]
    position = ops.arange(size, dtype="int32")
    written = position[:, None]
    # The Z-function (Gusfield 1997): how many tokens from each position on
    # equal the first tokens. After the end, it does not matter.
    following = ops.minimum(position[:, None] + position, size - 1)
    same = ops.equal(tokens[:, :, None], ops.take(tokens, following, axis=2))
    common = ops.sum(ops.cumprod(ops.cast(same, "int32"), axis=3), axis=3)
    common = ops.take(common, ops.maximum(written - position, 0), axis=2)
    return {
        "tokens": tokens,
        "lengths": ops.sum(ops.cast(tokens >= 0, "int32"), axis=2),
        "borders": ops.logical_and(common >= position, position <= written),
    }


def not_begun(phrases, batch_size, beams):
    """Returns the progress before the first token, by kind of phrases.

    It is a dictionary of integer tensors of shape `(batch, beams, phrases)`.
    """
    return {
        kind: ops.zeros(
            (batch_size, beams, ops.shape(phrases[kind]["tokens"])[1]), "int32"
        )
        for kind in ("required", "forbidden")
        if kind in (phrases or {})
    }


def advanced(progress, ids, phrases):
    """Returns the progress of hypotheses after ids of shape `(batch, beams)`.

    A required phrase that has occurred once stays complete.
    """
    return {
        kind: _followed(before, ids, **phrases[kind], keep=kind == "required")
        for kind, before in progress.items()
    }


def _followed(before, ids, tokens, lengths, borders, keep):
    continued = ops.logical_and(
        _at(before, borders), ops.equal(tokens[:, None], ids[:, :, None, None])
    )
    after = ops.arange(1, ops.shape(tokens)[2] + 1, dtype="int32")
    after = ops.max(ops.where(continued, after, 0), axis=3)
    if keep:
        after = ops.where(ops.equal(before, lengths[:, None]), before, after)
    return after


def _at(progress, values):
    """Gathers `(batch, phrases, size, ...)` at the progress of hypotheses."""
    batch_size, count, size, *rest = ops.shape(values)
    rows = ops.arange(batch_size * count, dtype="int32") * size
    index = ops.reshape(rows, (batch_size, 1, count)) + progress
    flat = ops.reshape(values, (batch_size * count * size, *rest))
    return ops.take(flat, index, axis=0)


def restricted(logits, allowed, t, progress, phrases, end_id):
    """Allows only the next token of a prefix; refuses forbidden phrases.

    Args:
        logits: Float tensor of shape `(batch, beams, vocabulary)`.
        allowed: The same, with minus infinity where other constraints refuse a
            token. A prefix overrides them.
        t: Integer, number of tokens in a hypothesis.
        progress: The progress of the hypotheses.
        phrases: The result of `arranged`.
        end_id: Integer id of the end token. It is allowed where no other token
            is.
    """
    vocabulary = ops.arange(ops.shape(logits)[2], dtype="int32")
    if "forbidden" in phrases:
        tokens, lengths, borders = (
            phrases["forbidden"][name]
            for name in ("tokens", "lengths", "borders")
        )
        last = ops.maximum(lengths - 1, 0)[:, :, None]
        columns = ops.take_along_axis(tokens, last, axis=2)[:, None, :, 0]
        ends = ops.take_along_axis(
            _at(progress["forbidden"], borders), last[:, None], axis=3
        )[..., 0]
        ends = ops.logical_and(ends, lengths[:, None] > 0)
        columns = ops.broadcast_to(ops.maximum(columns, 0), ops.shape(ends))
        refused = marked(ops.shape(logits), columns, ends)
        allowed, others = (
            ops.where(refused, NEVER, x) for x in (allowed, logits)
        )
        allowed = or_end(allowed, others, ops.equal(vocabulary, end_id))
    if "prefix" in phrases:
        token = _token_of_prefix(t, phrases)[:, None, None]
        forced = ops.where(ops.equal(vocabulary, token), logits, NEVER)
        allowed = ops.where(token >= 0, forced, allowed)
    return allowed


def _token_of_prefix(t, phrases):
    """Returns the token of each prefix at step `t`, -1 after its end."""
    position = ops.minimum(t, ops.shape(phrases["prefix"])[1] - 1)
    return ops.take(phrases["prefix"], position, axis=1)


def in_prefix(t, phrases):
    """Returns whether step `t` is in the prefix, of shape `(batch, 1)`."""
    if "prefix" not in phrases:
        return ops.zeros((1, 1), "bool")
    return _token_of_prefix(t, phrases)[:, None] >= 0


def missing(progress, phrases):
    """Returns the number of missing tokens of required phrases.

    An integer tensor of shape `(batch, beams)`.
    """
    lengths = phrases["required"]["lengths"][:, None]
    return ops.sum(lengths - progress["required"], axis=2)


def needed(progress, phrases):
    """Returns the total length of incomplete required phrases.

    It counts whole phrases, because another token may undo the progress with
    one. An integer tensor of shape `(batch, beams)`.
    """
    lengths = phrases["required"]["lengths"][:, None]
    is_written = ops.equal(progress["required"], lengths)
    return ops.sum(ops.where(is_written, 0, lengths), axis=2)


def unmet(progress, phrases, limits):
    """Returns which hypotheses lack a required phrase or part of the prefix.

    Args:
        progress: The progress of the hypotheses.
        phrases: The result of `arranged`, or `None`.
        limits: Integer tensor of shape `(batch,)`, their maximum lengths.

    Returns:
        Boolean tensor of shape `(batch, beams)` or `(batch, 1)`.
    """
    lacks = ops.zeros((1, 1), "bool")
    if "prefix" in (phrases or {}):
        length = ops.sum(ops.cast(phrases["prefix"] >= 0, "int32"), axis=1)
        lacks = (length > limits)[:, None]
    if "required" in progress:
        lacks = ops.logical_or(lacks, missing(progress, phrases) > 0)
    return lacks


def begun(progress, phrases):
    """Returns which required phrases a hypothesis has begun.

    A boolean tensor of shape `(batch, beams, phrases)`.
    """
    written, lengths = progress["required"], phrases["required"]["lengths"]
    return ops.logical_and(written > 0, written < lengths[:, None])


def next_tokens(progress, phrases):
    """Returns the next token of each required phrase, and if there is one.

    An integer and a boolean tensor of shape `(batch, beams, phrases)`.
    """
    tokens = _at(progress["required"], phrases["required"]["tokens"])
    return ops.maximum(tokens, 0), tokens >= 0


def continuing(logits, progress, phrases):
    """Allows only the next tokens of required phrases.

    If phrases are begun, only those with the most progress count, so that
    overlapping phrases do not undo each other forever.

    Args:
        logits: Float tensor of shape `(batch, beams, vocabulary)`.
        progress: The progress of the hypotheses.
        phrases: The result of `arranged`.
    """
    tokens, wanted = next_tokens(progress, phrases)
    open_ = begun(progress, phrases)
    written = ops.where(open_, progress["required"], 0)
    most = ops.equal(written, ops.max(written, axis=2, keepdims=True))
    is_any = ops.any(open_, axis=2, keepdims=True)
    wanted = ops.where(is_any, ops.logical_and(open_, most), wanted)
    chosen = marked(ops.shape(logits), tokens, wanted)
    return ops.where(chosen, logits, NEVER)


def with_next_tokens(gains, columns, allowed, progress, phrases):
    """Adds the next tokens of required phrases to the choices of each beam.

    Args:
        gains: Float tensor of shape `(batch, beams, choices)`, the logits of
            the best tokens.
        columns: Integer tensor of that shape, the tokens of these logits.
        allowed: Float tensor of shape `(batch, beams, vocabulary)`, all logits.
        progress: The progress of the hypotheses.
        phrases: The result of `arranged`.

    Returns:
        `gains` and `columns` with one more choice for each required phrase. Its
        gain is minus infinity if the phrase is complete or its token already is
        a choice.
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
    # Only tokens that a phrase needs are additional choices.
    are_choices = ops.pad(
        wanted, [[0, 0], [0, 0], [size, 0]], constant_values=True
    )
    earlier = ops.logical_and(earlier, are_choices[:, :, None])
    is_there = ops.any(ops.logical_and(same, earlier), axis=3)
    new = ops.logical_and(wanted, ops.logical_not(is_there))
    their_gains = ops.where(new, their_gains, NEVER)
    return ops.concatenate([gains, their_gains], axis=2), columns


def shared_out(totals, is_end, progress, phrases, beam_width):
    """Returns which candidates are finished, and the order of the others.

    Args:
        totals: Float tensor of shape `(batch, candidates)`.
        is_end: Boolean tensor of that shape, whether each candidate ends.
        progress: The progress of the candidates.
        phrases: The result of `arranged`.
        beam_width: Integer.

    Returns:
        A tuple `(finishes, order)`: booleans, and floats whose largest values
        are kept; minus infinity means discarded.
    """
    bank = ops.sum(progress["required"], axis=2)
    last = ops.sum(phrases["required"]["lengths"], axis=1, keepdims=True)
    complete = ops.equal(bank, last)
    first = _rank(totals, ops.cast(complete, "int32")) < beam_width
    finishes = ops.logical_and(ops.logical_and(is_end, complete), first)
    totals = ops.where(is_end, NEVER, totals)
    # First the candidates with rank 0, from the last bank to the first.
    turn = _rank(totals, bank) * (ops.max(last) + 1) + last - bank
    order = ops.where(totals > NEVER, -ops.cast(turn, "float32"), NEVER)
    return finishes, order


def _rank(values, banks):
    """Returns the rank of each candidate, 0 for the best.

    It is the number of candidates in the same or a higher bank that are better,
    or equal and earlier.
    """
    position = ops.arange(ops.shape(values)[1], dtype="int32")
    mine, others = values[:, :, None], values[:, None]
    before = ops.logical_and(
        ops.equal(others, mine), position < position[:, None]
    )
    ahead = ops.logical_or(others > mine, before)
    ahead = ops.logical_and(ahead, banks[:, None] >= banks[:, :, None])
    return ops.sum(ops.cast(ahead, "int32"), axis=2)
