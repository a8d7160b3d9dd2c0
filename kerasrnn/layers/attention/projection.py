"""Projections of the last axis, within loops and outside."""

import keras
from keras import ops

from kerasrnn.layers.loop.products import may_multiply
from kerasrnn.layers.loop.products import of_the_loop

_LINEAR = keras.activations.linear


def over_last(project, x):
    """Projects the last axis, as one product of two matrices.

    With more than two axes TensorFlow would use `tensordot`, which would take
    most of the time of a decoding step, and which XLA rejects in a loop.

    In a loop over time, products of one vector for each row are that loop's.

    Args:
        project: Function of a tensor of shape `(rows, dim)`, such as a `Dense`
            layer, or a matrix to multiply by, in the dtype of `x`.
        x: Tensor of shape `(..., dim)`.

    Returns:
        Tensor of shape `(..., width)`.
    """
    flat = ops.reshape(x, (-1, x.shape[-1]))
    product = of_the_loop()
    kernel, bias = _weights_of(project)
    one_each = all(size == 1 for size in x.shape[1:-1])
    if product and one_each and may_multiply(kernel):
        # As the layer would return it.
        dtype = getattr(project, "compute_dtype", x.dtype)
        flat = ops.cast(product(flat, kernel, bias), dtype)
    elif callable(project):
        flat = project(flat)
    else:
        flat = ops.matmul(flat, ops.cast(project, x.dtype))
    return ops.reshape(flat, (*ops.shape(x)[:-1], flat.shape[-1]))


def _weights_of(project):
    """Returns kernel and bias of a plain `Dense` layer, or a kernel alone."""
    if not isinstance(project, keras.layers.Dense):
        return project, None
    if project.quantization_mode or project.activation is not _LINEAR:
        return None, None
    return project.kernel, project.bias
