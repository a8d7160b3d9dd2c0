"""The matrix products of a step, and those of all steps at once.

A kernel is a matrix `(dim, width)`, or block-diagonal: each of its `heads`
multiplies a part of the vector. Then it has four axes, `(heads, dim / heads,
gates, units / heads)`, and the product has the width `gates * units`, in each
gate one head after the other.
"""

import contextvars
import copy
import dataclasses
from typing import Any

import keras
from keras import ops

from kerasrnn.layers import _backend
from kerasrnn.layers.precision import is_float
from kerasrnn.layers.precision import wide
from kerasrnn.layers.precision import wide_dtype
from kerasrnn.typing import Shape

# Rows of a part of a product over all steps.
_ROWS = 2048


def join(parts):
    """Joins tensors along their last axis."""
    parts = list(parts)
    return parts[0] if len(parts) == 1 else ops.concatenate(parts, axis=-1)


def split_at(x, *widths):
    """Splits the last axis into parts of given widths, and what remains."""
    ends, total = [], 0
    for width in widths:
        total += width
        ends.append(total)
    return ops.split(x, ends, axis=-1)


def rows_of(x):
    """Returns a list of the rows; PyTorch unstacks tensors only."""
    return ops.unstack(ops.convert_to_tensor(x))


def width_of(kernel):
    """Returns the width of the products with a kernel."""
    if len(kernel.shape) == 2:
        return kernel.shape[-1]
    heads, _, gates, units = kernel.shape
    return heads * gates * units


def multiply(x, kernel, width):
    """Returns the product in the dtype of the kernel.

    Args:
        x: Tensor of shape `(..., dim)`; `(batch, dim)` for a block-diagonal
            kernel.
        kernel: The kernel; a matrix may have more columns than count.
        width: Width of the product.
    """
    x = ops.cast(x, kernel.dtype)
    if len(kernel.shape) == 2:
        x = ops.matmul(x, kernel)
        return x if width == x.shape[-1] else x[..., :width]
    x = ops.reshape(x, (ops.shape(x)[0], *kernel.shape[:2]))
    found = ops.einsum("bhd,hdgu->bghu", x, kernel)
    return ops.reshape(found, (ops.shape(x)[0], width))


@dataclasses.dataclass(frozen=True, eq=False)
class Fixed:
    """Marks what is the same at every step, among what a cell has `given`.

    Args:
        value: Tensor of any shape, such as a bias.

    Example:

    >>> given = {"inputs": np.ones((5, 2, 3)), "scale": Fixed(np.ones(3))}
    """

    value: Any


@dataclasses.dataclass(frozen=True, eq=False)
class Kernel:
    """Marks a matrix that a cell makes of its weights, for its products.

    It is made once for a whole sequence, so nothing else may enter it.

    Args:
        value: Tensor of shape `(dim, width)`.

    Example:

    >>> given = {"inputs": np.ones((5, 2, 3)), "turned": Kernel(np.eye(3))}
    """

    value: Any

    @property
    def shape(self) -> Shape:
        """The shape of the matrix."""
        return self.value.shape


# The product of the loop whose step is being computed.
OF_THE_LOOP = contextvars.ContextVar("product", default=None)
# That product, or `None`. What a step calls, such as an attention mechanism or
# a cell, multiplies with it instead of being handed it.
of_the_loop = OF_THE_LOOP.get


class Product:
    """The function `product` that a step gets, for one step alone.

    Args:
        dtype: The dtype to multiply in.
        mask: The dropout mask of the state, `(batch, units)`; `None` for no
            dropout.
    """

    def __init__(self, dtype, mask=None):
        self.dtype = dtype
        self.mask = mask

    def __call__(self, x, kernel, plus=None, drop=False):
        """Returns `x K + plus`, in float32 or wider.

        Args:
            x: Tensor of shape `(batch, dim)`.
            kernel: A weight of the cell, or a `Kernel`, of shape
                `(dim, width)`, or block-diagonal; or a list of matrices, side
                by side.
            plus: What to add: a part of `given`, a weight, or any tensor.
            drop: Whether `x` is dropped out with the mask of the state.
        """
        if drop and self.mask is not None:
            x = x * ops.cast(self.mask_of(x), x.dtype)
        found = wide(self.multiply(x, as_list(kernel)))
        if plus is None:
            return found
        return found + ops.cast(value_of(plus), found.dtype)

    def with_mask(self, mask):
        """Returns the same product with another mask of the state."""
        other = copy.copy(self)
        other.mask = mask
        return other

    def multiply(self, x, kernels):
        """Returns the product with kernels side by side."""
        kernel = self.joined(kernels)
        return multiply(x, kernel, width_of(kernel))

    def joined(self, kernels):
        """Returns kernels side by side, in the dtype to multiply in."""
        return join(ops.cast(value_of(x), self.dtype) for x in kernels)

    def mask_of(self, x):
        """Returns the mask of the state, for a product of `x`."""
        if self.mask.shape[-1] != x.shape[-1]:
            raise ValueError(
                "`drop=True` drops out what has the width of the first state. "
                f"Expected: a width of {self.mask.shape[-1]}. Received: a "
                f"tensor of shape {tuple(x.shape)}"
            )
        return self.mask


def may_multiply(kernel):
    """Whether it is a weight, a `Kernel`, or a list of them."""
    kernels = kernel if isinstance(kernel, (list, tuple)) else [kernel]
    return all(isinstance(x, (keras.Variable, Kernel)) for x in kernels)


def as_list(kernel):
    """Returns a list of kernels, checked."""
    kernels = list(kernel) if isinstance(kernel, (list, tuple)) else [kernel]
    for each in kernels:
        if not isinstance(each, (keras.Variable, Kernel)):
            raise TypeError(
                "`product` multiplies by a weight of the cell. A kernel that "
                "is made of weights is made before the loop: return "
                "`Kernel(...)` from `given`. Received: a kernel of type "
                f"{type(each).__name__}"
            )
    return kernels


def value_of(x):
    """Returns the tensor of a weight, or of what is marked; others as is."""
    while isinstance(x, (keras.Variable, Kernel, Fixed)):
        x = x.value
    return x


def fixed_value(x, dtype):
    """Returns the tensor of a `Fixed`; an array of floats becomes wide."""
    value = value_of(x)
    tensor = ops.convert_to_tensor(value)
    if ops.is_tensor(value) or not is_float(tensor):
        return tensor
    return ops.cast(tensor, wide_dtype(dtype))


def times_transposed(kernel):
    """Returns the function `x -> x K'` for many calls with one kernel.

    On a CPU, float32 products take half the time with a kernel that is already
    transposed, but bfloat16 products are faster with one that is not.
    """
    if len(kernel.shape) == 4:
        turned = ops.transpose(kernel, (0, 2, 3, 1))
        heads, gates, units, dim = turned.shape

        def blocks(x):
            x = ops.reshape(x, (ops.shape(x)[0], gates, heads, units))
            x = ops.einsum("bghu,hgud->bhd", x, turned)
            return ops.reshape(x, (ops.shape(x)[0], heads * dim))

        return blocks
    if keras.backend.standardize_dtype(kernel.dtype) == "bfloat16":
        return lambda x: ops.einsum("...j,ij->...i", x, kernel)
    turned = _backend.spaced(ops.transpose(kernel))
    return lambda x: multiply(x, turned, kernel.shape[0])


def multiply_all(x, kernel):
    """Multiplies all steps in one product, with its own gradient.

    On a CPU, that of the kernel takes half the time of what TensorFlow or XLA
    make of the product.

    Args:
        x: Tensor of shape `(..., dim)`.
        kernel: Tensor of shape `(dim, width)`, in the dtype to multiply in.

    Returns:
        Tensor of shape `(..., width)`, in float32 or wider.
    """

    @_backend.custom_gradient
    def times(x, kernel):
        def gradient(grads):
            (grads,) = grads
            before = ops.matmul(grads, ops.transpose(kernel))
            return before, kernel_gradient(x, grads, kernel.shape)

        return ops.matmul(x, kernel), gradient

    return wide(times(ops.cast(x, kernel.dtype), kernel))


def kernel_gradient(inputs, grads, shape):
    """Returns the gradient of a kernel, a product over all steps.

    Args:
        inputs: What the kernel multiplied, `(..., dim)`.
        grads: Gradients of its products, `(..., width)`, in the dtype to
            multiply in.
        shape: The shape of the kernel.

    Returns:
        Tensor of that shape and dtype.
    """
    inputs, grads = (
        ops.reshape(ops.cast(x, grads.dtype), (-1, x.shape[-1]))
        for x in (inputs, grads)
    )
    if len(shape) == 4:
        heads, dim, gates, units = shape
        inputs = ops.reshape(inputs, (-1, heads, dim))
        grads = ops.reshape(grads, (-1, gates, heads, units))
        return ops.einsum("nhd,nghu->hdgu", inputs, grads)
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
        spaced = _backend.spaced(grads)
        return multiply(ops.transpose(inputs), spaced, grads.shape[-1])

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


def summed_to(grads, shape):
    """Sums gradients over the axes that a tensor of `shape` lacks, or has 1 of.

    Args:
        grads: Tensor of shape `(..., width)`.
        shape: The shape of what was added to tensors of that shape.
    """
    grads = wide(grads)
    missing = len(grads.shape) - len(shape)
    axes = list(range(missing))
    axes += [missing + axis for axis, size in enumerate(shape) if size == 1]
    axes = [axis for axis in axes if grads.shape[axis] != 1 or axis < missing]
    grads = ops.sum(grads, axis=axes, keepdims=True) if axes else grads
    return ops.squeeze(grads, tuple(range(missing))) if missing else grads
