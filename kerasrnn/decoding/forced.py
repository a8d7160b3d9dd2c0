"""Log-probabilities of given hypotheses."""

from typing import NamedTuple

from keras import ops

from kerasrnn.decoding.beams import note
from kerasrnn.decoding.search import Step
from kerasrnn.decoding.search import check_alignments
from kerasrnn.typing import Nest
from kerasrnn.typing import Tensor


class ForcedDecoding(NamedTuple):
    """The result of `forced_decoding`.

    Attributes:
        log_probabilities: Float tensor of shape `(batch, time)`, the
            log-probability of each token, given the tokens before it.
        alignments: Float tensor of shape `(batch, time, positions)`, the
            attention weights for each token, or `None` without `source_mask`.
    """

    log_probabilities: Tensor
    alignments: Tensor | None


def forced_decoding(
    step: Step,
    states: Nest,
    targets: Tensor,
    memory: Nest | None = None,
    source_mask: Tensor | None = None,
    start_id: int = 1,
    end_id: int | None = None,
) -> ForcedDecoding:
    """Runs a step function along given hypotheses.

    Use it to score any translation, or to get the attention weights of a
    hypothesis that a search returned.

    Args:
        step: The step function, `(ids, states, memory) -> (logits, states,
            alignments)`, such as `Translator.decode_step`. See `Search`.
        states: Nest of tensors of shape `(batch, ...)`, the initial states.
        targets: Integer tensor of shape `(batch, time)`, the tokens after the
            start token. Negative ids and all ids after `end_id` are padding,
            which must be on the right and has a log-probability of 0.
        memory: Nest of tensors of shape `(batch, ...)` that `step` reads, or
            `None`.
        source_mask: Optional boolean tensor of shape `(batch, positions)`. If
            given, alignments are returned.
        start_id: Integer id of the start token.
        end_id: Integer id of the end token, after which a search adds padding;
            `None` if only negative ids are padding.

    Returns:
        A `ForcedDecoding`.

    Raises:
        ValueError: when `source_mask` is given and the step returns no
            alignments.

    Example:

    >>> def step(ids, states, memory):          # counts 1, 2, 3, ...
    ...     return 9 * keras.ops.one_hot(ids + 1, 5), states, None
    >>> states, targets = np.zeros((1, 1)), np.array([[1, 2, 4]])
    >>> found = forced_decoding(step, states, targets, start_id=0)
    >>> [round(float(x)) for x in found.log_probabilities[0]]
    [0, 0, -9]
    """
    targets = ops.cast(targets, "int32")
    batch_size, time = ops.shape(targets)
    is_token = targets >= 0
    if end_id is not None:
        ends = ops.cast(ops.equal(targets, end_id), "int32")
        behind = ops.cumsum(ends, axis=1) > ends
        is_token = ops.logical_and(is_token, ops.logical_not(behind))
    targets = ops.where(is_token, targets, 0)
    written = {"log_probabilities": ops.zeros((batch_size, time), "float32")}
    if source_mask is not None:
        positions = ops.shape(source_mask)[1]
        shape = (batch_size, time, positions)
        written["alignments"] = ops.zeros(shape, "float32")

    def advance(t, last, states, written):
        logits, states, weights = step(last, states, memory)
        logits, here = ops.cast(logits, "float32"), ops.take(targets, t, axis=1)
        chosen = ops.take_along_axis(logits, here[:, None], axis=1)[:, 0]
        values = {"log_probabilities": chosen - ops.logsumexp(logits, axis=1)}
        if source_mask is not None:
            check_alignments(weights)
            values["alignments"] = ops.cast(weights, "float32")
        return t + 1, here, states, note(written, t, **values)

    # JAX would trace a step over empty arrays.
    if not any(isinstance(n, int) and n == 0 for n in (batch_size, time)):
        *_, written = ops.while_loop(
            lambda t, *rest: t < time,
            advance,
            (0, ops.full((batch_size,), start_id, "int32"), states, written),
        )
    alignments = written.get("alignments")
    if alignments is not None:
        alignments = ops.where(is_token[:, :, None], alignments, 0.0)
    scores = ops.where(is_token, written["log_probabilities"], 0.0)
    return ForcedDecoding(scores, alignments)
