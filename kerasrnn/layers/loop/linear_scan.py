"""Linear recurrences, over all steps in parallel."""

import keras
from keras import ops

from kerasrnn.layers import _backend

# Steps of a part. The parts of a sequence are computed side by side, and one
# loop goes over their ends.
_STEPS = 16


def linear_scan(a, b, start, reverse=False):
    """Returns all `h_t = a_t * h_{t-1} + b_t`.

    Each step of a loop is applied to all parts of the sequence at once. In
    TensorFlow on a CPU this takes a third of the time of
    `keras.ops.associative_scan`, which does not take two tensors of open
    length there. Its gradient is another such recurrence, back through time, so
    that nothing is kept but `a`, `b` and `h`.

    Args:
        a: Tensor of shape `(time, batch, units)`. Products of as many `a` as
            there are steps may underflow, but not overflow.
        b: Tensor of the same shape.
        start: Tensor of shape `(batch, units)`, the `h` before the first step.
        reverse: Whether the last step comes first.

    Returns:
        Tensor of shape `(time, batch, units)`.
    """
    if keras.backend.backend() == "torch":
        return _forward(a, b, start, reverse)

    @ops.custom_gradient
    def run(a, b, start):
        h = _forward(a, b, start, reverse)

        def gradient(upstream):
            after = _shifted(a, ops.ones_like(start[None]), not reverse)
            zeros = ops.zeros_like(start)
            grads = linear_scan(after, upstream, zeros, not reverse)
            before = _shifted(h, start[None], reverse)
            first = -1 if reverse else 0
            return grads * before, grads, grads[first] * a[first]

        return h, gradient

    return run(a, b, start)


def _shifted(x, first, reverse):
    """Returns `x` of the step before, `first` at the first step."""
    parts = [x[1:], first] if reverse else [first, x[:-1]]
    return ops.concatenate(parts)


def _forward(a, b, start, reverse):
    time, batch_size = ops.shape(b)[:2]
    count = (time + _STEPS - 1) // _STEPS
    parts = (count, _STEPS, batch_size, b.shape[-1])
    missing = [[0, count * _STEPS - time], [0, 0], [0, 0]]
    # A step that is added, at the end, changes nothing.
    a = ops.reshape(ops.pad(a, missing, constant_values=1), parts)
    b = ops.reshape(ops.pad(b, missing), parts)
    order = range(_STEPS)[::-1] if reverse else range(_STEPS)

    # Within each part h_t = product * h + sum, with h before the part.
    first, *others = order
    products, sums = {first: a[:, first]}, {first: b[:, first]}
    last = first
    for step in others:
        products[step] = products[last] * a[:, step]
        sums[step] = sums[last] * a[:, step] + b[:, step]
        last = step

    def through_part(h, index):
        return products[last][index] * h + sums[last][index], h

    _, before = _backend.scan(through_part, start, count, reverse)
    h = [products[step] * before + sums[step] for step in range(_STEPS)]
    h = ops.reshape(ops.stack(h, axis=1), (count * _STEPS, *parts[2:]))
    return h[:time]
