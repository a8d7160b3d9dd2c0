"""Constraints on the tokens of a hypothesis, applied before the choice."""

from keras import ops

from kerasrnn.arguments import integer
from kerasrnn.arguments import integers
from kerasrnn.decoding.beams import flatten_beams

NEVER = float("-inf")


class Constraints:
    """Excludes tokens from the next step of a hypothesis.

    The logit of a refused token becomes minus infinity. Where every token is
    refused, the hypothesis may end.

    The arguments are those of `Search`.

    Attributes:
        in_no_text: Tuple of integers, the ids of padding and of the start
            token. Inside a text they would make several hypotheses of one.

    Raises:
        ValueError: when an argument is out of its range.
    """

    def __init__(
        self,
        start_id,
        end_id,
        pad_id,
        max_length,
        min_length,
        forbidden_ids,
        no_repeat_ngram,
        repeatable_ids,
    ):
        self.end_id = end_id
        self.max_length = max_length
        self.min_length = integer("min_length", min_length, 0)
        self.forbidden_ids = integers("forbidden_ids", forbidden_ids)
        self.no_repeat_ngram = integer("no_repeat_ngram", no_repeat_ngram, 0)
        self.repeatable_ids = integers("repeatable_ids", repeatable_ids)
        if self.min_length > max_length:
            raise ValueError(
                "`min_length` cannot exceed `max_length`. Received: "
                f"min_length={min_length!r}, max_length={max_length!r}"
            )
        if end_id in self.forbidden_ids:
            raise ValueError(
                "`forbidden_ids` cannot hold the end token: delay it by "
                f"`min_length`. Received: forbidden_ids={forbidden_ids!r}, "
                f"end_id={end_id!r}"
            )
        self.in_no_text = tuple({start_id, pad_id} - {end_id})

    @property
    def _reads_history(self):
        return 0 < self.no_repeat_ngram <= self.max_length

    def empty_history(self, batch_size, beams):
        """Returns an array for the tokens of hypotheses, `()` if not needed.

        Tokens are stored as columns of the logits. The columns of a sentence
        have different ids, so repeated n-grams of columns are those of ids.
        """
        if not self._reads_history:
            return ()
        return ops.zeros((batch_size, beams, self.max_length), "int32")

    def note(self, history, t, columns, ids):
        """Returns the history with the columns and ids chosen at step `t`."""
        if not self._reads_history:
            return history
        for repeatable in self.repeatable_ids:
            # A number that no other step has.
            columns = ops.where(ops.equal(ids, repeatable), -1 - t, columns)
        here = ops.equal(ops.arange(self.max_length, dtype="int32"), t)
        return ops.where(here, ops.expand_dims(columns, 2), history)

    def __call__(self, logits, t, shortlist, history):
        """Sets the logits of refused tokens to minus infinity.

        Args:
            logits: Float tensor of shape `(batch, beams, columns)`.
            t: Integer, how many tokens a hypothesis has.
            shortlist: Integer tensor of shape `(batch, columns)`, the ids of
                the columns, or `None` where the columns are the ids.
            history: The columns that the hypotheses have chosen so far.

        Returns:
            The logits, at minus infinity where a token is refused.
        """
        ids = shortlist
        if ids is None:
            ids = ops.arange(ops.shape(logits)[2], dtype="int32")[None]
        ids = ids[:, None]
        is_end = ops.equal(ids, self.end_id)
        refused = is_any(ids, self.in_no_text + self.forbidden_ids)
        if self.min_length:
            too_early = ops.logical_and(is_end, t < self.min_length)
            refused = ops.logical_or(refused, too_early)
        allowed = ops.where(refused, NEVER, logits)
        if self._reads_history:
            repeated = repetitions(history, t, self.no_repeat_ngram)
            allowed = refuse(allowed, *repeated)
        return or_end(allowed, logits, is_end) if self.min_length else allowed


def is_any(ids, few):
    """Returns whether each of the ids is one of a few, a tuple of integers."""
    return ops.any(ops.equal(ids[..., None], ops.array(few, "int32")), axis=-1)


def repetitions(history, t, n):
    """Finds the columns that would repeat an n-gram.

    Returns:
        The last columns of all n-grams of the history, and whether the
        hypothesis now ends with the other columns of that n-gram; both of
        shape `(batch, beams, n-grams)`.
    """
    count = history.shape[2] - n + 1
    endings = history[:, :, n - 1 :]
    # The history is still empty from step `t` on. Negative numbers are those
    # of repeatable ids, which are not columns.
    written = ops.arange(n - 1, n - 1 + count, dtype="int32") < t
    repeated = ops.logical_and(written, endings >= 0)
    for i in range(n - 1):
        latest = ops.take(history, [ops.maximum(t - n + 1 + i, 0)], axis=2)
        same = ops.equal(history[:, :, i : i + count], latest)
        repeated = ops.logical_and(repeated, same)
    return ops.maximum(endings, 0), repeated


def or_end(allowed, logits, is_end):
    """Lets hypotheses end that have no allowed token.

    Args:
        allowed: Float tensor of shape `(batch, beams, columns)`.
        logits: The same, from which the logit of the end token is taken.
        is_end: Boolean tensor, which broadcasts to that shape: the columns of
            the end token.
    """
    stuck = ops.equal(ops.max(allowed, axis=2, keepdims=True), NEVER)
    return ops.where(ops.logical_and(stuck, is_end), logits, allowed)


def refuse(logits, columns, refused):
    """Sets logits to minus infinity at the columns that are refused.

    Args:
        logits: Float tensor of shape `(batch, beams, columns)`.
        columns: Integer tensor of shape `(batch, beams, positions)`. A column
            may occur several times, refused or not.
        refused: Boolean tensor of that shape.
    """
    return ops.where(marked(ops.shape(logits), columns, refused), NEVER, logits)


def marked(shape, columns, marks):
    """Returns whether a column has a mark, of shape `(batch, beams, columns)`.

    Args:
        shape: Tuple, that shape.
        columns: Integer tensor of shape `(batch, beams, positions)`. A column
            may occur several times, with a mark or without; marks of those
            that there are not do nothing.
        marks: Boolean tensor of that shape.
    """
    marks = ops.logical_and(marks, columns < shape[2])
    columns = flatten_beams(ops.minimum(columns, shape[2] - 1))
    rows = ops.arange(ops.shape(columns)[0], dtype=columns.dtype)
    cells = ops.expand_dims(rows * shape[2], 1) + columns
    times = ops.segment_sum(
        ops.reshape(ops.cast(marks, "int32"), (-1,)),
        ops.reshape(cells, (-1,)),
        num_segments=shape[0] * shape[1] * shape[2],
    )
    return ops.reshape(times, shape) > 0
