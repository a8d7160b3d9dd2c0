"""Linear recurrences `h_t = a_t h_{t-1} + b_t`, computed in parallel.

There are two algorithms with the same gradient:

* `linear_scan`, over the first axis, for sequences. It computes parts of 16
  steps in parallel, and then loops over the ends of the parts. Its work is
  linear in the number of steps.
* `linear_doubling`, over the last axis, for the positions of a memory. Each
  round doubles the number of terms. It does more work, but in few operations,
  which is faster inside another loop, such as that of a decoder.

Unlike the closed form with cumulative products, neither divides. So with `a` in
`[0, 1]`, they neither overflow nor lose precision.
"""

from keras import ops

from kerasrnn.layers import _backend

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
    return _solve(_in_parts, 0, a, b, start[None], reverse)


def linear_doubling(a, b):
    """Computes all `h_i = a_i * h_{i-1} + b_i` over the last axis, from 0.

    Args:
        a: Tensor of shape `(..., positions)`. The first one is not used.
        b: Tensor of the same shape.

    Returns:
        Tensor of the same shape.
    """
    return _solve(_doubled, -1, a, b, ops.zeros_like(b[..., :1]), False)


def shifted(x, first, axis, reverse=False):
    """Shifts `x` along an axis: `first`, then `x` without its last steps.

    Args:
        x: Tensor.
        first: Tensor with the shape of `x`, except for the length of the axis.
        axis: 0 or -1.
        reverse: Whether to run from the last step to the first.
    """
    length, count = ops.shape(x)[axis], ops.shape(first)[axis]
    if reverse:
        joined = ops.concatenate([x, first], axis=axis)
        return _part(joined, axis, slice(count, None))
    joined = ops.concatenate([first, x], axis=axis)
    return _part(joined, axis, slice(length))


def _part(x, axis, part):
    return x[part] if axis == 0 else x[..., part]


def _solve(algorithm, axis, a, b, start, reverse):
    """Runs an algorithm with a gradient that only keeps `a` and `h`.

    The gradient is another such recurrence, from the last step to the first.
    """

    @_backend.custom_gradient
    def run(a, b, start):
        h = algorithm(a, b, start, reverse)

        def gradient(upstream):
            after = shifted(a, ops.ones_like(start), axis, not reverse)
            zeros = ops.zeros_like(start)
            grads = _solve(
                algorithm, axis, after, *upstream, zeros, not reverse
            )
            before = shifted(h, start, axis, reverse)
            first = slice(-1, None) if reverse else slice(1)
            of_start = _part(grads, axis, first) * _part(a, axis, first)
            return grads * before, grads, of_start

        return h, gradient

    return run(a, b, start)


def _in_parts(a, b, start, reverse):
    """Loops over the steps of a part, for all parts at once."""
    time, batch_size = ops.shape(b)[:2]
    count = (time + _STEPS - 1) // _STEPS
    parts = (count, _STEPS, batch_size, b.shape[-1])
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

    _, before = _backend.scan(through_part, start[0], count, reverse)
    h = [products[step] * before + sums[step] for step in range(_STEPS)]
    h = ops.reshape(ops.stack(h, axis=1), (count * _STEPS, *parts[2:]))
    return h[:time]


def _doubled(a, b, start, reverse):
    """Doubles: after `n` rounds each position has summed `2^n` terms.

    It starts from 0.
    """
    if reverse:
        a, b = ops.flip(a, axis=-1), ops.flip(b, axis=-1)
    positions = ops.shape(b)[-1]

    def double(distance, a, b):
        b = b + a * _moved(b, distance)
        return 2 * distance, a * _moved(a, distance), b

    *_, h = ops.while_loop(
        lambda distance, *_: distance < positions, double, (1, a, b)
    )
    return ops.flip(h, axis=-1) if reverse else h


def _moved(x, distance):
    """Shifts the last axis by a variable distance, and fills with 0.

    Unlike in `shifted`, the shapes do not depend on the distance.
    """
    index = ops.arange(ops.shape(x)[-1]) - distance
    return ops.where(index >= 0, ops.take(x, ops.maximum(index, 0), axis=-1), 0)
