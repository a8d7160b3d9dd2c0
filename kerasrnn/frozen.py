"""What of the layers inside another one is trained, saved with it."""

from typing import Any

import keras

from kerasrnn.typing import Config


class KeepsFrozen:
    """Base of layers and models whose file says what in them is not trained.

    Keras notes `trainable` and the rank of LoRA in the configuration of a
    layer. A layer that another one makes itself, when it is constructed or
    built, has no configuration in a file: loaded, all of it would be trained
    again, and the state of the optimizer, which is that of other weights, would
    be skipped.

    What a layer that is not trained has inside is not trained, either, when it
    is built: `trainable=False` may be given to its constructor, or be in its
    configuration.

    Of `enable_lora`, rank and alpha are kept, with the default initializers. A
    file has the sum of the kernel and of what LoRA added to it: Keras loads
    this as the kernel, and sets the two matrices of LoRA to 0.
    """

    _was_built = False

    def _post_build(self) -> None:
        # Keras applies `trainable` only to the weights of the layer itself.
        super()._post_build()  # type: ignore[misc]
        # Keras may build a model once more: what was thawed stays so.
        is_first, self._was_built = not self._was_built, True
        if is_first and not self.trainable:  # type: ignore[attr-defined]
            set_trainable(self, False)  # type: ignore[arg-type]

    def get_build_config(self) -> Config | None:
        config = super().get_build_config()  # type: ignore[misc]
        if config is None:
            return None
        found = {"frozen": _frozen(self), "lora": _lora(self)}
        return {**config, **{k: v for k, v in found.items() if v}}

    def build_from_config(self, config: Config) -> None:
        config = dict(config)
        frozen = config.pop("frozen", [])
        lora = config.pop("lora", {})
        super().build_from_config(config)  # type: ignore[misc]
        layers = all_layers(self)
        for index, how in lora.items():
            # What was given to this layer has it by its own configuration.
            if not layers[int(index)].lora_enabled:
                layers[int(index)].enable_lora(**how)
        for index, layer in enumerate(layers if frozen else []):
            _set_alone(layer, index not in frozen)


def all_layers(layer: Any) -> list[Any]:
    """Returns a layer and all layers inside it, in an order of their own."""
    return layer._flatten_layers()


def set_trainable(layer: keras.layers.Layer, value: bool) -> None:
    """Sets `trainable` of a layer, and with it of all layers inside.

    With TensorFlow, the assignment of a value that a layer itself has already
    would not reach those inside.
    """
    for each in all_layers(layer):
        keras.layers.Layer.trainable.fset(each, value)


def _set_alone(layer: keras.layers.Layer, value: bool) -> None:
    """Sets `trainable` of a layer, not of those inside, which may be shared."""
    layer._trainable = value
    kernel = _kernel_under_lora(layer)
    for variable in layer._trainable_variables:
        variable.trainable = value and variable is not kernel


def _frozen(layer):
    return [i for i, x in enumerate(all_layers(layer)) if not x.trainable]


def _lora(layer):
    return {
        str(index): {"rank": inner.lora_rank, "lora_alpha": inner.lora_alpha}
        for index, inner in enumerate(all_layers(layer))
        if _has_lora(inner)
    }


def _has_lora(layer):
    return getattr(layer, "lora_enabled", False)


def _kernel_under_lora(layer):
    """Returns the variable that LoRA replaces in training, or `None`."""
    if not _has_lora(layer):
        return None
    kernels = ("kernel", "embeddings")
    return next(x for x in layer.variables if x.name in kernels)
