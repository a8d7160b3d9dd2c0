"""Rows of numbers as a CSV file: what a training notes as it goes."""

import csv
import math
import pathlib


def read_rows(path):
    """Returns the rows of a file: dictionaries of name to number.

    What is empty is a NaN. A file that is not there has no row.

    Args:
        path: Path of the file.
    """
    path = pathlib.Path(path)
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [
            {name: float(value or math.nan) for name, value in row.items()}
            for row in csv.DictReader(file)
        ]


def write_rows(path, rows):
    """Writes rows to a file, all of them or none.

    Args:
        path: Path of the file; one that is there is replaced.
        rows: List of dictionaries of name to number, not empty; what one of
            them lacks is left empty.
    """
    path = pathlib.Path(path)
    partial = path.with_name(f".{path.name}.partial")
    names = dict.fromkeys(name for row in rows for name in row)
    with partial.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    partial.replace(path)


def columns(rows):
    """Returns rows as columns: a dictionary of name to list.

    Args:
        rows: List of dictionaries with the same names.
    """
    return {name: [row[name] for row in rows] for name in (rows or [{}])[0]}
