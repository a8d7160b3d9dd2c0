"""Rows of numbers as a CSV file: the log of a training.

`keras.callbacks.CSVLogger` appends to its file: a killed process leaves half a
row, and a repeated epoch a second row. Here `write_rows` replaces the whole
file. `append_row` appends, for logs of many rows; `without_half_row` removes
what a killed process left of a row.
"""

import csv
import math
import pathlib
from collections.abc import Mapping
from collections.abc import Sequence

from kerasrnn.files import atomic_write
from kerasrnn.typing import History
from kerasrnn.typing import PathLike


def read_rows(path: PathLike) -> list[dict[str, float]]:
    """Reads the rows of a CSV file: dictionaries of name to number.

    An empty cell is NaN. A missing file has no rows.

    Args:
        path: Path of the file.

    Raises:
        ValueError: when the file is not a table of numbers, or a row does
            not have all columns.
    """
    path = pathlib.Path(path)
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if any(None in row or None in row.values() for row in rows):
        raise ValueError(
            "Each row of a log must have as many cells as the header. "
            f"Received: '{path}'."
        )
    return [
        {name: float(value or math.nan) for name, value in row.items()}
        for row in rows
    ]


def write_rows(path: PathLike, rows: Sequence[Mapping[str, float]]) -> None:
    """Writes rows to a CSV file, all of them or none.

    Args:
        path: Path of the file. An existing file is replaced.
        rows: List of dictionaries of name to number, at least one. The cell
            of a name that a row lacks stays empty.
    """
    path = pathlib.Path(path)
    names = dict.fromkeys(name for row in rows for name in row)
    with (
        atomic_write(path) as partial,
        partial.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


def append_row(path: PathLike, row: Mapping[str, float]) -> None:
    """Writes a row behind those of a CSV file, without reading them.

    A killed process may leave half of it; `without_half_row` removes that.

    Args:
        path: Path of a file that `write_rows` wrote.
        row: Dictionary of name to number, with the names of its header, in
            their order.
    """
    with pathlib.Path(path).open("a", newline="", encoding="utf-8") as file:
        csv.DictWriter(file, list(row)).writerow(row)


def without_half_row(path: PathLike) -> None:
    """Removes what a killed `append_row` left at the end of a file.

    Args:
        path: Path of the file; if it is missing, nothing is done.
    """
    path = pathlib.Path(path)
    if path.exists():
        whole_rows = path.read_bytes().rpartition(b"\n")
        if whole_rows[2]:
            with path.open("rb+") as file:
                file.truncate(len(whole_rows[0] + whole_rows[1]))


def columns(rows: Sequence[Mapping[str, float]]) -> History:
    """Returns rows as columns: a dictionary of name to list.

    Args:
        rows: List of dictionaries with the same names.
    """
    return {name: [row[name] for row in rows] for name in (rows or [{}])[0]}
