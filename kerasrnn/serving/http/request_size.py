"""How large a request is, before any work is done for it."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from kerasrnn.serving.signature import Signature

# Scalars that say how many rows there will be, and how many positions to add
# to each row.
_ROWS = "count"
_ADDED = ("max_tokens", "steps")


def check_row_count(name: str, value: Any, most: int) -> None:
    """Raises an error if an input has too many rows.

    Args:
        name: Name of the input.
        value: Array or list. An empty array may claim any size.
        most: The most rows.

    Raises:
        ValueError: when it has.
    """
    rows = len(value) if isinstance(value, list) else 0
    if isinstance(value, np.ndarray):
        shape = value.shape if value.size == 0 else value.shape[:1]
        rows = max(shape, default=0)
    if rows > most:
        raise ValueError(
            f"The input `{name}` must have at most {most} rows. "
            f"Received: {rows}."
        )


def positions(
    signature: Signature,
    inputs: Mapping[str, np.ndarray],
    max_positions: int,
    max_values: int,
) -> int:
    """Counts the positions of a request: rows times the longest of them.

    The length of a text is its number of characters. Scalars such as
    `max_tokens` are added to the longest row. The scalar `count` is a number of
    rows.

    Args:
        signature: The `Signature` to call.
        inputs: Dictionary from names to arrays.
        max_positions: The most positions.
        max_values: The most numbers and strings of the answer.

    Returns:
        The number of positions, at least 1.

    Raises:
        ValueError: when it is too large.
    """
    batches = {name: x for name, x in inputs.items() if x.ndim}
    numbers = {
        name: max(0, int(x))
        for name, x in inputs.items()
        if not x.ndim and x.dtype.kind == "i"
    }
    rows = max([1, *map(len, batches.values()), numbers.get(_ROWS, 1)])
    added = sum(numbers.get(name, 0) for name in _ADDED)
    longest = max([1, *map(_longest, batches.values())])
    steps = longest + added
    if rows * steps > max_positions:
        raise ValueError(
            f"A request must have at most {max_positions} positions. Received: "
            f"{rows} rows of {longest} characters or ids and {added} more to "
            f"add, which are {rows * steps}."
        )
    values = sum(
        math.prod(_sizes(spec.shape, rows, steps))
        for spec in signature.outputs.values()
    )
    if values > max_values:
        raise ValueError(
            f"An answer must have at most {max_values} values. Received: "
            f"{rows} rows of {steps} positions, for which `{signature.name}` "
            f"may have {values}."
        )
    return rows * steps


def _longest(array):
    """The length of the longest row."""
    if array.dtype == object:
        rows = array.reshape(len(array), -1) if array.size else array
        return max((_characters(row) for row in rows), default=1)
    return max(array.shape[1:2], default=1)


def _characters(texts):
    """The number of characters, and of an end token for each text."""
    return sum(len(text.decode()) + 1 for text in texts)


def _sizes(shape, rows, steps):
    """The sizes of an output; of one whose rank is unknown, a guess."""
    sizes = [None, None] if shape.rank is None else shape
    unknown = [rows, *[steps] * len(sizes)]
    return [
        unknown[axis] if size is None else size
        for axis, size in enumerate(sizes)
    ]
