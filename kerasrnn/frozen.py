"""Which of the layers inside another one are not trained, saved with it."""

from typing import Any

import keras

from kerasrnn.typing import Config


class KeepsFrozen:
    """Base of layers and models whose file says what in them is not trained.

    Keras notes `trainable` in the configuration of a layer. A layer that
    another one makes itself, when it is constructed or built, has no
    configuration in a file: loaded, it would be trained again, and the state of
    the optimizer, which is that of fewer weights, would be skipped.

    What a layer that is not trained makes inside itself is not trained, either:
    `trainable=False` may be given to its constructor, or be in its
    configuration.
    """

    def _post_build(self) -> None:
        # Keras applies `trainable` only to the weights of the layer itself.
        super()._post_build()  # type: ignore[misc]
        if not self.trainable:  # type: ignore[attr-defined]
            set_trainable(self, False)  # type: ignore[arg-type]

    def get_build_config(self) -> Config | None:
        config = super().get_build_config()  # type: ignore[misc]
        frozen = [
            index
            for index, layer in enumerate(_layers(self))
            if not layer.trainable
        ]
        if config is None or not frozen:
            return config
        return {**config, "frozen": frozen}

    def build_from_config(self, config: Config) -> None:
        frozen = config.get("frozen") or []
        config = {k: v for k, v in config.items() if k != "frozen"}
        super().build_from_config(config)  # type: ignore[misc]
        for index, layer in enumerate(_layers(self) if frozen else []):
            _set_alone(layer, index not in frozen)


def set_trainable(layer: keras.layers.Layer, value: bool) -> None:
    """Sets `trainable` of a layer, and with it of all layers inside.

    With TensorFlow, the assignment of a value that a layer itself has already
    would not reach those inside.
    """
    for each in _layers(layer):
        keras.layers.Layer.trainable.fset(each, value)


def _set_alone(layer: keras.layers.Layer, value: bool) -> None:
    """Sets `trainable` of a layer, not of those inside, which may be shared."""
    layer._trainable = value
    for variable in layer._trainable_variables:
        variable.trainable = value


def _layers(layer: Any) -> list[Any]:
    return layer._flatten_layers()
