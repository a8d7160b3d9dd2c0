"""Attention mechanisms by name."""

from typing import TypeVar

import keras

from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.saving import template
from kerasrnn.typing import Config
from kerasrnn.typing import DType

_Attention = TypeVar("_Attention")


def copy_of_attention(identifier: _Attention) -> _Attention:
    """Returns a copy of a mechanism without its weights.

    Models use such a copy, as they do with cells. Anything else, such as the
    name of a mechanism, is returned unchanged.
    """
    if not isinstance(identifier, AttentionMechanism):
        return identifier
    return type(identifier).from_config(template(identifier))


def get_attention(
    identifier: AttentionMechanism | str | Config,
    units: int,
    dtype: DType = None,
) -> AttentionMechanism:
    """Returns an attention mechanism from a name, a config or a layer.

    If the layer already belongs to another cell, the result is a copy without
    its weights, because cells that share a mechanism could neither be copied
    nor loaded from a file.

    Args:
        identifier: One of the `names` of a mechanism, a serialized mechanism,
            or a layer.
        units: Integer, width of a mechanism given by name: hidden width of an
            additive score, or total width of the heads of `"multi_head"` and
            `"multi_scale"`.
        dtype: Dtype or policy of a mechanism given by name; `None` for the
            global one.

    Raises:
        ValueError: for anything else.
    """
    if isinstance(identifier, dict):
        identifier = keras.saving.deserialize_keras_object(identifier)
    if isinstance(identifier, AttentionMechanism):
        if identifier.is_given:
            return copy_of_attention(identifier)
        identifier.is_given = True
        return identifier
    named = mechanisms_by_name()
    if isinstance(identifier, str) and identifier in named:
        mechanism = named[identifier]
        return mechanism(**mechanism.names[identifier](units), dtype=dtype)
    raise ValueError(
        "`attention` must be an attention mechanism of `kerasrnn.layers` or "
        f"one of {', '.join(map(repr, named))}. "
        f"Received: attention={identifier!r}"
    )


def mechanisms_by_name() -> dict[str, type[AttentionMechanism]]:
    """Returns the classes of mechanisms by their short names."""
    classes: list[type[AttentionMechanism]] = [AttentionMechanism]
    for each in classes:  # grows during the loop
        classes += each.__subclasses__()
    return {name: x for x in classes for name in vars(x).get("names", ())}
