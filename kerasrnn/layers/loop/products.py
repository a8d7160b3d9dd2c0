"""The matrix products of a step."""

import contextlib
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


def join(parts):
    """Joins tensors along their last axis."""
    parts = list(parts)
    return parts[0] if len(parts) == 1 else ops.concatenate(parts, axis=-1)


def shares(x, count):
    """Splits the last axis into parts of equal width."""
    return [x] if count == 1 else ops.split(x, count, axis=-1)


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


def multiply(x, kernel, mask=None, width=None):
    """Multiplies in the dtype of the kernel; returns float32 or wider.

    Args:
        x: Tensor of shape `(..., dim)`.
        kernel: Tensor of shape `(dim, width)`, or wider.
        mask: Optional dropout mask of `x`.
        width: Columns of the kernel that count; `None` for all.
    """
    x = x if mask is None else x * ops.cast(mask, x.dtype)
    return wide(columns(ops.matmul(ops.cast(x, kernel.dtype), kernel), width))


def columns(x, width):
    """Returns the first columns, without a copy if there are no more."""
    return x if width in (None, x.shape[-1]) else x[..., :width]


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
_OF_THE_LOOP = contextvars.ContextVar("product", default=None)


def of_the_loop():
    """Returns the product of the loop around this step, or `None`.

    What a step calls, such as an attention mechanism, multiplies with it
    instead of being handed it.
    """
    return _OF_THE_LOOP.get()


class Product:
    """The function `product` that a step gets, for one step alone.

    Args:
        dtype: The dtype to multiply in.
        masks: List of the dropout masks of the state, `(batch, units)`: one,
            or one for each gate; empty for no dropout.
    """

    def __init__(self, dtype, masks=()):
        self.dtype = dtype
        self.masks = list(masks)

    def __call__(self, x, kernel, plus=None, drop=False):
        """Returns `x K + plus`, in float32 or wider.

        Args:
            x: Tensor of shape `(batch, dim)`.
            kernel: A weight of the cell, or a `Kernel`, of shape
                `(dim, width)`; or a list of them, side by side.
            plus: What to add: a part of `given`, a weight, or any tensor.
            drop: Whether `x` is dropped out with the masks of the state: with
                one, or for each gate with its own. A list of gates says that
                `kernel` is that of these alone.
        """
        masks = self.masks_of(drop, x)
        found = self.multiply(x, as_list(kernel), masks)
        if plus is None:
            return found
        return found + ops.cast(value_of(plus), found.dtype)

    @contextlib.contextmanager
    def in_a_loop(self):
        """A scope in which this is the product `of_the_loop`."""
        token = _OF_THE_LOOP.set(self)
        try:
            yield
        finally:
            _OF_THE_LOOP.reset(token)

    def with_masks(self, masks):
        """Returns the same product with other masks of the state."""
        other = copy.copy(self)
        other.masks = list(masks)
        return other

    def multiply(self, x, kernels, masks):
        """Returns the products of each mask's share of the kernels."""
        if len(masks) == 1:
            return join(
                multiply(x, self.cast(kernel), *masks) for kernel in kernels
            )
        parts = shares(join(map(self.cast, kernels)), len(masks))
        return join(map(multiply, [x] * len(masks), parts, masks))

    def cast(self, kernel):
        """Returns the value of a kernel, in the dtype to multiply in."""
        return ops.cast(value_of(kernel), self.dtype)

    def masks_of(self, drop, x):
        """Returns the masks of a product of `x`: `[None]` for no dropout."""
        if drop is False or not self.masks:
            return [None]
        first, *others = self.masks
        if first.shape[-1] != x.shape[-1]:
            raise ValueError(
                "`drop=True` drops out what has the width of the first state. "
                f"Expected: a width of {first.shape[-1]}. Received: a tensor "
                f"of shape {tuple(x.shape)}"
            )
        if drop is True or not others:
            return self.masks
        return [self.masks[gate] for gate in drop]


def may_multiply(kernel):
    """Whether it is a weight, a `Kernel`, or a list of them."""
    kernels = kernel if isinstance(kernel, (list, tuple)) else [kernel]
    return all(isinstance(x, (keras.Variable, Kernel)) for x in kernels)


def as_list(kernel):
    """Returns a list of kernels, checked."""
    kernels = list(kernel) if isinstance(kernel, (list, tuple)) else [kernel]
    for each in kernels:
        if not may_multiply(each):
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
    if keras.backend.standardize_dtype(kernel.dtype) == "bfloat16":
        return lambda x: ops.einsum("bj,ij->bi", x, kernel)
    transposed = _backend.spaced(ops.transpose(kernel))
    return lambda x: columns(ops.matmul(x, transposed), kernel.shape[0])


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
