"""What a recipe can be told: typed settings, checked when they are made.

>>> @dataclasses.dataclass(frozen=True, kw_only=True)
... class ReviewSettings(Settings):
...     output: pathlib.Path = pathlib.Path("saved_models/reviews")
...     learning_rate: Positive = 1e-3
...     units: Count = 128
...     \"""Width of a cell.\"""
...     attention: AttentionName | None = None
...     \"""How the words of a review are weighed.\"""
>>> PRESETS = {"best": ReviewSettings(epochs=9, batch_size=32)}

`read_settings` makes a command line of them.
"""

import dataclasses
import math
import pathlib
import types
import typing

from kerasrnn.training.fingerprints import file_fingerprint


@dataclasses.dataclass(frozen=True)
class Bounds:
    """What a number must be, beside its type, as in `Annotated[int, ...]`.

    Attributes:
        words: String that says it.
        hold: Function from the number to whether it is.
    """

    words: str
    hold: typing.Callable[[float], bool]


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


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings:
    """What all recipes can be told; a recipe derives its own from it.

    Every value is checked against the type of its field when an instance is
    made. Beside Python's own types, a field may be a `Count`, a `Whole`, a
    `Rate`, a `Positive`, an `Existing` path, a `CellName` or an
    `AttentionName`.

    Attributes:
        not_identity: Names of the fields that make no training another one.
        saved: Names of the fields that a pipeline to start from brings along
            in its file: model, tokenizers, search. They say nothing then.

    Raises:
        ValueError: when a value is not what its field says, or when the run
            would write over the file that it starts from.
    """

    not_identity: typing.ClassVar[frozenset] = frozenset(
        {"preset", "output", "data_dir", "epochs"}
    )
    saved: typing.ClassVar[frozenset] = frozenset({"dtype"})

    preset: str = ""
    """Settings to start from; other flags change them."""
    output: pathlib.Path
    """Folder to write."""
    data_dir: pathlib.Path | None = None
    """Folder of the corpora; else $KERASRNN_DATA."""
    start_from: Existing | None = None
    """A saved pipeline whose tokenizers and weights to go on from."""
    limit: Count | None = None
    """Use the first N examples of each part only."""
    seed: Whole = 13
    """Of order, weights and samples."""
    epochs: Count
    """Passes over the corpus; a run that has fewer goes on."""
    batch_size: Count
    """Examples in a batch."""
    learning_rate: Positive
    """The highest one."""
    dtype: typing.Literal["float32", "mixed_bfloat16"] = "float32"
    """Precision in training."""

    def __post_init__(self):
        hints = typing.get_type_hints(type(self), include_extras=True)
        for field in dataclasses.fields(self):
            value, hint = getattr(self, field.name), hints[field.name]
            if not _fits(value, hint):
                raise ValueError(
                    f"`{field.name}` must be {_words(hint)}. "
                    f"Received: {field.name}={value!r}"
                )
        start = self.start_from
        if start and start.resolve().parent == self.output.resolve():
            raise ValueError(
                "`output` must be another folder than that of the pipeline to "
                f"start from, which would be written over. Received: '{start}'"
            )

    def in_force(self):
        """Returns the settings that say something, as a dictionary.

        Those in `saved` say nothing where there is a pipeline to start from.
        """
        silent = self.saved if self.start_from else ()
        return {
            name: value
            for name, value in dataclasses.asdict(self).items()
            if name not in silent
        }


def identity(settings):
    """Returns what makes a training another one, the data left out.

    Not where it reads and writes, by what name it was asked for, and how
    many epochs it is to have: `not_identity` of the settings. A file among
    the others, such as a pipeline to start from, is told by what is in it.

    Args:
        settings: A `Settings`.

    Returns:
        A dictionary, for `TrainingFolder`.

    Example:

    >>> settings = Settings(
    ...     output=pathlib.Path("out"),
    ...     epochs=9,
    ...     batch_size=8,
    ...     learning_rate=1e-3,
    ... )
    >>> "epochs" in identity(settings), "batch_size" in identity(settings)
    (False, True)
    """
    return {
        name: file_fingerprint(value) if _is_file(value) else value
        for name, value in settings.in_force().items()
        if name not in settings.not_identity
    }


def by_size(settings, count, sizes):
    """Chooses by the size of a corpus what settings leave open, and says it.

    Args:
        settings: A `Settings`, some of whose fields are `None`.
        count: Integer, how many examples there are to learn from.
        sizes: Dictionary of the greatest count, rising, the last infinite, to
            a dictionary of name to value.

    Returns:
        The settings with those values where they are `None`.

    Example:

    >>> settings = EncoderSettings(
    ...     output=pathlib.Path("out"), epochs=9, learning_rate=1e-3
    ... )
    >>> sizes = {
    ...     10_000: {"units": 64, "batch_size": 32},
    ...     math.inf: {"units": 256, "batch_size": 64},
    ... }
    >>> by_size(settings, 500, sizes).units
    For a corpus of this size: units 64, batch_size 32.
    64
    """
    values = next(sizes[most] for most in sizes if count <= most)
    open_ = {k for k, v in settings.in_force().items() if v is None}
    found = {name: values[name] for name in values if name in open_}
    if found:
        words = ", ".join(f"{name} {value}" for name, value in found.items())
        print(f"For a corpus of this size: {words}.")
    return dataclasses.replace(settings, **found)


def _is_file(value):
    return isinstance(value, pathlib.Path) and value.is_file()


def _fits(value, hint):
    """Whether a value is of a type; of containers, only the outside."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _fits(value, parts[0]) and all(
            mark.hold(value) for mark in parts[1:] if isinstance(mark, Bounds)
        )
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is typing.Literal:
        return value in parts
    if hint in (int, float):
        # A boolean is an integer to Python.
        kinds = (int, float) if hint is float else int
        return isinstance(value, kinds) and not isinstance(value, bool)
    return isinstance(value, origin or hint)


def _words(hint):
    """What a type asks for, in words."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        marks = [mark for mark in parts[1:] if isinstance(mark, Bounds)]
        return marks[0].words if marks else _words(parts[0])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(map(_words, parts))
    if origin is typing.Literal:
        return f"one of {', '.join(map(repr, parts))}"
    return "None" if hint is types.NoneType else f"of type {hint.__name__}"
