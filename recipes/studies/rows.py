"""Runs a recipe once for each row of a table."""

import argparse
import pathlib
import shlex
import subprocess
import sys

import numpy as np

from kerasrnn import training

RECIPES = pathlib.Path(__file__).parents[1]


def table_parser(description, name):
    """Returns a parser of the flags of a study itself, such as `--output`.

    Args:
        description: String, whose first line is shown by `--help`.
        name: String, the name of the study and of its folder.
    """
    parser = argparse.ArgumentParser(
        description=description.partition("\n")[0], allow_abbrev=False
    )
    parser.add_argument(
        "--output",
        type=pathlib.Path,
        default=f"saved_models/{name}",
        help="folder to write to",
    )
    return parser


def check_flags(recipe, rows, flags):
    """Ends the process if a flag of all rows is also one of a row.

    Args:
        recipe, rows, flags: As for `run_rows`.
    """
    own = {_setting(flag) for row in rows.values() for flag in row}
    twice = [x for x in flags if x.startswith("--") and _setting(x) in own]
    if twice:
        raise SystemExit(
            f"The rows set some flags of {recipe} themselves. Expected: flags "
            f"that no row sets. Received: {', '.join(twice)}"
        )


def run_rows(recipe, rows, output, flags):
    """Runs a recipe once for each row, in a separate process and folder.

    A row whose card was written by the same command is not run again; an
    interrupted one is resumed.

    Args:
        recipe: String, the file name of a recipe.
        rows: Dictionary of name to list of flags.
        output: Path of the folder that contains a folder for each row.
        flags: List of strings, flags of all rows.

    Returns:
        Dictionary of name to card.

    Raises:
        SystemExit: when a flag of all rows is also one of a row.
        subprocess.CalledProcessError: when a run fails.
    """
    check_flags(recipe, rows, flags)
    cards = {}
    for name, own in rows.items():
        print(f"\n{name}: {' '.join(own)}", flush=True)
        folder = output / name
        command = [RECIPES / recipe, *flags, *own, "--output", folder]
        command = shlex.join(["python", *map(str, command)])
        card = training.read_card(folder / "card.json", command=command)
        if card is None:
            python = [sys.executable, *shlex.split(command)[1:]]
            subprocess.run(python, check=True)
            card = training.read_card(folder / "card.json")
        cards[name] = card
    return cards


def _setting(flag):
    """The name of the setting that a flag changes."""
    name = flag.partition("=")[0].replace("_", "-")
    return name.replace("--no-", "--")


def summary(values, digits=2, sign=""):
    """Returns the mean over runs and, of several, the standard deviation.

    Args:
        values: List of numbers, one of each run.
        digits: Integer, how many digits to show after the point.
        sign: `"+"` to show the sign of a positive mean, too.
    """
    mean = f"{np.mean(values):{sign}.{digits}f}"
    if len(values) == 1:
        return mean
    return f"{mean} ± {np.std(values, ddof=1):.{digits}f}"


def write_table(path, columns, rows):
    """Prints a table and writes it to a file, as Markdown.

    Args:
        path: File to write.
        columns: List of strings, the header.
        rows: List of lists of strings, of the same length.
    """
    ruler = ["---", *["--:"] * (len(columns) - 1)]
    lines = [" | ".join(cells) for cells in (columns, ruler, *rows)]
    text = "".join(f"| {line} |\n" for line in lines)
    print(text)
    path.write_text(text, encoding="utf-8")
