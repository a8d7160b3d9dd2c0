"""Matrix products of all steps in one, and the gradients of kernels."""

from keras import ops

from kerasrnn.layers import _backend
from kerasrnn.layers.loop.products import columns
from kerasrnn.layers.precision import wide

# Rows of a part of a product.
_ROWS = 2048


def multiply_all(x, kernel):
    """As `multiply`, for all steps in one product, with its own gradient.

    On a CPU, that of the kernel takes half the time of what TensorFlow or XLA
    make of the product.
    """

    @_backend.custom_gradient
    def times(x, kernel):
        def gradient(grads):
            (grads,) = grads
            before = ops.matmul(grads, ops.transpose(kernel))
            return before, kernel_gradient(x, grads)

        return ops.matmul(x, kernel), gradient

    return wide(times(ops.cast(x, kernel.dtype), kernel))


def kernel_gradient(inputs, grads):
    """Returns the gradient of a kernel, a product over all steps.

    Args:
        inputs: What the kernel multiplied, `(..., input_dim)`.
        grads: Gradients of its products, `(..., width)`, in the dtype to
            multiply in.

    Returns:
        Tensor of shape `(input_dim, width)`, in that dtype.
    """
    inputs, grads = (
        ops.reshape(ops.cast(x, grads.dtype), (-1, x.shape[-1]))
        for x in (inputs, grads)
    )

    if not _backend.needs_space(grads):
        return ops.matmul(ops.transpose(inputs), grads)

    @_backend.custom_gradient
    def product(inputs, grads):
        def gradient(upstream):
            (upstream,) = upstream
            before = ops.matmul(grads, ops.transpose(upstream))
            return before, ops.matmul(inputs, upstream)

        return _spaced_product(inputs, grads), gradient

    return product(inputs, grads)


def _spaced_product(inputs, grads):
    """Returns `X' G` part by part, each with space.

    A copy of all gradients, with space, would take as much memory as these.
    """

    def times(inputs, grads):
        found = ops.matmul(ops.transpose(inputs), _backend.spaced(grads))
        return columns(found, grads.shape[-1])

    def at_once():
        return times(inputs, grads)

    def in_parts():
        count = ops.shape(grads)[0] // _ROWS

        def add(total, index):
            here = [
                ops.slice(x, (index * _ROWS, 0), (_ROWS, x.shape[-1]))
                for x in (inputs, grads)
            ]
            return total + times(*here), ()

        rest = times(inputs[count * _ROWS :], grads[count * _ROWS :])
        return _backend.scan(add, rest, count)[0]

    rows = ops.shape(grads)[0]
    if isinstance(rows, int):
        return in_parts() if rows > _ROWS else at_once()
    if not ops.is_tensor(rows):
        return at_once()  # a symbolic size, which JAX does not compare
    return _backend.either(rows > _ROWS, in_parts, at_once)
