"""The extensions of the live hypotheses of a beam, and their order."""

from keras import ops

from kerasrnn.decoding.banks import shared_out
from kerasrnn.decoding.banks import with_next_tokens
from kerasrnn.decoding.beams import best
from kerasrnn.decoding.beams import flatten_beams
from kerasrnn.decoding.beams import split_beams
from kerasrnn.decoding.beams import top_k
from kerasrnn.decoding.constraints import NEVER
from kerasrnn.decoding.phrases import advanced
from kerasrnn.gathering import gather


def expanded(logits, allowed, totals, progress, phrases, width):
    """Returns the best extensions of the live hypotheses, two for each beam.

    If they need phrases, two for each beam, and the next token of each phrase.

    Args:
        logits: Tensor of shape `(batch, beams, columns)`.
        allowed: The same with refused tokens at minus infinity.
        totals: Log-probabilities of the hypotheses, `(batch, beams)`.
        progress: What each hypothesis has of its phrases.
        phrases: The phrases, or `None`.
        width: Integer, the number of beams.

    Returns:
        Dictionary of their total log-probabilities, the beams that they extend
        (`"parents"`), and the columns of the logits that they choose, each of
        shape `(batch, candidates)`.
    """
    # The best of a sentence are among the best of its beams, and only those
    # need their log-probability.
    gains, columns = (
        split_beams(x, width) for x in top_k(flatten_beams(allowed), 2 * width)
    )
    if "required" in progress:
        gains, columns = with_next_tokens(
            gains, columns, allowed, progress, phrases
        )
    gains = gains - ops.logsumexp(logits, axis=2, keepdims=True)
    beams = ops.arange(width, dtype="int32")[:, None]
    candidates = {
        "totals": totals[:, :, None] + gains,
        "parents": ops.zeros_like(columns) + beams,
        "columns": columns,
    }
    shape = (-1, width * ops.shape(columns)[2])
    candidates = {name: ops.reshape(x, shape) for name, x in candidates.items()}
    if "required" in progress:
        return candidates
    return best(candidates, "totals", 2 * width)


def in_order(candidates, ids, end_id, progress, phrases, width):
    """Returns which candidates are finished, and the order of those that live.

    Args:
        candidates: What `expanded` returns.
        ids: Their tokens, of shape `(batch, candidates)`.
        end_id: Integer id of the end token.
        progress, phrases, width: As of `expanded`.
    """
    totals, is_end = candidates["totals"], ops.equal(ids, end_id)
    if "required" in progress:
        progress = {
            kind: gather(x, candidates["parents"])
            for kind, x in progress.items()
        }
        progress = advanced(progress, ids, phrases)
        return shared_out(totals, is_end, progress, phrases, width)
    position = ops.arange(ops.shape(totals)[1], dtype="int32")
    finishes = ops.logical_and(is_end, position < width)
    return finishes, ops.where(is_end, NEVER, totals)
