"""Parallel and recurrent multi-step forecasting: PMF and RMF of SegRNN."""

from keras import ops

from kerasrnn.layers import _backend


def parallel_outputs(model, states, given, training):
    """Takes one step from the same states for each segment ahead.

    Args:
        model: A `Forecaster`.
        states: The states after the past, a flat list.
        given: What is added to the embeddings of the segments ahead.
        training: Whether to behave as in training.

    Returns:
        Tensor of shape `(rows, segments, units)`.
    """
    x = model.embedding.ahead(ops.shape(states[0])[0], given)
    x = ops.reshape(x, (-1, 1, model.embedding_dim))
    states = [ops.repeat(state, model.segments, axis=0) for state in states]
    x, _ = model.stack(x, initial_state=states, training=training)
    return ops.reshape(x, (-1, model.segments, model.stack.output_size))


def recurrent_outputs(model, last, states, given):
    """Reads each segment that was forecast, to forecast the next.

    It has no dropout: noise is drawn before a loop, never in it.

    Args:
        model: A `Forecaster`.
        last: The output of the last segment of the past, `(rows, units)`.
        states: The states after it, a flat list.
        given: What is added to the embeddings of the segments to read.

    Returns:
        Tensor of shape `(rows, segments, units)`.
    """
    if model.segments == 1:
        return last[:, None]
    given = ops.swapaxes(given, 0, 1)

    def advance(carry, index):
        output, states = carry
        raw = model.values(output[:, None])
        point = model.head.point(model.head.forecast(raw, 0.0, 1.0))
        here = given[index if model.known else 0]
        x = model.embedding(point, ops.zeros_like(point), here[:, None])
        x, states = model.stack(x, initial_state=states)
        return (x[:, 0], states), output

    (last, _), outputs = _backend.scan(
        advance, (last, states), model.segments - 1
    )
    return ops.swapaxes(ops.concatenate([outputs, last[None]]), 0, 1)
