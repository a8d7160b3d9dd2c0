"""The command line of a recipe, made of its settings."""

import argparse
import dataclasses
import sys
from typing import Annotated

from kerasrnn.training.settings import Existing


def read_settings(presets, default, description="", args=None):
    """Reads the settings of a recipe from its command line.

    Every field is a flag, `batch_size` for one `--batch-size`; the string
    below a field is its line of help. A flag is stronger than the preset.
    What is wrong ends the process with a message and exit code 2.

    Args:
        presets: Dictionary of name to `Settings`, all of one class.
        default: String, the preset without `--preset`, or a function that
            returns it for the value of `--corpus`, `None` where it is not
            given.
        description: String; its first line is shown.
        args: List of strings; `None` for those of the process.

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
    # Recipes have it; the package loads without, and faster.
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
    names = [f"Presets: {', '.join(presets)}."] if len(presets) > 1 else []
    # `from` is no name that a field of Python could have.
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
    _check_start(settings, preset, parser)
    return settings


def _check_start(settings, preset, parser):
    """Ends the process if a flag is given whose say a saved pipeline has."""
    heard = settings.in_force()
    unheard = [
        f"--{name.replace('_', '-')}"
        for name in dataclasses.asdict(settings)
        if name not in heard
        and getattr(settings, name) != getattr(preset, name)
    ]
    if unheard:
        parser.exit(
            2,
            "The pipeline to start from has its own model, tokenizers and "
            "search. Expected: with --from, flags of the training alone. "
            f"Received: {', '.join(unheard)}\n",
        )
