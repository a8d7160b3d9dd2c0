"""Weights of LSTM and GRU layers, exchanged with Keras and PyTorch."""

from collections.abc import Sequence
from typing import Any
from typing import TypeAlias

import keras

from kerasrnn.layers.weights.stacks import assign
from kerasrnn.layers.weights.stacks import build_all
from kerasrnn.layers.weights.stacks import check_built
from kerasrnn.layers.weights.stacks import check_properties
from kerasrnn.layers.weights.stacks import properties_of
from kerasrnn.layers.weights.stacks import stacked
from kerasrnn.layers.weights.stacks import weights_of
from kerasrnn.layers.weights.torch_arrays import check_names
from kerasrnn.layers.weights.torch_arrays import check_shapes
from kerasrnn.layers.weights.torch_arrays import from_torch
from kerasrnn.layers.weights.torch_arrays import names_of
from kerasrnn.layers.weights.torch_arrays import to_torch
from kerasrnn.layers.weights.torch_arrays import torch_arrays
from kerasrnn.typing import Tensor

Layers: TypeAlias = keras.layers.Layer | Sequence[keras.layers.Layer]

_OF_PYTORCH = {
    "activation": keras.activations.tanh,
    "recurrent_activation": keras.activations.sigmoid,
    "layer_norm": False,
    "reset_after": True,
}


def copy_weights(source: Layers, target: Layers) -> None:
    """Copies weights from Keras's layers to `FastLSTM` and `FastGRU`, or back.

    Both have the same arrays in the same order. Both arguments can be:

    * `keras.layers.LSTM` and `GRU`, `FastLSTM` and `FastGRU`;
    * a cell of these, or a layer that runs such a cell, as `FastRNN`;
    * `keras.layers.Bidirectional` around any of them;
    * a list of these, copied in order.

    A target that is not built yet is built for the inputs of its source. All is
    checked before the first weight is set.

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
    sources, targets = stacked("source", source), stacked("target", target)
    numbers = [[len(layer) for layer in stack] for stack in (sources, targets)]
    if numbers[0] != numbers[1]:
        raise ValueError(
            "`target` must have the layers of `source`, each with the same "
            f"number of directions: {numbers[0]}. Received: {numbers[1]}"
        )
    pairs = list(zip(sum(sources, []), sum(targets, []), strict=True))
    for old, new in pairs:
        check_built(old)
        properties = properties_of(old.cell)
        if not new.cell.built:
            del properties["input width"]
        check_properties(new, properties, f" as `{old.place}` has")
    build_all(target, [layer[0].cell.kernel.shape[0] for layer in sources])
    for old, new in pairs:
        assign(new, weights_of(old.cell))


def load_torch_weights(source: Any, target: Layers, prefix: str = "") -> None:
    """Copies the weights of `torch.nn.LSTM` or `GRU` to layers.

    | PyTorch | here |
    |---|---|
    | `LSTM(4, 8)` | `FastLSTM(8)` |
    | `LSTM(4, 8, bidirectional=True)` | `Bidirectional(FastLSTM(8))` |
    | `LSTM(4, 8, num_layers=2)` | `[FastLSTM(8), FastLSTM(8)]` |
    | `LSTM(4, 8, bias=False)` | `FastLSTM(8, use_bias=False)` |

    The bias of an LSTM becomes the sum of both in PyTorch; a GRU has both. A
    layer that is not built yet is built for the inputs of its source. All is
    checked before the first weight is set. PyTorch need not be installed.

    Args:
        source: The module, or its `state_dict()`, or any other mapping from
            PyTorch's names, such as `weight_ih_l0`, to arrays.
        target: The layer, or a list of all layers from the first to the last:
            `FastLSTM` and `FastGRU`, those of Keras, a cell of them, or a layer
            that runs such a cell; with both directions in
            `keras.layers.Bidirectional`.
        prefix: What stands before the names if the mapping holds a whole
            model, such as `"encoder.lstm."`.

    Raises:
        ValueError: when a weight is missing, left over or of another shape;
            when PyTorch's module projects its outputs (`proj_size`); when a
            layer has `layer_norm`, other activations, or `reset_after=False`,
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
    _check_like_torch("target", stack)
    names = [name for layer in stack for d in layer for name in names_of(d)]
    check_names(names, found, prefix)
    widths = []
    for layer in stack:
        cell = layer[0].cell
        width = sum(found[f"weight_ih{layer[0].suffix}"].shape[1:])
        widths.append(cell.kernel.shape[0] if cell.built else width)
        for direction in layer:
            check_shapes(direction, widths[-1], found, prefix)
    values = [from_torch(d, found) for layer in stack for d in layer]
    build_all(target, widths)
    for direction, arrays in zip(sum(stack, []), values, strict=True):
        assign(direction, arrays)


def torch_weights(source: Layers) -> dict[str, Tensor]:
    """Returns the weights of layers as PyTorch names and orders them.

    `torch.nn.LSTM` or `GRU` of the same sizes takes them by `load_state_dict`,
    when `torch.from_numpy` has made a tensor of each. An LSTM has one bias
    here and two in PyTorch: the second, `bias_hh`, is 0. PyTorch need not be
    installed.

    Args:
        source: The layer, or a list of all layers from the first to the last,
            as for `load_torch_weights`, with weights.

    Returns:
        Dictionary from names such as `weight_ih_l0` and `bias_hh_l1_reverse` to
        NumPy arrays, in float32 or, if the layer is in it, in float64.

    Raises:
        ValueError: when a layer has no weights yet, or `layer_norm`, other
            activations or `reset_after=False`, which PyTorch does not have, or
            when the layers are not those of one PyTorch module: of one class
            and width, and each with the outputs of the last one as its inputs.

    Example:

    >>> layer = FastLSTM(8)
    >>> layer.build((None, None, 4))
    >>> [(name, x.shape) for name, x in torch_weights(layer).items()]
    [('weight_ih_l0', (32, 4)), ('weight_hh_l0', (32, 8)),
     ('bias_ih_l0', (32,)), ('bias_hh_l0', (32,))]
    """
    stack = stacked("source", source)
    _check_like_torch("source", stack)
    first, directions = stack[0][0], len(stack[0])
    for layer in stack:
        for direction in layer:
            check_built(direction)
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


def _check_like_torch(name, stack):
    """Raises an error if PyTorch has no such layers."""
    if len({len(layer) for layer in stack}) > 1:
        raise ValueError(
            f"`{name}` must have all layers in `keras.layers.Bidirectional`, "
            "or none, as PyTorch has. Received: layers with the numbers of "
            f"directions {[len(layer) for layer in stack]}"
        )
    for direction in sum(stack, []):
        check_properties(direction, _OF_PYTORCH, ", as PyTorch has")
