"""Configurations that are read off the constructor."""

import inspect
from typing import Any
from typing import Self
from typing import Unpack

import keras

from kerasrnn.frozen import KeepsFrozen
from kerasrnn.typing import Config
from kerasrnn.typing import LayerOptions

_COLLECTING = (
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.VAR_KEYWORD,
)


class Deserialized(KeepsFrozen):
    """Layers and models whose configuration holds others, serialized.

    `from_config` makes these anew: cells, mechanisms, initializers.
    """

    @classmethod
    def from_config(
        cls, config: Config, custom_objects: dict[str, Any] | None = None
    ) -> Self:
        return cls(
            **{
                name: _deserialize(value, custom_objects)
                for name, value in config.items()
            }
        )


class Configured(Deserialized):
    """Layers whose constructor's arguments are attributes of the same names.

    `get_config` collects them, except for those of a base that a class decides
    itself and lists in `fixed_arguments`.
    """

    fixed_arguments: tuple[str, ...] = ()

    def get_config(self) -> Config:
        config = super().get_config()  # type: ignore[misc]
        for name in constructor_parameters(type(self)):
            if not hasattr(self, name):
                raise ValueError(
                    f"{type(self).__name__} must keep each argument of its "
                    "constructor as an attribute of the same name, or have a "
                    f"`get_config`. Received: no attribute {name!r}"
                )
            config[name] = _serialize(getattr(self, name))
        return config

    @classmethod
    def from_config(
        cls, config: Config, custom_objects: dict[str, Any] | None = None
    ) -> Self:
        own = {k: v for k, v in config.items() if k not in cls.fixed_arguments}
        return super().from_config(own, custom_objects)


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
    return _without(layer.get_config(), without)


def _without(config, names):
    if isinstance(config, dict):
        return {
            name: _without(value, names)
            for name, value in config.items()
            if name not in names
        }
    if isinstance(config, (list, tuple)):
        return [_without(value, names) for value in config]
    return config


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


def _deserialize(value, custom_objects):
    if isinstance(value, (list, tuple)):
        return [_deserialize(inner, custom_objects) for inner in value]
    if isinstance(value, dict) and "class_name" in value:
        return keras.saving.deserialize_keras_object(value, custom_objects)
    return value
