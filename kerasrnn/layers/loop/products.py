"""The matrix products of one step, and of all steps at once.

A kernel is a matrix `(dim, width)` or block-diagonal. A block-diagonal kernel
has the shape `(heads, dim / heads, gates, units / heads)`: each head multiplies
a part of the vector. The product has the width `gates * units`, and each gate
contains one head after the other.
"""

import contextvars
import copy
import dataclasses
import itertools
from typing import Any

import keras
from keras import ops

from kerasrnn.layers.precision import is_float
from kerasrnn.layers.precision import wide
from kerasrnn.layers.precision import wide_dtype
from kerasrnn.typing import Shape


def join(parts):
    """Joins tensors along their last axis."""
    parts = list(parts)
    return parts[0] if len(parts) == 1 else ops.concatenate(parts, axis=-1)


def split_at(x, *widths):
    """Splits the last axis into parts of given widths and the rest."""
    return ops.split(x, list(itertools.accumulate(widths)), axis=-1)


def rows_of(x):
    """Returns a list of the rows; PyTorch can only unstack tensors."""
    return ops.unstack(ops.convert_to_tensor(x))


def width_of(kernel):
    """Returns the width of the products with a kernel."""
    if len(kernel.shape) == 2:
        return kernel.shape[-1]
    heads, _, gates, units = kernel.shape
    return heads * gates * units


def multiply(x, kernel):
    """Returns the product in the dtype of the kernel.

    Args:
        x: Tensor of shape `(..., dim)`; `(batch, dim)` for a block-diagonal
            kernel.
        kernel: The kernel.
    """
    x = ops.cast(x, kernel.dtype)
    if len(kernel.shape) == 2:
        return ops.matmul(x, kernel)
    x = ops.reshape(x, (ops.shape(x)[0], *kernel.shape[:2]))
    found = ops.einsum("bhd,hdgu->bghu", x, kernel)
    return ops.reshape(found, (ops.shape(x)[0], width_of(kernel)))


def dropped(x, mask):
    """Returns a tensor after dropout; unchanged if the mask is `None`."""
    return x if mask is None else x * ops.cast(mask, x.dtype)


@dataclasses.dataclass(frozen=True, eq=False)
class Fixed:
    """Marks a tensor that is the same at every step, in a result of `given`.

    Args:
        value: Tensor of any shape, such as a bias.

    Example:

    >>> given = {"inputs": np.ones((5, 2, 3)), "scale": Fixed(np.ones(3))}
    """

    value: Any


@dataclasses.dataclass(frozen=True, eq=False)
class Kernel:
    """Marks a matrix that a cell computes from its weights, for its products.

    It is computed once for a whole sequence, so it must depend on nothing but
    the weights.

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


# The `product` of the loop whose step is being computed.
OF_THE_LOOP = contextvars.ContextVar("product", default=None)
# Returns that product, or `None`. Cells and attention mechanisms that a step
# calls multiply with it, without getting it as an argument.
of_the_loop = OF_THE_LOOP.get


class Product:
    """The function `product` that a step gets, for a single step.

    Args:
        dtype: The dtype to multiply in.
        mask: The dropout mask of the state, `(batch, units)`; `None` for no
            dropout.

    Attributes:
        results: List of the results so far.
    """

    def __init__(self, dtype, mask=None):
        self.dtype = dtype
        self.mask = mask
        self.results = []

    def __call__(self, x, kernel, plus=None, drop=False):
        """Returns `x K + plus`, in float32 or wider.

        Args:
            x: Tensor of shape `(batch, dim)`.
            kernel: A weight of the cell, or a `Kernel`, of shape `(dim, width)`
                or block-diagonal; or a list of matrices, side by side.
            plus: What to add: a part of `given`, a weight, or any tensor.
            drop: Whether to apply the dropout mask of the state to `x`.
        """
        x = dropped(x, self.mask if drop else None)
        found = wide(self.multiply(x, kernel))
        if plus is not None:
            found = found + ops.cast(value_of(plus), found.dtype)
        self.results.append(found)
        return found

    def with_mask(self, mask):
        """Returns the same product with another dropout mask of the state."""
        other = copy.copy(self)
        other.mask = mask
        return other

    def multiply(self, x, kernel):
        """Multiplies by kernels that are joined side by side."""
        return multiply(x, joined(as_list(kernel), self.dtype))


def joined(kernels, dtype):
    """Joins kernels side by side, in the dtype to multiply in."""
    return join([ops.cast(value_of(x), dtype) for x in kernels])


def may_multiply(kernel):
    """Whether `kernel` is a weight, a `Kernel`, or a list of them."""
    return all(isinstance(x, (keras.Variable, Kernel)) for x in as_list(kernel))


def as_list(kernel):
    """Returns a list of one or more kernels."""
    return list(kernel) if isinstance(kernel, (list, tuple)) else [kernel]


def value_of(x):
    """Returns the tensor of a weight or marked tensor; others unchanged."""
    while isinstance(x, (keras.Variable, Kernel, Fixed)):
        x = x.value
    return x


def fixed_value(x, dtype):
    """Returns the tensor of a `Fixed`; arrays of floats become float32."""
    value = value_of(x)
    tensor = ops.convert_to_tensor(value)
    is_array = not ops.is_tensor(value) and is_float(tensor)
    return ops.cast(tensor, wide_dtype(dtype)) if is_array else tensor


def times_transposed(kernel):
    """Returns the function `x -> x K'`, for many calls with one kernel.

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
    turned = ops.transpose(kernel)
    return lambda x: ops.matmul(x, turned)


def kernel_gradient(inputs, grads, shape):
    """Returns the gradient of a kernel, as one product over all steps.

    Args:
        inputs: The inputs of its products, `(..., dim)`.
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
    return ops.matmul(ops.transpose(inputs), grads)


def summed_to(grads, shape):
    """Sums gradients over the axes along which `shape` was broadcast.

    Args:
        grads: Tensor of shape `(..., width)`.
        shape: The shape of the tensor that was broadcast.
    """
    grads = wide(grads)
    missing = len(grads.shape) - len(shape)
    axes = [missing + axis for axis, size in enumerate(shape) if size == 1]
    axes = [*range(missing), *axes]
    grads = ops.sum(grads, axis=axes, keepdims=True) if axes else grads
    return ops.squeeze(grads, tuple(range(missing))) if missing else grads
