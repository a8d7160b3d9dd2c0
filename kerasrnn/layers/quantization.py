"""Saves, with a layer's weights, how its inner layers are quantized.

Keras quantizes `Dense` and `Embedding` layers anywhere in a model, but records
this only in their own configuration. A layer that creates them itself does not
save that configuration. After loading, its inner layers would not be quantized,
and the weights of the file would not fit them.
"""

import json
from typing import Any

import keras
from keras import ops

from kerasrnn.saving import KeepsFrozen
from kerasrnn.saving import all_layers

# The key of this information among the weights of a layer in a file.
_KEY = "quantized"


class KeepsQuantization(KeepsFrozen, keras.layers.Layer):
    """Base of the layers and models whose inner layers may be quantized.

    They save which inner layers are quantized, and how, with their weights. The
    same layers are quantized again before weights are loaded. As such layers
    may also be frozen, this is a `KeepsFrozen`, too.
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
            quantize_layers(
                self, json.loads(bytes(ops.convert_to_numpy(found)))
            )
        super().load_own_variables(variables)


def quantized_layers(layer):
    """Returns how a layer and all layers inside it are quantized.

    Args:
        layer: A Keras layer.

    Returns:
        Dictionary from the position of each quantized layer among all layers (a
        string) to the mode and the configuration of its quantization.
    """
    found = {}
    for index, inner in enumerate(all_layers(layer)):
        mode = inner.quantization_mode
        # A layer that contains others may only hold their default policy.
        if mode is not None and getattr(inner, "_is_quantized", False):
            config = getattr(inner, "quantization_config", None)
            config = keras.saving.serialize_keras_object(config)
            found[str(index)] = {"mode": mode, "config": config}
    return found


def quantize_layers(layer, quantized):
    """Quantizes layers inside another one that are not quantized yet.

    Args:
        layer: A built layer with the structure of the one given to
            `quantized_layers`.
        quantized: What `quantized_layers` returned.
    """
    layers = all_layers(layer)
    for index, how in quantized.items():
        inner = layers[int(index)]
        if inner.quantization_mode is None:
            config = keras.saving.deserialize_keras_object(how["config"])
            # A configuration includes its mode.
            mode = how["mode"] if config is None else None
            inner.quantize(mode, config=config)
