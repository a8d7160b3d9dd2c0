"""CSV files of numbers: the log of a training.

`keras.callbacks.CSVLogger` appends to its file, so a killed process leaves an
incomplete row, and a repeated epoch adds a second row. Here, `write_rows`
replaces the whole file.
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
    """Reads the rows of a CSV file as dictionaries of name to number.

    Empty cells are NaN. A missing file gives no rows.

    Args:
        path: Path of the file.

    Raises:
        ValueError: when the file is not a table of numbers, or a row lacks
            columns.
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
        rows: Non-empty list of dictionaries of name to number. Cells of missing
            names stay empty.
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


def columns(rows: Sequence[Mapping[str, float]]) -> History:
    """Converts rows to columns: a dictionary of name to list.

    Args:
        rows: List of dictionaries with the same names.
    """
    return {name: [row[name] for row in rows] for name in (rows or [{}])[0]}
