"""Typed settings of recipes, which are checked on creation.

>>> @dataclasses.dataclass(frozen=True, kw_only=True)
... class ReviewSettings(Settings):
...     output: pathlib.Path = pathlib.Path("saved_models/reviews")
...     learning_rate: Positive = 1e-3
...     units: Count = 128
...     \"""Width of a cell.\"""
...     attention: AttentionName | None = None
...     \"""Attention over the words of a review.\"""
>>> PRESETS = {"best": ReviewSettings(epochs=9, batch_size=32)}

`read_settings` turns them into a command line.
"""

import dataclasses
import math
import pathlib
import types
import typing
from collections.abc import Mapping
from typing import Any
from typing import TypeAlias

from kerasrnn.distribute import Distribution
from kerasrnn.layers.attention.by_name import mechanisms_by_name
from kerasrnn.training.fingerprints import file_fingerprint
from kerasrnn.typing import Config


@dataclasses.dataclass(frozen=True)
class Bounds:
    """A condition on a value in addition to its type, for `Annotated`.

    Attributes:
        words: String, the condition in words.
        hold: Function from a value to whether it meets the condition.
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
if typing.TYPE_CHECKING:
    AttentionName: TypeAlias = str
    SelfAttentionName: TypeAlias = str
    PastAttentionName: TypeAlias = str
else:
    # Each attention mechanism defines its names.
    _NAMED = mechanisms_by_name()
    _SELF = tuple(name for name, x in _NAMED.items() if x.positionwise)
    AttentionName = typing.Literal[tuple(_NAMED)]
    SelfAttentionName = typing.Literal[_SELF]
    PastAttentionName = typing.Literal[(*_SELF, "transformer", "sha")]


def fits(value, hint):
    """Whether a value has a type; items of containers are not checked."""
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
        # In Python, booleans are integers.
        kinds = (int, float) if hint is float else int
        return isinstance(value, kinds) and not isinstance(value, bool)
    return isinstance(value, origin or hint)


def type_in_words(hint):
    """Describes a type in words, for error messages."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        marks = [mark for mark in parts[1:] if isinstance(mark, Bounds)]
        return marks[0].words if marks else type_in_words(parts[0])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(map(type_in_words, parts))
    if origin is typing.Literal:
        return f"one of {', '.join(map(repr, parts))}"
    return "None" if hint is types.NoneType else f"of type {hint.__name__}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of all recipes; each recipe defines a subclass.

    On creation, every value is checked against the type of its field. Besides
    Python types, a field may be a `Count`, a `Whole`, a `Rate`, a `Positive`, a
    `NotNegative`, an `Existing` path, a `CellName`, an `AttentionName`, a
    `SelfAttentionName` or a `PastAttentionName`.

    Attributes:
        not_identity: Names of the fields that may change without starting a new
            training.
        saved: Names of the fields that have no effect when a run starts from a
            saved pipeline, which contains the model, tokenizers and search.
        needs: Dictionary from the name of a field to a tuple
            `(other, *values)`: the field has an effect only if the field
            `other` has one of the values or, without values, is true, as in
            `{"memory": ("attention",), "warmup": ("schedule", "cosine")}`.

    Raises:
        ValueError: when a value does not fit the type of its field, or the run
            would overwrite the file that it starts from.
    """

    not_identity: typing.ClassVar[frozenset[str]] = frozenset(
        {
            *("preset", "output", "data_dir", "data_license", "epochs"),
            *("distribute", "devices", "tensorboard", "xla"),
        }
    )
    saved: typing.ClassVar[frozenset[str]] = frozenset({"dtype"})
    needs: typing.ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "devices": ("distribute", "mirrored"),
        "warmup": ("schedule", "cosine"),
    }

    preset: str = ""
    """Settings to start from; other flags override them."""
    output: pathlib.Path
    """Folder to write to."""
    data_dir: pathlib.Path | None = None
    """Folder of downloaded corpora; default: $KERASRNN_DATA."""
    data_license: str | None = None
    """License of the corpus, for the model card."""
    start_from: Existing | None = None
    """Saved pipeline to fine-tune; its tokenizers and weights are used."""
    limit: Count | None = None
    """Use only the first N examples of each split."""
    seed: Whole = 13
    """Random seed of data order, initial weights and sampling."""
    epochs: Count
    """Passes over the corpus; a higher number continues a finished run;
    default: by the size of the corpus."""
    batch_size: Count
    """Examples in a batch; default: by the size of the corpus."""
    learning_rate: Positive
    """Peak learning rate."""
    schedule: typing.Literal["cosine", "constant"] = "cosine"
    """Schedule of the learning rate."""
    warmup: Count | None = None
    """Warmup steps of the learning rate; default: at most a tenth of all."""
    clip: Positive = 1.0
    """Maximum global norm of the gradients."""
    ema: Rate = 0.0
    """Momentum of the moving average of weights, less in short trainings; 0 for
    no average."""
    dtype: typing.Literal["auto", "float32", "mixed_bfloat16"] = "float32"
    """Precision of training; auto: the faster one on this device."""
    distribute: Distribution | None = None
    """Train on the devices of this machine, or on the workers in TF_CONFIG."""
    devices: Count | None = None
    """Number of devices for --distribute mirrored; default: all GPUs."""
    tensorboard: bool = False
    """Write TensorBoard logs to a folder in the output folder."""

    def __post_init__(self):
        hints = typing.get_type_hints(type(self), include_extras=True)
        for field in dataclasses.fields(self):
            value, hint = getattr(self, field.name), hints[field.name]
            if not fits(value, hint):
                shown = f"{value}" if _is_path(value) else f"{value!r}"
                raise ValueError(
                    f"`{field.name}` must be {type_in_words(hint)}. "
                    f"Received: {field.name}={shown}"
                )
        self.need_other_folder("start_from")

    def without_effect(self) -> frozenset[str]:
        """Returns the names of fields that have no effect with the others.

        Fields in `saved` have none if the run starts from a pipeline, and
        fields in `needs` have none if their requirement is not met. A recipe
        may add others. The command line refuses them.
        """
        return (self.saved if self.start_from else frozenset()) | self.lacking()

    def lacking(self) -> frozenset[str]:
        """Returns the names of fields whose requirements are not met."""
        return frozenset(
            name
            for name, (other, *values) in self.needs.items()
            if not _is_met(getattr(self, other), values)
        )

    def need_other_folder(self, name: str) -> None:
        """Raises `ValueError` if the run would overwrite a saved pipeline.

        Args:
            name: String, the field with the path of the pipeline.
        """
        path = getattr(self, name)
        if path and path.resolve().parent == self.output.resolve():
            raise ValueError(
                "`output` must not be the folder of the pipeline to start "
                f"from, which would be overwritten. Received: '{path}'"
            )

    def need_own_corpus(self, built_in: str, *names: str) -> None:
        """Raises `ValueError` if fields are set that a built-in corpus ignores.

        Args:
            built_in: String, the name of a corpus that the recipe generates.
            *names: Names of the fields that need another corpus.
        """
        for name in names if vars(self)["corpus"] == built_in else ():
            if value := getattr(self, name):
                raise ValueError(
                    f"`{name}` needs a `corpus` of your own. Received: "
                    f"{name}={value!r}, corpus={built_in!r}"
                )

    def pick(self, *names: str) -> Config:
        """Returns the settings with some names, as keyword arguments."""
        return {name: getattr(self, name) for name in names}

    def in_force(self) -> Config:
        """Returns the settings that have an effect, as a dictionary."""
        unused = self.without_effect()
        return {
            name: value
            for name, value in dataclasses.asdict(self).items()
            if name not in unused
        }


AnySettings = typing.TypeVar("AnySettings", bound=Settings)


def identity(settings: Settings) -> Config:
    """Returns the settings that identify a training.

    Fields in `not_identity` are left out: folders, the name of the preset and
    the number of epochs. A file, such as a pipeline to start from, is replaced
    by its `file_fingerprint`. The data are not included.

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
        name: file_fingerprint(value)
        if _is_path(value) and value.is_file()
        else value
        for name, value in settings.in_force().items()
        if name not in settings.not_identity
    }


def by_size(
    settings: AnySettings, count: int, sizes: Mapping[float, Mapping[str, Any]]
) -> AnySettings:
    """Chooses settings that are `None` by the size of the corpus.

    The chosen values are printed.

    Args:
        settings: A `Settings` with fields that are `None`.
        count: Integer, the number of training examples.
        sizes: Dictionary from the maximum count, in increasing order with
            infinity as the last one, to a dictionary of name to value.

    Returns:
        The settings with these values in place of `None`.

    Example:

    >>> settings = EncoderSettings(
    ...     output=pathlib.Path("out"), epochs=9, learning_rate=1e-3
    ... )
    >>> sizes = {
    ...     10_000: {"units": 64, "batch_size": 32},
    ...     float("inf"): {"units": 256, "batch_size": 64},
    ... }
    >>> by_size(settings, 500, sizes).units
    Chosen for a corpus of this size: units 64, batch_size 32.
    64
    """
    values = next(sizes[most] for most in sizes if count <= most)
    open_ = {k for k, v in settings.in_force().items() if v is None}
    found = {name: values[name] for name in values if name in open_}
    if found:
        words = ", ".join(f"{name} {value}" for name, value in found.items())
        print(f"Chosen for a corpus of this size: {words}.")
    return dataclasses.replace(settings, **found)


def _is_met(value, values):
    return value in values if values else bool(value)


def _is_path(value):
    return isinstance(value, pathlib.Path)
