"""Products, normalization, and their gradients over all steps at once.

All sequences in this part of the package are `(time, batch, width)`.
"""

import keras
from keras import ops

# As in the layers of TensorFlow Addons, and of Keras.
_EPSILON = 1e-3


def wide(x):
    """Casts to float32, unless the dtype is wider already."""
    return ops.cast(x, keras.backend.result_type(x.dtype, "float32"))


def product(inputs, kernel):
    """Multiplies in the dtype of the kernel; returns float32 or wider."""
    return wide(ops.matmul(ops.cast(inputs, kernel.dtype), kernel))


def join(*parts):
    """Joins tensors along their last axis."""
    return ops.concatenate(parts, axis=-1)


def split_at(x, *widths):
    """Splits the last axis into parts of given widths, and what remains."""
    ends, total = [], 0
    for width in widths:
        total += width
        ends.append(total)
    return ops.split(x, ends, axis=-1)


def times_transposed(kernel):
    """Returns the function `x -> x K'` for many calls with one kernel.

    On a CPU, float32 products take half the time with a kernel that is already
    transposed, but bfloat16 products are faster with one that is not.
    """
    if kernel.dtype == "bfloat16":
        return lambda x: ops.einsum("bj,ij->bi", x, kernel)
    transposed = ops.transpose(kernel)
    return lambda x: ops.matmul(x, transposed)


class GateProducts:
    """The products of a state with the kernels of several gates.

    Args:
        kernel: Tensor of shape `(units, gates * units)`, in the dtype of the
            products.
        masks: Dropout mask of the state, `(batch, units)`, a list of one for
            each gate, or `None`.
    """

    def __init__(self, kernel, masks=None):
        self.masks = masks if isinstance(masks, list) else [masks]
        self.kernels = ops.split(kernel, len(self.masks), axis=-1)

    def dropped(self, states):
        """Applies the masks of the products to their states or gradients."""
        return [
            state if mask is None else state * mask
            for state, mask in zip(states, self.masks, strict=True)
        ]

    def forward(self, state):
        """Returns the products, `(..., gates * units)`."""
        states = self.dropped([state] * len(self.masks))
        return join(*map(product, states, self.kernels))

    def transpose(self):
        """Prepares for `back`, before its loop."""
        self.kernels_back = [times_transposed(k) for k in self.kernels]

    def back(self, grad):
        """Returns the gradient of the state, from that of the products."""
        parts = ops.split(grad, len(self.masks), axis=-1)
        grads = self.dropped(
            wide(back(part))
            for back, part in zip(self.kernels_back, parts, strict=True)
        )
        return sum(grads[1:], start=grads[0])

    def gradient(self, states, grads):
        """Returns the gradient of the kernel, summed over all steps."""
        states = self.dropped([states] * len(self.masks))
        parts = ops.split(grads, len(self.masks), axis=-1)
        return join(*map(kernel_gradient, states, parts))


def kernel_gradient(inputs, preactivations):
    """Returns the gradient of a kernel, in one product over all steps.

    Args:
        inputs: What the kernel multiplied, `(time, batch, input_dim)`.
        preactivations: Gradients of its products, `(time, batch, width)`, in
            the dtype to multiply in.

    Returns:
        Tensor of shape `(input_dim, width)`, in that dtype.
    """
    inputs, preactivations = (
        ops.reshape(ops.cast(x, preactivations.dtype), (-1, x.shape[-1]))
        for x in (inputs, preactivations)
    )
    return ops.matmul(ops.transpose(inputs), preactivations)


def bias_gradient(preactivations):
    """Returns a bias's gradient `(width,)`, from `(time, batch, width)`."""
    return ops.sum(wide(preactivations), axis=(0, 1))


def normalized(x, gates, units):
    """Normalizes each gate over its units (Ba et al. 2016, equation 4).

    Args:
        x: Tensor of shape `(batch, gates * units)`.
        gates: Integer, number of gates.
        units: Integer, units in a gate.

    Returns:
        The normalized tensor, of shape `(batch, gates, units)` and in float32
        or wider, and the reciprocal standard deviations, `(batch, gates, 1)`.
    """
    x = ops.reshape(wide(x), (-1, gates, units))
    x = x - ops.mean(x, axis=-1, keepdims=True)
    variance = ops.mean(ops.square(x), axis=-1, keepdims=True)
    inverse = ops.rsqrt(variance + _EPSILON)
    return x * inverse, inverse


def normalized_back(grad, normal, inverse):
    """Returns the gradient of the argument `x` of `normalized`.

    Args:
        grad: Gradient of its result, `(batch, gates, units)`.
        normal: Its result.
        inverse: The reciprocal standard deviations.

    Returns:
        Tensor of shape `(batch, gates * units)`.
    """
    along = ops.mean(grad * normal, axis=-1, keepdims=True)
    mean = ops.mean(grad, axis=-1, keepdims=True)
    grad = (grad - mean - normal * along) * inverse
    return ops.reshape(grad, (-1, grad.shape[1] * grad.shape[2]))
