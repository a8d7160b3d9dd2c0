"""Types of settings: what a value may be, checked and in words."""

import dataclasses
import math
import pathlib
import types
import typing
from typing import Any


@dataclasses.dataclass(frozen=True)
class Bounds:
    """A condition on a value, beside its type, as in `Annotated[int, ...]`.

    Attributes:
        words: String, the condition in words.
        hold: Function from the value to whether it meets the condition.
    """

    words: str
    hold: typing.Callable[[Any], bool]

    def __repr__(self):
        return self.words


Count = typing.Annotated[int, Bounds("a positive integer", lambda x: x >= 1)]
Whole = typing.Annotated[
    int, Bounds("an integer from 0 to 2**32 - 1", lambda x: 0 <= x < 2**32)
]
Rate = typing.Annotated[
    float, Bounds("a number in [0, 1)", lambda x: 0 <= x < 1)
]
Positive = typing.Annotated[
    float,
    Bounds("a finite positive number", lambda x: math.isfinite(x) and x > 0),
]
NotNegative = typing.Annotated[
    float,
    Bounds(
        "a finite number of at least 0", lambda x: math.isfinite(x) and x >= 0
    ),
]
Existing = typing.Annotated[
    pathlib.Path,
    Bounds("a file or folder that exists", lambda path: path.exists()),
]
SelfAttentionName = typing.Literal[
    "dot",
    "scaled_dot",
    "general",
    "additive",
    "multi_head",
    "multi_scale",
    "normed_bahdanau",
    "scaled_luong",
    "luong",
    "bahdanau",
    "concat",
]
AttentionName = typing.Literal[
    SelfAttentionName,
    "local_p",
    "local_m",
    "location",
    "coverage",
    "monotonic",
]
PastAttentionName = typing.Literal[SelfAttentionName, "transformer", "sha"]


def fits(value, hint):
    """Whether a value is of a type; items of containers are not checked."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return fits(value, parts[0]) and all(
            mark.hold(value) for mark in parts[1:] if isinstance(mark, Bounds)
        )
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is typing.Literal:
        return value in parts
    if hint in (int, float):
        # In Python, a boolean is an integer.
        kinds = (int, float) if hint is float else int
        return isinstance(value, kinds) and not isinstance(value, bool)
    return isinstance(value, origin or hint)


def type_in_words(hint):
    """A type in words, for error messages."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        marks = [mark for mark in parts[1:] if isinstance(mark, Bounds)]
        return marks[0].words if marks else type_in_words(parts[0])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(map(type_in_words, parts))
    if origin is typing.Literal:
        return f"one of {', '.join(map(repr, parts))}"
    return "None" if hint is types.NoneType else f"of type {hint.__name__}"
