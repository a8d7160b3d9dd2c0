"""The scores of the hypotheses of a beam, and when they are final."""

from keras import ops

from kerasrnn.decoding.beams import best
from kerasrnn.decoding.beams import join
from kerasrnn.decoding.constraints import NEVER
from kerasrnn.gathering import gather


class BeamScores:
    """Scores hypotheses, and ranks them; see `BeamSearch`.

    Args:
        beam_width, length_penalty, coverage_penalty, num_hypotheses: As of
            `BeamSearch`.
    """

    def __init__(
        self, beam_width, length_penalty, coverage_penalty, num_hypotheses
    ):
        self.beam_width = beam_width
        self.length_penalty = length_penalty
        self.coverage_penalty = coverage_penalty
        self.num_hypotheses = num_hypotheses

    def of(self, lengths, source_mask, totals, attended=None):
        """Returns the scores of hypotheses, `(batch, hypotheses)`.

        Args:
            lengths: Number of tokens of each, or one for all.
            source_mask: Optional boolean tensor of shape `(batch, positions)`.
            totals: Their log-probabilities, `(batch, hypotheses)`.
            attended: With a coverage penalty, the attention that each position
                of the source has had, `(batch, hypotheses, positions)`.
        """
        scores = totals / self._penalty(lengths)
        if attended is None:
            return scores
        # Bounded below: an unattended position must not cost an infinite score.
        logs = ops.log(ops.clip(attended, 1e-6, 1.0))
        logs = ops.where(ops.expand_dims(source_mask, 1), logs, 0.0)
        return scores + self.coverage_penalty * ops.sum(logs, axis=-1)

    def _penalty(self, lengths):
        lengths = ops.cast(lengths, "float32")
        return ((5.0 + lengths) / 6.0) ** self.length_penalty

    def is_done(self, t, limits, living, finished):
        """Returns whether the best are final, of shape `(batch,)`."""
        full = ops.all(finished["scores"] > NEVER, axis=1)
        last = finished["scores"][:, self.num_hypotheses - 1]
        total = ops.max(living["totals"], axis=1)
        behind = total / self._penalty(t + 1) <= last
        # A total can only fall, and is divided by this at the most.
        beaten = total / self._penalty(limits) <= last
        done = ops.logical_or(ops.logical_and(full, behind), beaten)
        return ops.logical_or(done, t + 1 >= limits)

    def ranked(self, given, living, finished):
        """Returns the hypotheses to return, and which of them ended."""
        lengths = ops.expand_dims(given["limits"], 1)
        beams = ops.arange(self.beam_width, dtype="int32")
        beams = ops.zeros_like(finished["beams"]) + beams
        cut = {
            "scores": self.of(lengths, given["source_mask"], **living),
            "times": ops.zeros_like(beams) + lengths,
            "beams": beams,
        }
        # The live hypotheses are sorted by their totals, without coverage.
        cut = best(cut, "scores", self.beam_width)
        count = ops.sum(
            ops.cast(finished["scores"] > NEVER, "int32"), axis=1, keepdims=True
        )
        rank = ops.arange(self.num_hypotheses, dtype="int32")
        rank = ops.expand_dims(rank, 0)
        has_end = rank < count
        index = ops.where(has_end, rank, self.beam_width + rank - count)
        both = join(finished, cut)
        return {name: gather(x, index) for name, x in both.items()}, has_end
