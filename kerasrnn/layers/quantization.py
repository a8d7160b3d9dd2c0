"""How the layers inside another one are quantized, saved with its weights.

Keras quantizes `Dense` and `Embedding` layers wherever they are in a model, but
notes this only in their own configuration. A layer that makes them itself saves
no such configuration: loaded, its inner layers would not be quantized and would
not take the weights of the file.
"""

import json
from typing import Any

import keras
from keras import ops

from kerasrnn.saving import KeepsFrozen
from kerasrnn.saving import all_layers

# The name among the weights of a layer in a file.
_KEY = "quantized"


class KeepsQuantization(KeepsFrozen, keras.layers.Layer):
    """Base of the layers and models whose inner layers may be quantized.

    With their weights they save which of these are quantized, and how. Before
    weights are loaded, the same are quantized again. What may be quantized may
    be frozen, too.
    """

    def save_own_variables(self, store: Any) -> None:
        super().save_own_variables(store)
        found = quantized_layers(self)
        if found:
            text = json.dumps(found).encode()
            store[_KEY] = ops.array(list(text), "uint8")

    def load_own_variables(self, store: Any) -> None:
        variables = {name: store[name] for name in store.keys()}
        found = variables.pop(_KEY, None)
        if found is not None:
            text = bytes(ops.convert_to_numpy(found))
            quantize_layers(self, json.loads(text))
        super().load_own_variables(variables)


def quantized_layers(layer):
    """Returns how the layers inside another one, and itself, are quantized.

    Args:
        layer: A Keras layer.

    Returns:
        Dictionary from the position of each among all layers, a string, to the
        mode and the configuration of its quantization.
    """
    found = {}
    for index, inner in enumerate(all_layers(layer)):
        mode = inner.quantization_mode
        # What has other layers inside may only hold their default policy.
        if mode is not None and getattr(inner, "_is_quantized", False):
            config = getattr(inner, "quantization_config", None)
            config = keras.saving.serialize_keras_object(config)
            found[str(index)] = {"mode": mode, "config": config}
    return found


def quantize_layers(layer, quantized):
    """Quantizes layers inside another one, unless they are quantized already.

    Args:
        layer: A built layer, like the one given to `quantized_layers`.
        quantized: What `quantized_layers` returned.
    """
    layers = all_layers(layer)
    for index, how in quantized.items():
        inner = layers[int(index)]
        if inner.quantization_mode is None:
            config = keras.saving.deserialize_keras_object(how["config"])
            # A configuration has its mode.
            mode = how["mode"] if config is None else None
            inner.quantize(mode, config=config)
