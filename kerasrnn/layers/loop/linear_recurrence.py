"""Linear recurrences `h_t = a_t h_{t-1} + b_t`, computed in parallel.

Parts of 16 steps are computed in parallel, followed by a loop over the ends of
the parts. Unlike the closed form with cumulative products, this does not
divide. So with `a` in `[0, 1]`, it neither overflows nor loses precision.
"""

from keras import ops

from kerasrnn.layers import _backend
from kerasrnn.tensors import at_least_one

# Number of steps in a part.
_STEPS = 16


def linear_scan(a, b, start, reverse=False):
    """Computes all `h_t = a_t * h_{t-1} + b_t` over the first axis.

    On a CPU, TensorFlow takes a third of the time that it takes for
    `keras.ops.associative_scan`, which does not accept two tensors of unknown
    length there.

    Args:
        a: Tensor of shape `(time, batch, units)`. A product of `a` over all
            steps may underflow, but not overflow.
        b: Tensor of the same shape.
        start: Tensor of shape `(batch, units)`: `h` before the first step.
        reverse: Whether to run from the last step to the first.

    Returns:
        Tensor of shape `(time, batch, units)`.
    """

    @_backend.custom_gradient
    def run(a, b, start):
        h = _in_parts(a, b, start, reverse)

        # Another such recurrence, in the other direction, which only needs `a`
        # and `h`.
        def gradient(upstream):
            after = shifted(a, ops.ones_like(start)[None], not reverse)
            zeros = ops.zeros_like(start)
            grads = linear_scan(after, *upstream, zeros, not reverse)
            before = shifted(h, start[None], reverse)
            first = slice(-1, None) if reverse else slice(1)
            of_start = ops.sum(grads[first] * a[first], axis=0)
            return grads * before, grads, of_start

        return h, gradient

    return run(a, b, start)


def shifted(x, first, reverse=False):
    """Shifts `x` along the first axis: `first`, then `x` without its last step.

    Args:
        x: Tensor of shape `(time, ...)`.
        first: Tensor of shape `(1, ...)`.
        reverse: Whether to run from the last step to the first.
    """
    if reverse:
        return ops.concatenate([x, first])[1:]
    return ops.concatenate([first, x])[:-1]


def _in_parts(a, b, start, reverse):
    """Loops over the steps of a part, for all parts at once."""
    time, *rest = ops.shape(b)
    count = at_least_one((time + _STEPS - 1) // _STEPS)
    parts = (count, _STEPS, *rest)
    missing = [[0, count * _STEPS - time], [0, 0], [0, 0]]
    # Steps that are added at the end change nothing.
    a = ops.reshape(ops.pad(a, missing, constant_values=1), parts)
    b = ops.reshape(ops.pad(b, missing), parts)

    # Within each part, h_t = product * h + sum, where h is that before the
    # part.
    first, *others = range(_STEPS)[::-1] if reverse else range(_STEPS)
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
    h = ops.reshape(ops.stack(h, axis=1), (count * _STEPS, *rest))
    return h[:time]
