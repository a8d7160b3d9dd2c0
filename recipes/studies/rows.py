"""Runs a recipe once for each row of a table."""

import pathlib
import shlex
import subprocess
import sys

from kerasrnn import training

RECIPES = pathlib.Path(__file__).parents[1]


def run_rows(recipe, rows, output, flags):
    """Runs a recipe once for each row, in a separate process and folder.

    A row whose card was written by the same command is not run again; an
    interrupted one is resumed.

    Args:
        recipe: String, the file name of a recipe.
        rows: Dictionary of name to list of flags.
        output: Path of the folder that contains a folder for each row.
        flags: List of strings, flags of all rows. Those of a row override
            them.

    Returns:
        Dictionary of name to card.

    Raises:
        subprocess.CalledProcessError: when a run fails.
    """
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
