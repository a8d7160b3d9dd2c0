"""What a saved layer says of itself: its arguments, and what is not trained."""

import inspect
from collections.abc import Callable
from typing import Any
from typing import Self
from typing import Unpack

import keras

from kerasrnn.typing import Config
from kerasrnn.typing import LayerOptions


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
        layers = all_layers(self)
        found = {
            "frozen": [i for i, x in enumerate(layers) if not x.trainable],
            "lora": {
                str(i): {"rank": x.lora_rank, "lora_alpha": x.lora_alpha}
                for i, x in enumerate(layers)
                if _has_lora(x)
            },
        }
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


def build_once(layer: Any, *shapes: Any) -> None:
    """Builds a layer, unless it is built."""
    if not layer.built:
        layer.build(*shapes)


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
    # The variable that LoRA replaces in training stays as it is.
    replaced = ("kernel", "embeddings") if _has_lora(layer) else ()
    for variable in layer._trainable_variables:
        variable.trainable = value and variable.name not in replaced


def _has_lora(layer):
    return getattr(layer, "lora_enabled", False)


_COLLECTING = (
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.VAR_KEYWORD,
)


class MadeAnew:
    """What `from_config` makes anew, with what its configuration holds.

    Such as cells, mechanisms and initializers, which are serialized in it.
    """

    @classmethod
    def from_config(
        cls, config: Config, custom_objects: dict[str, Any] | None = None
    ) -> Self:
        return cls(
            **keras.saving.deserialize_keras_object(config, custom_objects)
        )


class Deserialized(MadeAnew, KeepsFrozen):
    """Layers and models whose configuration holds others, serialized."""


class ByArguments(MadeAnew):
    """What its arguments make anew, such as losses, metrics and schedules.

    The arguments of the constructor are attributes of the same names.
    """

    def get_config(self) -> Config:
        return {
            name: _serialize(getattr(self, name))
            for name in constructor_parameters(type(self))
        }


class Configured(Deserialized):
    """Layers whose constructor's arguments are attributes of the same names.

    `get_config` collects them, and fails if one is missing, except for those of
    a base that a class decides itself and lists in `fixed_arguments`.
    """

    fixed_arguments: tuple[str, ...] = ()

    def get_config(self) -> Config:
        return super().get_config() | {  # type: ignore[misc]
            name: _serialize(getattr(self, name))
            for name in constructor_parameters(type(self))
        }

    @classmethod
    def from_config(
        cls, config: Config, custom_objects: dict[str, Any] | None = None
    ) -> Self:
        return super().from_config(
            {k: v for k, v in config.items() if k not in cls.fixed_arguments},
            custom_objects,
        )


def template(layer: keras.layers.Layer, *without: str) -> Config:
    """Returns the configuration of a layer, to make copies of the layer.

    Inner layers of a copy are not built. It has no `shared_object_id`: Keras
    identifies shared objects by memory address, and would merge two that used
    the same address at different times.

    Args:
        layer: A Keras layer.
        *without: Names of arguments to leave out, of inner layers, too.
    """
    without = ("build_config", "shared_object_id", *without)
    return rewritten(
        layer.get_config(),
        lambda found, _: {k: v for k, v in found.items() if k not in without},
    )


# Keys in Keras's serialized arrays, whose entries are not those of a layer.
_ARRAYS = "__numpy__", "__tensor__"


def rewritten(config: Any, change: Callable[..., Config], *path: Any) -> Any:
    """Returns a configuration in which each dictionary is changed.

    Args:
        config: A configuration, or a part of one.
        change: Function from a dictionary and its path, a tuple, to another
            dictionary. What this contains is changed after it.
        *path: What precedes the names and numbers that lead to a dictionary.
    """
    if isinstance(config, (list, tuple)):
        return [rewritten(x, change, *path, i) for i, x in enumerate(config)]
    if not isinstance(config, dict) or config.get("class_name") in _ARRAYS:
        return config
    return {
        name: rewritten(value, change, *path, name)
        for name, value in change(config, path).items()
    }


def constructor_parameters(cls: type) -> dict[str, inspect.Parameter]:
    """Returns the named parameters of a class and of its bases, in order.

    Those of a base count where a constructor passes on `**kwargs`, unless these
    are `LayerOptions`, which Keras keeps itself. Required parameters of a base,
    which a constructor must pass, do not count, nor do those in
    `fixed_arguments`.
    """
    found: dict[str, inspect.Parameter] = {}
    fixed_arguments = getattr(cls, "fixed_arguments", ())
    for base in cls.__mro__:
        if base.__module__.startswith("keras."):
            break
        if "__init__" not in vars(base):
            continue
        _, *parameters = inspect.signature(
            vars(base)["__init__"]
        ).parameters.values()
        found |= {
            x.name: x
            for x in parameters
            if x.name not in (*found, *fixed_arguments)
            and x.kind not in _COLLECTING
            and not (found and x.default is x.empty)
        }
        passed_on = [x for x in parameters if x.kind is x.VAR_KEYWORD]
        if not passed_on or passed_on[0].annotation == Unpack[LayerOptions]:
            break
    return found


def _serialize(value):
    if inspect.isfunction(value) or inspect.isbuiltin(value):
        return keras.activations.serialize(value)
    return keras.saving.serialize_keras_object(value)
