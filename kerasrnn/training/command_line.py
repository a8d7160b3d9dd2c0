"""The command line of a recipe, generated from its settings."""

import argparse
import dataclasses
import re
import sys
import textwrap
from collections.abc import Callable
from collections.abc import Mapping
from typing import Annotated
from typing import Any

from kerasrnn.optional import needs
from kerasrnn.training.settings import AnySettings
from kerasrnn.training.settings import Existing
from kerasrnn.typing import Strings


def read_settings(
    presets: Mapping[str, AnySettings],
    default: str | Callable[[str | None], str],
    description: str = "",
    args: Strings | None = None,
) -> AnySettings:
    """Reads the settings of a recipe from its command line.

    Every field becomes a flag, such as `--batch-size` for `batch_size`; the
    string below the field is its help. Flags override the preset. A flag that
    is wrong, or has no effect beside the other settings, ends the process with
    a message and exit code 2.

    Args:
        presets: Dictionary of name to `Settings`, all of one class.
        default: The preset to use without `--preset`: its name, or a
            function from the value of `--corpus` (`None` without the flag)
            to its name.
        description: String, whose first line is shown in the help.
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
    if callable(default):
        default = default(given.corpus)
    name = given.preset or default
    preset = dataclasses.replace(presets[name], preset=name)
    # Longer lines of a description are not wrapped.
    listed = textwrap.fill(f"Presets: {', '.join(presets)}.", 79)
    names = [listed] if len(presets) > 1 else []
    # `from` is a keyword of Python, so no field can have that name.
    start_from = Annotated[Existing | None, tyro.conf.arg(name="from")]
    line = dataclasses.make_dataclass(
        type(preset).__name__,
        [("start_from", start_from, None)],
        bases=(type(preset),),
        frozen=True,
        kw_only=True,
    )
    found = tyro.cli(
        line,
        default=line(**vars(preset)),
        args=args,
        description="\n\n".join([description.strip().split("\n")[0], *names]),
    )
    settings = dataclasses.replace(preset, **vars(found))
    _check_effects(settings, args, parser)
    return settings


def with_flags(message: str, settings: Any) -> str:
    """Returns a message with arguments as flags, where settings have them.

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


def _check_effects(settings, args, parser):
    """Ends the process if a flag is given that has no effect."""
    given = {word.partition("=")[0].replace("_", "-") for word in args}
    useless, needed, of_file = [], [], False
    lacking = settings.lacking()
    for name in settings.without_effect():
        flag = _flag(name)
        found = given & {flag, f"--no-{flag[2:]}"}
        useless += found
        if found and settings.start_from and name in settings.saved:
            of_file = True
        elif found and name in lacking:
            needed.append(f"{flag} needs {_needed(*settings.needs[name])}")
    if useless:
        reason = "Some flags have no effect beside the others."
        if of_file:
            reason = (
                "With --from, model, tokenizers and search are those of the "
                "saved pipeline."
            )
        expected = "; ".join(sorted(needed)) or "only flags that change the run"
        message = f"{reason} Expected: {expected}. Received: "
        message += ", ".join(sorted(useless))
        parser.exit(
            2, textwrap.fill(message, 79, break_on_hyphens=False) + "\n"
        )


def _flag(name):
    return "--from" if name == "start_from" else f"--{name.replace('_', '-')}"


def _needed(other, *values):
    """What a flag needs, as `Settings.needs` says it, in words."""
    flag, true = _flag(other), [str(x) for x in values if x]
    words = [f"no {flag}"] if len(true) < len(values) else []
    if true or not values:
        words.append(f"{flag} {' or '.join(true)}".rstrip())
    return " or ".join(words)
