"""The rows of a table: a recipe is run as a command for each."""

import json
import pathlib
import subprocess
import sys

RECIPES = pathlib.Path(__file__).parents[1]


def run_rows(recipe, rows, output, flags):
    """Runs a recipe once for each row, in a process and folder of its own.

    What an earlier call has trained is not trained again.

    Args:
        recipe: String, the file name of a recipe.
        rows: Dictionary of name to list of flags.
        output: Path of the folder of the rows' folders.
        flags: List of strings, flags of all rows; the rows' own are stronger.

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
