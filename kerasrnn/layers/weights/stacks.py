"""The LSTMs and GRUs of a stack, one for each direction, and if they agree."""

import collections

import keras

from kerasrnn.layers.recurrent.gru import FastGRUCell
from kerasrnn.layers.recurrent.lstm import FastLSTMCell

# Cells of Keras, each with ours that has the same weights.
_OURS: dict[type, type] = {
    keras.layers.LSTMCell: FastLSTMCell,
    keras.layers.GRUCell: FastGRUCell,
}
# `place` is how the caller writes the layer, such as `target[1]`; `suffix` ends
# the names of its weights in PyTorch, as in `weight_ih_l1`.
Direction = collections.namedtuple("Direction", "place suffix cell")


def class_of(cell):
    """Returns the class of Keras that has the weights of a cell, or `None`."""
    for known, ours in _OURS.items():
        if isinstance(cell, (known, ours)):
            return known
    return None


def weights_of(cell):
    """Returns the weights of a cell, those that it has."""
    weights = [cell.kernel, cell.recurrent_kernel, cell.bias]
    return [
        weight
        for weight in [*weights, getattr(cell, "gains", None)]
        if weight is not None
    ]


def shown(value):
    """Returns a value as messages name it: a class of cells by its layer."""
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
    if not stack:
        raise ValueError(
            f"`{name}` must be a layer or a list of layers. Received: "
            f"{layers!r}"
        )
    return stack


def _direction(place, suffix, layer):
    cell = layer.cell if isinstance(layer, keras.layers.RNN) else layer
    if class_of(cell) is None:
        raise ValueError(
            f"`{place}` must be an LSTM or a GRU of Keras or of this package, "
            f"or run a cell of these. Received: {layer!r}"
        )
    return Direction(place, suffix, cell)


def properties_of(cell):
    """Returns what has to agree, by name."""
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
    """Raises an error that names each property that is not as expected."""
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


def check_built(direction):
    """Raises an error if a direction has no weights yet."""
    if not direction.cell.built:
        raise ValueError(
            f"`{direction.place}` must have weights: call it, or build it, "
            "first. Received: a layer that is not built."
        )


def build_all(layers, widths):
    """Builds each layer that is not built yet for inputs of a width."""
    if not isinstance(layers, (list, tuple)):
        layers = [layers]
    for layer, width in zip(layers, widths, strict=True):
        if not layer.built:
            if getattr(layer, "stateful", False):
                raise ValueError(
                    "A stateful layer has the batch size of its first call. "
                    "Expected: a layer that was called. "
                    f"Received: {layer.name}, which is not built"
                )
            runs = isinstance(
                layer, (keras.layers.RNN, keras.layers.Bidirectional)
            )
            layer.build((None, None, width) if runs else (None, width))


def assign(direction, values):
    """Sets the weights of a direction to arrays in their order."""
    for weight, value in zip(weights_of(direction.cell), values, strict=True):
        weight.assign(value)
