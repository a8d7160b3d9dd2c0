"""The command line of a recipe, generated from its settings."""

import argparse
import ast
import contextlib
import dataclasses
import functools
import inspect
import itertools
import re
import sys
import textwrap
import types
import typing
from collections.abc import Callable
from collections.abc import Mapping
from typing import Annotated
from typing import Any

from kerasrnn.optional import needs
from kerasrnn.training.settings import AnySettings
from kerasrnn.training.settings import Settings
from kerasrnn.typing import Strings

# The groups of the help. Settings that a saved pipeline contains belong to the
# model, and all that are not listed here belong to training.
_BOXES = {
    "data": {
        *("corpus", "train", "dev", "test", "source", "target", "old"),
        *("old_dev", "old_columns", "back_translate", "reverse", "oversample"),
        *("alignments", "text_column", "label_column", "label_separator"),
        *("group_column", "multi_label", "word_column", "tag_column"),
        *("sentence_column", "time", "time_format", "decimal", "columns"),
        *("key", "known", "static", "calendar", "step", "resample"),
        *("held_out", "dev_size", "dev_corpora", "max_words", "limit"),
        *("steps_per_beat", "data_dir", "data_license"),
    },
    "model": set(),
    "training": set(),
    "search": {
        *("beam_width", "length_penalty", "no_repeat_ngram", "shortlist"),
        *("copy_unknown", "temperature", "dynamic", "calibrate"),
        "tune_thresholds",
    },
    "output": {"output", "xla", "tensorboard"},
}
_EXAMPLES = 2  # in the help


def read_settings(
    presets: Mapping[str, AnySettings],
    default: str | Callable[[str | None], str] | None = None,
    description: str = "",
    args: Strings | None = None,
) -> AnySettings:
    """Reads the settings of a recipe from its command line.

    Every field becomes a flag, such as `--batch-size` for `batch_size`; the
    string below the field is its help, which may end with what happens without
    a value, as in "; default: all". The help groups the flags: data, model,
    training, search and output. Flags override the preset. If a flag is invalid
    or has no effect with the other settings, the process ends with a message
    and exit code 2.

    Args:
        presets: Dictionary of name to `Settings`, all of the same class.
        default: The preset without `--preset`: its name, or a function from the
            value of `--corpus` (`None` without the flag) to its name. Defaults
            to `preset_of`.
        description: String, the docstring of the recipe. The help shows its
            first line and its first two commands.
        args: List of strings; `None` for the arguments of the process.

    Returns:
        An instance of the class of the presets.

    Example:

    >>> settings = Settings(
    ...     output=pathlib.Path("out"),
    ...     epochs=9,
    ...     batch_size=8,
    ...     learning_rate=1e-3,
    ... )
    >>> read_settings({"best": settings}, "best", args=["--epochs", "3"]).epochs
    3
    """
    with needs("tyro", "recipes"):
        import tyro

    args = sys.argv[1:] if args is None else list(args)
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--preset", choices=presets)
    parser.add_argument("--corpus")
    given = parser.parse_known_args(args)[0]
    if default is None:
        default = preset_of(presets, given.corpus)
    elif callable(default):
        default = default(given.corpus)
    name = given.preset or default
    preset = dataclasses.replace(presets[name], preset=name)
    boxes: dict[str, list[Any]] = {box: [] for box in _BOXES}
    hints = typing.get_type_hints(type(preset), include_extras=True)
    for field, text in _helps(preset).items():
        told, _, unset = with_flags(text or "", preset).partition("; default: ")
        # `from` is a Python keyword, so no field can have that name.
        shown = tyro.conf.arg(
            name="from" if field == "start_from" else None,
            help=f"{told}." if unset else told,
            help_behavior_hint=functools.partial(_shown_default, unset),
            metavar=_shown_type(hints[field]),
        )
        value = dataclasses.field(default=getattr(preset, field))
        hint = Annotated[hints[field], shown]  # type: ignore[valid-type]
        boxes[_box(preset, field)].append((field, hint, value))
    line = dataclasses.make_dataclass(
        type(preset).__name__,
        [
            (box, dataclasses.make_dataclass(box, fields))
            for box, fields in boxes.items()
            if fields
        ],
    )
    found: Any = tyro.cli(
        line,
        args=args,
        description=_introduction(description, presets),
        config=(tyro.conf.OmitArgPrefixes,),
    )
    values = {k: v for x in vars(found).values() for k, v in vars(x).items()}
    try:
        settings = dataclasses.replace(preset, **values)
    except ValueError as error:
        parser.exit(2, _filled(with_flags(str(error), preset)))
    _check_effects(settings, args, parser)
    return settings


def preset_of(presets: Mapping[str, Any], corpus: str | None = None) -> str:
    """Returns the name of the preset for a corpus.

    Args:
        presets: Dictionary of name to `Settings` with the field `corpus`.
        corpus: String.

    Returns:
        The first preset with this corpus, or `"own"` if there is none; without
        a corpus, the first preset.
    """
    if corpus is None:
        return next(iter(presets))
    names = (name for name, x in presets.items() if x.corpus == corpus)
    return next(names, "own")


def with_flags(message: str, settings: Any) -> str:
    """Replaces arguments in a message by flags, if the settings have them.

    Args:
        message: String, such as that of a `CorpusError`.
        settings: The settings of a recipe.

    Example:

    >>> settings = Settings(
    ...     output=pathlib.Path("out"),
    ...     epochs=9,
    ...     batch_size=8,
    ...     learning_rate=1e-3,
    ... )
    >>> with_flags("`batch_size`, or a column of `datasets`", settings)
    '--batch-size, or a column of `datasets`'
    """
    fields = {field.name for field in dataclasses.fields(settings)}
    return re.sub(
        r"`(\w+)`",
        lambda found: _flag(found[1]) if found[1] in fields else found[0],
        message,
    )


def _helps(settings):
    """Returns the string below each field; those of the recipe come first."""
    found = {}
    for kind in type(settings).__mro__:
        lines = []
        # A class that was defined interactively has no source.
        with contextlib.suppress(OSError, TypeError):
            source = textwrap.dedent(inspect.getsource(kind))
            lines = ast.parse(source).body[0].body
        for field, below in itertools.zip_longest(lines, lines[1:]):
            if isinstance(field, ast.AnnAssign):
                name = field.target.id
                told = below.value.value if isinstance(below, ast.Expr) else ""
                found[name] = found.get(name) or " ".join(told.split())
    fields = [field.name for field in dataclasses.fields(settings)]
    return {x: found.get(x) for x in [*found, *fields] if x in fields}


def _box(settings, name):
    """Returns the group of a flag in the help."""
    for box, names in _BOXES.items():
        if name in names:
            return box
    of_all = {field.name for field in dataclasses.fields(Settings)}
    of_model = name in settings.saved and name not in of_all
    return "model" if of_model else "training"


def _shown_type(hint):
    """Returns INT for `int | None`, and `None` for types that tyro shows well.

    tyro would show `{None}|INT`, although `None` is rarely given.
    """
    kinds = list(map(_plain, typing.get_args(_plain(hint))))
    if len(kinds) != 2 or types.NoneType not in kinds:
        return None
    kinds.remove(types.NoneType)
    if typing.get_origin(kinds[0]) is tuple:
        kinds = list(map(_plain, typing.get_args(kinds[0])))
    if not all(isinstance(kind, type) for kind in kinds):
        return None
    return " ".join(kind.__name__.upper() for kind in kinds)


def _shown_default(unset, value):
    """Returns "(default: 5)"; without a value, `unset` says what happens."""
    shown = unset.removesuffix(".") if value in ("None", "") else value
    return f"(default: {shown})" if shown else ""


def _plain(hint):
    """Returns a type without its annotations."""
    is_annotated = typing.get_origin(hint) is Annotated
    return typing.get_args(hint)[0] if is_annotated else hint


def _introduction(description, presets):
    """Returns the first line of a recipe, two commands, and its presets."""
    first, *rest = description.strip().split("\n")
    commands = [line for line in rest if line.startswith("    python ")]
    parts = ["\n".join([first, *commands[:_EXAMPLES]])]
    if len(presets) > 1:
        # Longer lines of a description are not wrapped, and those that are not
        # indented are joined.
        presets = f"Presets: {', '.join(presets)}."
        parts.append(_filled(presets, "    ").rstrip())
    return "\n\n".join(parts)


def _filled(message, indent=""):
    filled = textwrap.fill(
        message, 79, subsequent_indent=indent, break_on_hyphens=False
    )
    return f"{filled}\n"


def _check_effects(settings, args, parser):
    """Ends the process if a given flag has no effect."""
    given = {word.partition("=")[0].replace("_", "-") for word in args}
    idle = {
        name: given & {_flag(name), f"--no-{_flag(name)[2:]}"}
        for name in settings.without_effect()
    }
    idle = {name: flags for name, flags in idle.items() if flags}
    if not idle:
        return
    of_file = idle.keys() & settings.saved if settings.start_from else set()
    reason = (
        "With --from, the model, tokenizers and search come from the saved "
        "pipeline."
        if of_file
        else "Some flags have no effect with the others."
    )
    needed = [
        f"{_flag(name)} needs {_needed(*settings.needs[name])}"
        for name in (idle.keys() & settings.lacking()) - of_file
    ]
    expected = "; ".join(sorted(needed)) or "only flags that have an effect"
    received = ", ".join(sorted(set().union(*idle.values())))
    message = f"{reason} Expected: {expected}. Received: {received}"
    parser.exit(2, _filled(message))


def _flag(name):
    return "--from" if name == "start_from" else f"--{name.replace('_', '-')}"


def _needed(other, *values):
    """Returns the requirement of a flag, from `Settings.needs`, in words."""
    flag, true = _flag(other), [str(x) for x in values if x]
    words = [f"no {flag}"] if len(true) < len(values) else []
    if true or not values:
        words.append(f"{flag} {' or '.join(true)}".rstrip())
    return " or ".join(words)
