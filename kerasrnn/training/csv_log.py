"""Rows of numbers as a CSV file: what a training notes as it goes.

Not `keras.callbacks.CSVLogger`, which appends: a kill leaves it half a row,
and an epoch that is repeated a second one.
"""

import csv
import math
import pathlib

from kerasrnn.training.files import whole


def read_rows(path):
    """Returns the rows of a file: dictionaries of name to number.

    What is empty is a NaN. A file that is not there has no row.

    Args:
        path: Path of the file.

    Raises:
        ValueError: when it is no table of numbers, or a row is cut.
    """
    path = pathlib.Path(path)
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if any(None in row or None in row.values() for row in rows):
        raise ValueError(
            "A log must have as many numbers in each row as names at its top. "
            f"Received: '{path}'."
        )
    return [
        {name: float(value or math.nan) for name, value in row.items()}
        for row in rows
    ]


def write_rows(path, rows):
    """Writes rows to a file, all of them or none.

    Args:
        path: Path of the file; one that is there is replaced.
        rows: List of dictionaries of name to number, not empty; what one of
            them lacks is left empty.
    """
    path = pathlib.Path(path)
    names = dict.fromkeys(name for row in rows for name in row)
    with (
        whole(path) as partial,
        partial.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


def columns(rows):
    """Returns rows as columns: a dictionary of name to list.

    Args:
        rows: List of dictionaries with the same names.
    """
    return {name: [row[name] for row in rows] for name in (rows or [{}])[0]}
