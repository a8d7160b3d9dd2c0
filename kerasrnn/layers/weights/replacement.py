"""Replaces Keras's LSTM and GRU in a model by ours, or back."""

from typing import NamedTuple

import keras

from kerasrnn.layers.recurrent.fast_rnn import FastRNN
from kerasrnn.layers.recurrent.gru import FastGRU
from kerasrnn.layers.recurrent.gru import FastGRUCell
from kerasrnn.layers.recurrent.lstm import FastLSTM
from kerasrnn.layers.recurrent.lstm import FastLSTMCell
from kerasrnn.saving import all_layers
from kerasrnn.warning import warn

_OURS = {
    keras.layers.LSTM: FastLSTM,
    keras.layers.GRU: FastGRU,
    keras.layers.LSTMCell: FastLSTMCell,
    keras.layers.GRUCell: FastGRUCell,
}


class Replacement(NamedTuple):
    """The result of `replace_layers`.

    Attributes:
        model: The new model, not compiled.
        replaced: Dictionary from the path of each replaced layer or cell, such
            as `"encoder/bidirectional/forward_lstm"`, to its new class.
    """

    model: keras.Model
    replaced: dict[str, type[keras.layers.Layer]]


def replace_layers(model: keras.Model, to_keras: bool = False) -> Replacement:
    """Copies a model with `FastLSTM` and `FastGRU` for Keras's layers.

    It replaces `keras.layers.LSTM` and `GRU`, their cells, and any `RNN` that
    runs such cells, wherever the configuration of the model contains them: in
    nested models, in `Bidirectional` or `TimeDistributed`, and among stacked
    cells. The new model has the weights of `model`, which is not changed.

    Args:
        model: A functional or sequential model, or one whose `get_config`
            describes it completely.
        to_keras: Whether to convert in the other direction, to a model that
            loads without this package.

    Returns:
        A `Replacement`, `(model, replaced)`. A warning names Keras LSTMs and
        GRUs that are left: subclasses, and layers that a custom layer creates
        itself.

    Raises:
        ValueError: when there is nothing to replace, when the new model would
            have other weights, or when `to_keras` is set and a layer has
            `layer_norm` or no counterpart in Keras.

    Example:

    >>> lstm = keras.layers.LSTM(8, name="lstm")
    >>> each = keras.layers.TimeDistributed(lstm, name="each")
    >>> model = keras.Sequential([keras.Input((2, None, 4)), each], name="m")
    >>> fast, replaced = replace_layers(model)
    >>> [(place, x.__name__) for place, x in replaced.items()]
    [('m/each/lstm', 'FastLSTM')]
    >>> x = np.ones((1, 2, 5, 4))
    >>> np.allclose(fast(x), model(x), atol=1e-5)
    True
    """
    other = {**_OURS, keras.layers.RNN: FastRNN}
    if to_keras:
        other = {new: old for old, new in other.items()}
    replaced: dict[str, type[keras.layers.Layer]] = {}
    config = keras.saving.serialize_keras_object(model)
    config.pop("compile_config", None)
    classes = {_identity(old): new for old, new in other.items()}
    new = keras.saving.deserialize_keras_object(
        _exchanged(config, classes, (), replaced), safe_mode=False
    )
    if not replaced:
        kinds = sorted({type(x).__name__ for x in all_layers(model)})
        raise ValueError(
            "The model has no layer to replace. Expected: "
            f"{', '.join(x.__name__ for x in other)}. Received: a model of "
            f"{', '.join(kinds)}"
        )
    _check_left(new, to_keras)
    shapes, expected = ([w.shape for w in x.weights] for x in (new, model))
    if shapes != expected:
        raise ValueError(
            "The configuration of a model must describe all of its layers, and "
            "nested models cannot share a layer. Expected: weights of the "
            f"shapes {expected}. Received, from the configuration: {shapes}"
        )
    new.set_weights(model.get_weights())
    return Replacement(new, replaced)


def _identity(layer_class):
    """Returns the name of a class in a configuration."""
    registered = keras.saving.get_registered_name(layer_class)
    name = layer_class.__name__
    if registered == name:
        return "keras.layers", name, None
    return layer_class.__module__, name, registered


def _exchanged(node, classes, place, replaced):
    """Returns a configuration with other classes, and records the paths."""
    if isinstance(node, (list, tuple)):
        return [_exchanged(x, classes, place, replaced) for x in node]
    if not isinstance(node, dict):
        return node
    keys = "module", "class_name", "registered_name"
    config = node.get("config")
    if "class_name" in node and isinstance(config, dict):
        place = (*place, *filter(None, [config.get("name")]))
    before = len(replaced)
    node = {
        key: _exchanged(value, classes, place, replaced)
        for key, value in node.items()
    }
    new = classes.get(tuple(map(node.get, keys)))
    if new is None or (new is FastRNN and len(replaced) == before):
        return node
    if node["config"].pop("layer_norm", False):
        raise ValueError(
            "Keras's cells have no layer normalization. Expected: "
            f"layer_norm=False. Received: layer_norm=True at {'/'.join(place)}"
        )
    replaced["/".join(place)] = new
    return node | dict(zip(keys, _identity(new), strict=True))


def _check_left(model, to_keras):
    """Raises an error or warns about layers that were not replaced."""
    if to_keras:
        left = [
            x
            for x in all_layers(model)
            if type(x).__module__.startswith("kerasrnn.")
        ]
    else:
        left = [x for x in all_layers(model) if isinstance(x, tuple(_OURS))]
    names = ", ".join(f"{x.name} ({type(x).__name__})" for x in left)
    if left and to_keras:
        raise ValueError(
            "Of our layers, Keras has only LSTM and GRU. Expected: a model "
            f"without other layers of this package. Received: {names}"
        )
    if left:
        warn(
            "These layers were not replaced, because the configuration of the "
            f"model does not contain them as Keras layers: {names}."
        )
