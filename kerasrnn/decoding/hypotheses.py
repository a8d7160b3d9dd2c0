"""What a search returns."""

from typing import NamedTuple

from kerasrnn.typing import Tensor


class Hypotheses(NamedTuple):
    """What a search returns.

    If there are fewer hypotheses than requested, the last ones are empty: their
    score is minus infinity, all their ids are padding, and their alignments are
    0.

    Attributes:
        ids: Integer tensor of shape `(batch, hypotheses, max_length)`: the
            tokens after the start token, up to and including the end token, and
            padding after it. A hypothesis that was cut at the maximum length
            has no end token.
        scores: Float tensor of shape `(batch, hypotheses)`.
        alignments: Float tensor of shape
            `(batch, hypotheses, max_length, positions)`, the attention weights
            for each token, or `None` if the search was given no `source_mask`.
    """

    ids: Tensor
    scores: Tensor
    alignments: Tensor | None
