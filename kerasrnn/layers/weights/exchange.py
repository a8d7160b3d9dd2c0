"""Weights of LSTM and GRU layers, exchanged with Keras and PyTorch."""

import collections
import re
from collections.abc import Sequence
from typing import Any
from typing import TypeAlias

import keras
from keras import ops

from kerasrnn.layers.recurrent.gru import FastGRUCell
from kerasrnn.layers.recurrent.lstm import FastLSTMCell
from kerasrnn.saving import build_once
from kerasrnn.typing import Tensor

# Keras's cells, each with our cell that has the same weights.
_OURS: dict[type, type] = {
    keras.layers.LSTMCell: FastLSTMCell,
    keras.layers.GRUCell: FastGRUCell,
}
# `place` is the layer as the caller writes it, such as `target[1]`. `suffix` is
# the end of the names of its weights in PyTorch, as in `weight_ih_l1`.
Direction = collections.namedtuple("Direction", "place suffix cell")


def class_of(cell):
    """Returns Keras's class with the same weights as a cell, or `None`."""
    found = (x for x, ours in _OURS.items() if isinstance(cell, (x, ours)))
    return next(found, None)


def shown(value):
    """Returns a value for messages; a class of cells as its layer's name."""
    return getattr(value, "__name__", repr(value)).removesuffix("Cell")


def stacked(name, layers):
    """Returns the directions of each layer of an argument."""
    several = isinstance(layers, (list, tuple))
    stack = []
    for i, layer in enumerate(layers if several else [layers]):
        place = f"{name}[{i}]" if several else name
        directions = {"": (place, layer)}
        if isinstance(layer, keras.layers.Bidirectional):
            directions = {
                "": (f"{place}.forward_layer", layer.forward_layer),
                "_reverse": (f"{place}.backward_layer", layer.backward_layer),
            }
        stack.append(
            [
                _direction(where, f"_l{i}{end}", inner)
                for end, (where, inner) in directions.items()
            ]
        )
    return stack


def _direction(place, suffix, layer):
    cell = layer.cell if isinstance(layer, keras.layers.RNN) else layer
    if class_of(cell) is None:
        raise ValueError(
            f"`{place}` must be an LSTM or GRU of Keras or of this package, or "
            f"a layer that runs such a cell. Received: {layer!r}"
        )
    return Direction(place, suffix, cell)


def stacked_source(layers):
    """Returns the layers of `source` as `stacked` does, which have weights."""
    stack = stacked("source", layers)
    for direction in sum(stack, []):
        if not direction.cell.built:
            raise ValueError(
                f"`{direction.place}` must be built, so that it has weights. "
                f"Received: {direction.cell!r}, which is not built."
            )
    return stack


def properties_of(cell):
    """Returns the properties that must agree, by name."""
    properties = {
        "class": class_of(cell),
        "units": cell.units,
        "use_bias": cell.use_bias,
        "activation": cell.activation,
        "recurrent_activation": cell.recurrent_activation,
        "layer_norm": getattr(cell, "layer_norm", False),
    }
    if class_of(cell) is keras.layers.GRUCell:
        properties["reset_after"] = cell.reset_after
    if cell.built:
        properties["input width"] = cell.kernel.shape[0]
    return properties


def check_properties(direction, expected, why):
    """Raises an error that names each property that differs."""
    properties = properties_of(direction.cell)
    wrong = [
        name
        for name in expected
        if name in properties and properties[name] != expected[name]
    ]
    if wrong:
        wanted, received = (
            ", ".join(f"{name}={shown(of[name])}" for name in wrong)
            for of in (expected, properties)
        )
        raise ValueError(
            f"`{direction.place}` must have {wanted}{why}. Received: {received}"
        )


def build_all(layers, widths):
    """Builds the layers that are not built yet, for inputs of given widths."""
    if not isinstance(layers, (list, tuple)):
        layers = [layers]
    for layer, width in zip(layers, widths, strict=True):
        runs = isinstance(layer, (keras.layers.RNN, keras.layers.Bidirectional))
        build_once(layer, (None, None, width) if runs else (None, width))


# The position of each of PyTorch's gates in Keras, and vice versa: i, f, g, o
# in both; r, z, n in PyTorch and z, r, h in Keras.
ORDERS = {keras.layers.LSTMCell: [0, 1, 2, 3], keras.layers.GRUCell: [1, 0, 2]}
_TORCH_NAME = re.compile(r"(weight|bias)_(ih|hh|hr)_l\d+(_reverse)?")


def names_of(direction):
    """Returns PyTorch's names of the weights, in PyTorch's order."""
    kinds = ["weight", "bias"] if direction.cell.use_bias else ["weight"]
    return [
        f"{kind}_{of}{direction.suffix}"
        for kind in kinds
        for of in ("ih", "hh")
    ]


def torch_arrays(source, prefix):
    """Returns the weights below a prefix of a recurrent module, as arrays."""
    state = source.state_dict() if hasattr(source, "state_dict") else source
    found = {
        name.removeprefix(prefix): array_of(value)
        for name, value in state.items()
        if name.startswith(prefix) and _TORCH_NAME.fullmatch(name, len(prefix))
    }
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
            "`source` must hold weights named like those of `torch.nn.LSTM` "
            f"and `GRU`, such as {prefix + 'weight_ih_l0'!r}. Received: "
            f"prefix={prefix!r} and the names {list(state)}"
            + (f". `prefix` could be one of {others}" if others else "")
        )
    return found


def array_of(value):
    """Returns a NumPy array, even from a PyTorch tensor on any device."""
    if hasattr(value, "detach"):
        # NumPy has no bfloat16, and float64 represents the others exactly.
        return value.detach().cpu().double().numpy()
    return ops.convert_to_numpy(value)


def torch_shapes(direction, width):
    """Returns the shapes of PyTorch's weights by name, for an input width."""
    units = direction.cell.units
    rows = len(ORDERS[class_of(direction.cell)]) * units
    shapes = [(rows, width), (rows, units), (rows,), (rows,)]
    return dict(zip(names_of(direction), shapes, strict=False))


def reordered(array, cell):
    """Reorders the gates along the first axis."""
    order = ORDERS[class_of(cell)]
    gates = array.reshape(len(order), cell.units, *array.shape[1:])
    return gates[order].reshape(array.shape)


def from_torch(direction, found):
    """Converts PyTorch's arrays to those of a cell, in its order."""
    cell = direction.cell
    arrays = [reordered(found[name], cell) for name in names_of(direction)]
    kernels, biases = [array.T for array in arrays[:2]], arrays[2:]
    if not biases:
        return kernels
    if class_of(cell) is keras.layers.GRUCell:
        return [*kernels, ops.convert_to_numpy(ops.stack(biases))]
    return [*kernels, biases[0] + biases[1]]


def to_torch(cell):
    """Converts the arrays of a cell to PyTorch's, in order of `names_of`."""
    arrays = [
        x if x.dtype == "float64" else x.astype("float32")
        for x in cell.get_weights()
    ]
    kernels, biases = [array.T for array in arrays[:2]], arrays[2:]
    if biases and class_of(cell) is keras.layers.GRUCell:
        biases = list(biases[0])
    elif biases:
        biases.append(0 * biases[0])
    return [reordered(array, cell) for array in kernels + biases]


Layers: TypeAlias = keras.layers.Layer | Sequence[keras.layers.Layer]

_OF_PYTORCH = {
    "activation": keras.activations.tanh,
    "recurrent_activation": keras.activations.sigmoid,
    "layer_norm": False,
    "reset_after": True,
}


def copy_weights(source: Layers, target: Layers) -> None:
    """Copies weights from Keras's LSTM and GRU to ours, or back.

    Both kinds have the same arrays in the same order. Source and target can be:

    * `keras.layers.LSTM` and `GRU`, `FastLSTM` and `FastGRU`;
    * their cells, or a layer such as `FastRNN` that runs one;
    * `keras.layers.Bidirectional` around any of them;
    * a list of these, copied in order.

    A target that is not built yet is built with the input width of its source.
    Everything is checked before the first weight is set.

    Args:
        source: The layers to copy from, with weights.
        target: The layers to copy to.

    Raises:
        ValueError: when source and target differ in number, direction, class,
            units, biases, activations, `reset_after`, layer normalization or
            the width of the input, or when the source has no weights yet.

    Example:

    >>> x = np.ones((2, 5, 4))
    >>> trained = keras.layers.LSTM(8)
    >>> expected = trained(x)
    >>> fast = FastLSTM(8)
    >>> copy_weights(trained, fast)
    >>> np.allclose(fast(x), expected, atol=1e-5)
    True
    >>> copy_weights(fast, trained)
    """
    sources, targets = stacked_source(source), stacked("target", target)
    numbers = [[len(layer) for layer in stack] for stack in (sources, targets)]
    if numbers[0] != numbers[1]:
        raise ValueError(
            "`target` must have as many layers and directions as `source`. "
            f"Expected directions per layer: {numbers[0]}. Received: "
            f"{numbers[1]}"
        )
    pairs = list(zip(sum(sources, []), sum(targets, []), strict=True))
    for old, new in pairs:
        properties = properties_of(old.cell)
        if not new.cell.built:
            del properties["input width"]
        check_properties(new, properties, f" as `{old.place}` has")
    build_all(target, [layer[0].cell.kernel.shape[0] for layer in sources])
    for old, new in pairs:
        new.cell.set_weights(old.cell.get_weights())


def load_torch_weights(source: Any, target: Layers, prefix: str = "") -> None:
    """Copies the weights of a `torch.nn.LSTM` or `GRU` to layers.

    | PyTorch | here |
    |---|---|
    | `LSTM(4, 8)` | `FastLSTM(8)` |
    | `LSTM(4, 8, bidirectional=True)` | `Bidirectional(FastLSTM(8))` |
    | `LSTM(4, 8, num_layers=2)` | `[FastLSTM(8), FastLSTM(8)]` |
    | `LSTM(4, 8, bias=False)` | `FastLSTM(8, use_bias=False)` |

    PyTorch has two biases per gate. The bias of a `FastLSTM` is their sum, and
    a `FastGRU` has both. A layer that is not built yet is built with the input
    width of its source. Everything is checked before the first weight is set.
    PyTorch need not be installed.

    Args:
        source: The module, its `state_dict()`, or any other mapping from
            PyTorch's names, such as `weight_ih_l0`, to arrays.
        target: The layer, or a list of all layers from the first to the last:
            `FastLSTM`, `FastGRU`, Keras's `LSTM` and `GRU`, their cells, or a
            layer that runs such a cell. For two directions, wrap each in
            `keras.layers.Bidirectional`.
        prefix: The prefix of the names if the mapping holds a whole model, such
            as `"encoder.lstm."`.

    Raises:
        ValueError: when a weight is missing, left over or has another shape,
            when PyTorch's module projects its outputs (`proj_size`), or when a
            layer has `layer_norm`, other activations or `reset_after=False`,
            which PyTorch does not have.

    Example:

    >>> trained = FastGRU(8)
    >>> trained.build((None, None, 4))
    >>> state_dict = torch_weights(trained)
    >>> layer = FastGRU(8)
    >>> load_torch_weights(state_dict, layer)
    >>> x = np.ones((2, 5, 4))
    >>> np.allclose(layer(x), trained(x))
    True
    """
    stack = stacked("target", target)
    found = torch_arrays(source, prefix)
    _check_like_torch("target", target, stack)
    received = {name: array.shape for name, array in found.items()}
    widths: list[int] = []
    expected: dict[str, tuple[int, ...]] = {}
    for layer in stack:
        cell = layer[0].cell
        of_source = received.get(f"weight_ih{layer[0].suffix}", ())
        widths.append(
            cell.kernel.shape[0] if cell.built else sum(of_source[1:])
        )
        for direction in layer:
            expected |= torch_shapes(direction, widths[-1])
    wrong = [
        x for x in expected | received if expected.get(x) != received.get(x)
    ]
    if wrong:
        wanted, given = (
            ", ".join(f"{prefix}{x}: {of.get(x, 'none')}" for x in wrong)
            for of in (expected, received)
        )
        raise ValueError(
            "`source` and `target` must have the same weights: the same kind, "
            "widths and number of layers and directions, biases where "
            "`use_bias` is set, and `proj_size=0`, because our layers do not "
            f"project their outputs. Expected, for `target`: {wanted}. "
            f"Received: {given}"
        )
    values = [from_torch(d, found) for layer in stack for d in layer]
    build_all(target, widths)
    for direction, arrays in zip(sum(stack, []), values, strict=True):
        direction.cell.set_weights(arrays)


def torch_weights(source: Layers) -> dict[str, Tensor]:
    """Returns the weights of layers with PyTorch's names and order.

    After `torch.from_numpy` on each array, `load_state_dict` of a
    `torch.nn.LSTM` or `GRU` of the same sizes accepts them. An LSTM has one
    bias here and two in PyTorch: the second, `bias_hh`, is 0. PyTorch need not
    be installed.

    Args:
        source: The layer, or a list of all layers from the first to the last,
            as for `load_torch_weights`. They must be built.

    Returns:
        Dictionary from names such as `weight_ih_l0` and `bias_hh_l1_reverse` to
        NumPy arrays, in float32, or in float64 if the layer has it.

    Raises:
        ValueError: when a layer is not built, when it has `layer_norm`, other
            activations or `reset_after=False`, which PyTorch does not have, or
            when the layers do not fit one PyTorch module. Its layers have the
            same class and width, and each reads the outputs of the previous
            one.

    Example:

    >>> layer = FastLSTM(8)
    >>> layer.build((None, None, 4))
    >>> [(name, x.shape) for name, x in torch_weights(layer).items()]
    [('weight_ih_l0', (32, 4)), ('weight_hh_l0', (32, 8)),
     ('bias_ih_l0', (32,)), ('bias_hh_l0', (32,))]
    """
    stack = stacked_source(source)
    _check_like_torch("source", source, stack)
    first, directions = stack[0][0], len(stack[0])
    for layer in stack:
        for direction in layer:
            properties = properties_of(first.cell)
            if layer is not stack[0]:
                properties["input width"] = directions * properties["units"]
            check_properties(
                direction, properties, ", as one module of PyTorch has"
            )
    return {
        name: array
        for layer in stack
        for direction in layer
        for name, array in zip(
            names_of(direction), to_torch(direction.cell), strict=True
        )
    }


def _check_like_torch(name, layers, stack):
    """Raises an error if one PyTorch module cannot have these layers."""
    for layer in layers if isinstance(layers, (list, tuple)) else [layers]:
        merged = getattr(layer, "merge_mode", None) or "concat"
        if merged != "concat" or getattr(layer, "go_backwards", False):
            raise ValueError(
                f"Layers of `{name}` must read forwards, or in both directions "
                "with concatenated outputs, as in PyTorch. Received: "
                f"{layer!r} with "
                + ("go_backwards=True" if merged == "concat" else merged)
            )
    if len({len(layer) for layer in stack}) > 1:
        raise ValueError(
            f"Either all layers of `{name}` must be in "
            "`keras.layers.Bidirectional`, or none, as in PyTorch. Received: "
            "layers with these numbers of directions: "
            f"{[len(layer) for layer in stack]}"
        )
    for direction in sum(stack, []):
        check_properties(direction, _OF_PYTORCH, ", as PyTorch has")
