"""The weights of one LSTM or GRU cell, as PyTorch names and orders them."""

import re
from collections.abc import Mapping

import keras
from keras import ops

from kerasrnn.layers.weights.stacks import class_of
from kerasrnn.layers.weights.stacks import shown
from kerasrnn.layers.weights.stacks import weights_of

# Where each gate of PyTorch stands in Keras, and the other way round:
# i, f, g, o in both; r, z, n there and z, r, h here.
ORDERS = {keras.layers.LSTMCell: [0, 1, 2, 3], keras.layers.GRUCell: [1, 0, 2]}
_TORCH_NAME = re.compile(r"(weight|bias)_(ih|hh|hr)_l\d+(_reverse)?")


def names_of(direction):
    """Returns PyTorch's names of the weights, in its order."""
    kinds = ["weight", "bias"] if direction.cell.use_bias else ["weight"]
    return [
        f"{kind}_{of}{direction.suffix}"
        for kind in kinds
        for of in ("ih", "hh")
    ]


def torch_arrays(source, prefix):
    """Returns what a recurrent module holds below a prefix, as arrays."""
    state = source.state_dict() if hasattr(source, "state_dict") else source
    if not isinstance(state, Mapping):
        raise ValueError(
            "`source` must be a module of PyTorch, its `state_dict()` or a "
            f"mapping of arrays. Received: {source!r}"
        )
    found = {}
    for name, value in state.items():
        short = name.removeprefix(prefix)
        if name.startswith(prefix) and _TORCH_NAME.fullmatch(short):
            found[short] = array_of(value)
    if not found:
        others = sorted(
            {
                name[: match.start()]
                for name in state
                if (match := _TORCH_NAME.search(name))
                and match.end() == len(name)
            }
        )
        raise ValueError(
            "`source` must hold weights named as those of `torch.nn.LSTM` and "
            f"`GRU`, such as {prefix + 'weight_ih_l0'!r}. Received: "
            f"prefix={prefix!r} and the names {list(state)}"
            + (f". `prefix` could be one of {others}" if others else "")
        )
    return found


def array_of(value):
    """Returns a NumPy array, also of a tensor of PyTorch on any device."""
    if hasattr(value, "detach"):
        # NumPy has no bfloat16, and float64 holds the others exactly.
        return value.detach().cpu().double().numpy()
    return ops.convert_to_numpy(value)


def check_names(expected, found, prefix):
    """Raises `ValueError` unless a source has these weights, and no others.

    Args:
        expected: Names of weights in PyTorch.
        found: Arrays by name, as `torch_arrays` returns them.
        prefix: String before the names in the source, for the message.
    """
    projections = [prefix + name for name in found if "_hr_" in name]
    if projections:
        raise ValueError(
            "`source` must have `proj_size=0`: the layers here do not project "
            f"their outputs. Received: {projections}"
        )
    missing = [prefix + name for name in expected if name not in found]
    unknown = [prefix + name for name in found if name not in expected]
    if missing or unknown:
        raise ValueError(
            "`source` must hold the weights of `target` and no others: the "
            "same number of layers and directions, and biases where `use_bias` "
            f"is set. Received: a source without {missing}, which `target` "
            f"has, and with {unknown}, which it does not have."
        )


def check_shapes(direction, width, found, prefix):
    """Raises `ValueError` unless each weight has the shape of its direction.

    Args:
        direction: The `Direction`.
        width: Integer, width of its input.
        found, prefix: As of `check_names`.
    """
    units = direction.cell.units
    rows = len(ORDERS[class_of(direction.cell)]) * units
    shapes = [(rows, width), (rows, units), (rows,), (rows,)]
    for name, shape in zip(names_of(direction), shapes, strict=False):
        if found[name].shape != shape:
            kind = shown(class_of(direction.cell))
            raise ValueError(
                f"{prefix + name!r} must have the shape {shape}, for "
                f"`{direction.place}`: {kind}, units={units}, input "
                f"width={width}. Received: {found[name].shape}"
            )


def reordered(array, cell):
    """Swaps the gates, which lie along the first axis."""
    order = ORDERS[class_of(cell)]
    gates = array.reshape(len(order), cell.units, *array.shape[1:])
    return gates[order].reshape(array.shape)


def from_torch(direction, found):
    """Returns the arrays of a cell in the order of its weights."""
    cell = direction.cell
    arrays = [reordered(found[name], cell) for name in names_of(direction)]
    kernels, biases = [array.T for array in arrays[:2]], arrays[2:]
    if not biases:
        return kernels
    if class_of(cell) is keras.layers.GRUCell:
        return [*kernels, ops.stack(biases)]
    return [*kernels, biases[0] + biases[1]]


def to_torch(cell):
    """Returns the arrays of a cell in the order of `names_of`."""
    arrays = []
    for weight in weights_of(cell):
        dtype = keras.backend.standardize_dtype(weight.dtype)
        dtype = dtype if dtype == "float64" else "float32"
        arrays.append(ops.convert_to_numpy(ops.cast(weight, dtype)))
    kernels, biases = [array.T for array in arrays[:2]], arrays[2:]
    if biases and class_of(cell) is keras.layers.GRUCell:
        biases = list(biases[0])
    elif biases:
        biases.append(ops.convert_to_numpy(ops.zeros_like(biases[0])))
    return [reordered(array, cell) for array in kernels + biases]
