"""Runs a recipe once for each row of a table."""

import json
import pathlib
import subprocess
import sys

RECIPES = pathlib.Path(__file__).parents[1]


def run_rows(recipe, rows, output, flags):
    """Runs a recipe once for each row, in a separate process and folder.

    Rows that an earlier call trained are not trained again.

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
        command = [sys.executable, RECIPES / recipe, *flags, *own]
        subprocess.run([*command, "--output", output / name], check=True)
        card = output / name / "card.json"
        cards[name] = json.loads(card.read_text(encoding="utf-8"))
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
