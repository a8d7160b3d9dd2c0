"""What every search has: its arguments, its step function, its result."""

import numbers
from typing import Any
from typing import NamedTuple

from keras import ops


class Hypotheses(NamedTuple):
    """What a search returns, best hypothesis of each sentence first.

    Attributes:
        ids: Integer tensor of shape `(batch, hypotheses, max_length)`: the
            tokens behind the start token, up to and with the end token, and
            padding behind it. A hypothesis that ran into the maximum length
            has no end token.
        scores: Float tensor of shape `(batch, hypotheses)`.
        alignments: Float tensor of shape
            `(batch, hypotheses, max_length, places)`, the attention weights
            that each token was predicted with, or `None` where the search
            was given no `source_mask`.
    """

    ids: Any
    scores: Any
    alignments: Any


class Search:
    """Base of the searches.

    A search runs over a step function and imports no model:

        step(ids, states, memory) -> (logits, states, alignments)

    where `ids` has shape `(rows,)`, `logits` `(rows, vocabulary_size)`,
    `states` is any nest of tensors `(rows, ...)`, and `alignments` has shape
    `(rows, places)` or is `None`. `memory` is a nest of tensors `(rows, ...)`
    that the step only reads. A row is a hypothesis; the search tiles and
    reorders what it was given for one row a sentence, and leaves out rows of
    sentences that are done: a step must not count on their number.

    Args:
        start_id: Integer id that every hypothesis starts behind.
        end_id: Integer id that ends one.
        pad_id: Integer id put behind the end.
        max_length: Positive integer, the most tokens of a hypothesis.

    Raises:
        ValueError: when `max_length` is not a positive integer.
    """

    def __init__(self, start_id=1, end_id=2, pad_id=0, max_length=100):
        self.start_id = start_id
        self.end_id = end_id
        self.pad_id = pad_id
        self.max_length = at_least_one("max_length", max_length)

    def limits(self, max_lengths, batch_size):
        """Returns how many tokens each sentence may have, `(batch,)`."""
        limits = ops.full((batch_size,), self.max_length, dtype="int32")
        if max_lengths is None:
            return limits
        return ops.minimum(limits, ops.cast(max_lengths, "int32"))

    def alignments(self, weights):
        """Returns what a step gave as its alignments, in float32."""
        if weights is None:
            raise ValueError(
                "With `source_mask` the alignments are returned. Expected: a "
                "step function that gives some, of shape (rows, places). "
                "Received: None"
            )
        return ops.cast(weights, "float32")


def at_least_one(name, value):
    """Returns `value` as an `int`, or raises `ValueError` naming it."""
    integer = isinstance(value, numbers.Integral)
    if isinstance(value, bool) or not integer or value < 1:
        raise ValueError(
            f"`{name}` must be a positive integer. Received: {name}={value!r}"
        )
    return int(value)
