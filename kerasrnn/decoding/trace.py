"""The choices of a beam search at each step, and their hypotheses.

Each step records the chosen tokens, the beams that they extend and the
attention weights of these beams. Hypotheses are written out at the end.
"""

from keras import ops

from kerasrnn.gathering import gather


def put(buffer, t, values):
    """Writes `values` of shape `(batch, ...)` at `buffer[:, t]`.

    It is written in place if nothing else refers to the buffer.
    """
    rows = ops.arange(ops.shape(buffer)[0], dtype="int32")
    here = ops.stack([rows, ops.zeros_like(rows) + t], axis=1)
    return ops.scatter_update(buffer, here, values)


def empty_trace(batch_size, beams, length, positions=None):
    """Returns an empty trace of `length` steps, with weights for `positions`.

    It is a dictionary of tensors of shape `(batch, length, beams, ...)`.
    """
    shape = (batch_size, length, beams)
    trace = {
        "tokens": ops.zeros(shape, "int32"),
        "parents": ops.zeros(shape, "int32"),
    }
    if positions is not None:
        trace["weights"] = ops.zeros((*shape, positions), "float32")
    return trace


def note(trace, t, **chosen):
    """Returns the trace with the choices of step `t`, `(batch, beams, ...)`."""
    return {name: put(x, t, chosen[name]) for name, x in trace.items()}


def write_out(trace, steps, times, beams, has_end, end_id, pad_id):
    """Writes hypotheses out, from their ends back to their beginnings.

    Args:
        trace: The trace of all steps.
        steps: Integer, the number of steps that were taken.
        times: Integer tensor of shape `(batch, hypotheses)`, the step at which
            each ended, or its length where it did not.
        beams: Integer tensor of that shape, the beam that each ended in.
        has_end: Boolean tensor of that shape, whether it ended.
        end_id: Integer id written at the end.
        pad_id: Integer id written after it.

    Returns:
        Dictionary of the `"ids"`, of shape `(batch, length, hypotheses)`, and,
        if the trace has weights, the `"alignments"`, of shape
        `(batch, length, hypotheses, positions)`.
    """
    batch_size, count = ops.shape(times)
    shape = (batch_size, trace["tokens"].shape[1], count)
    written = {"ids": ops.full(shape, pad_id, dtype="int32")}
    if "weights" in trace:
        positions = ops.shape(trace["weights"])[-1]
        written["alignments"] = ops.zeros((*shape, positions), "float32")

    def step_back(t, beams, written):
        chosen = {name: x[:, t] for name, x in trace.items()}
        inside = t < times
        ending = ops.logical_and(has_end, ops.equal(t, times))
        tokens = ops.where(inside, gather(chosen["tokens"], beams), pad_id)
        tokens = ops.where(ending, end_id, tokens)
        beams = ops.where(inside, gather(chosen["parents"], beams), beams)
        following = {"ids": put(written["ids"], t, tokens)}
        if "weights" in trace:
            valid = ops.expand_dims(ops.logical_or(inside, ending), 2)
            weights = ops.where(valid, gather(chosen["weights"], beams), 0.0)
            following["alignments"] = put(written["alignments"], t, weights)
        return t - 1, beams, following

    _, _, written = ops.while_loop(
        lambda t, *rest: t >= 0, step_back, (steps - 1, beams, written)
    )
    return written
