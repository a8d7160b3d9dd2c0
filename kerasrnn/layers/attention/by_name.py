"""The attention mechanisms by name."""

from typing import TypeVar

import keras

from kerasrnn.layers.attention.bahdanau_attention import BahdanauAttention
from kerasrnn.layers.attention.coverage_attention import CoverageAttention
from kerasrnn.layers.attention.dot_attention import DotAttention
from kerasrnn.layers.attention.dot_attention import GeneralAttention
from kerasrnn.layers.attention.dot_attention import ScaledDotAttention
from kerasrnn.layers.attention.local_attention import LocalAttention
from kerasrnn.layers.attention.location_attention import LocationAttention
from kerasrnn.layers.attention.mechanism import AttentionMechanism
from kerasrnn.layers.attention.monotonic_attention import MonotonicAttention
from kerasrnn.layers.attention.multi_head_attention import MultiHeadDotAttention
from kerasrnn.layers.attention.multi_scale_attention import MultiScaleAttention
from kerasrnn.saving import template
from kerasrnn.typing import Config
from kerasrnn.typing import DType

# Each class, and its arguments as a function of the width.
_BY_NAME = {
    "dot": (DotAttention, lambda units: {}),
    "scaled_dot": (ScaledDotAttention, lambda units: {}),
    "general": (GeneralAttention, lambda units: {}),
    "additive": (BahdanauAttention, lambda units: {"units": units}),
    "multi_head": (
        MultiHeadDotAttention,
        lambda units: {"num_heads": 4, "head_dim": max(1, units // 4)},
    ),
    "multi_scale": (
        MultiScaleAttention,
        lambda units: {
            "spans": (1, 2, 4, 8),
            "head_dim": max(1, units // 4),
            "blocks": 16,
        },
    ),
    "normed_bahdanau": (
        BahdanauAttention,
        lambda units: {"units": units, "normalize": True},
    ),
    "scaled_luong": (GeneralAttention, lambda units: {"use_scale": True}),
    "local_p": (LocalAttention, lambda units: {}),
    "local_m": (LocalAttention, lambda units: {"alignment": "monotonic"}),
    "location": (LocationAttention, lambda units: {"max_positions": 100}),
    "coverage": (CoverageAttention, lambda units: {"units": units}),
    "monotonic": (MonotonicAttention, lambda units: {"units": units}),
}
# Other names of the same mechanisms.
_BY_NAME["luong"] = _BY_NAME["general"]
_BY_NAME["bahdanau"] = _BY_NAME["concat"] = _BY_NAME["additive"]


_Attention = TypeVar("_Attention")


def copy_of_attention(identifier: _Attention) -> _Attention:
    """Returns a mechanism like a given one, without its weights.

    The models take such a copy, as they do of a cell. Anything else, such as
    the name of a new mechanism, is returned as it is.
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

    A layer that was given to another cell before is in use: the result is then
    a new one like it, without its weights. Two cells with one mechanism could
    be neither copied nor loaded from a file.

        "dot" "scaled_dot"                  DotAttention ScaledDotAttention
        "general" "luong" "scaled_luong"    GeneralAttention
        "additive" "bahdanau" "concat"
            "normed_bahdanau"               BahdanauAttention
        "multi_head"                        MultiHeadDotAttention, four heads
        "multi_scale"                       MultiScaleAttention, four heads
        "local_p" "local_m"                 LocalAttention, a general score
        "location"                          LocationAttention, 100 positions
        "coverage"                          CoverageAttention
        "monotonic"                         MonotonicAttention

    Args:
        identifier: One of these names, a serialized mechanism, or a layer.
        units: Integer, width of a mechanism given by name: the hidden width of
            an additive score, or the total width of the heads of
            `"multi_head"` and `"multi_scale"`.
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
    if isinstance(identifier, str) and identifier in _BY_NAME:
        mechanism, arguments = _BY_NAME[identifier]
        return mechanism(**arguments(units), dtype=dtype)
    raise ValueError(
        "`attention` must be an attention mechanism of `kerasrnn.layers` or "
        f"one of {', '.join(map(repr, _BY_NAME))}. "
        f"Received: attention={identifier!r}"
    )
