"""Recurrent cells by the short names that recipes use."""

import typing
from typing import Any

import keras

from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastLSTMCell
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import RHNCell

CellName = typing.Literal["rnn", "lstm", "gru", "rhn", "gam_rhn"]
CELLS = typing.get_args(CellName)


def build_cell(
    name: CellName, units: int, depth: int | None = None, **options: Any
) -> keras.layers.Layer:
    """Returns the recurrent cell with a short name.

    A GAM-RHN gets as many memory groups as units, three slots in each group,
    and `head_units` of half the units.

    Args:
        name: `"rnn"`, `"lstm"`, `"gru"`, `"rhn"` or `"gam_rhn"`.
        units: Positive integer, width of the output.
        depth: Positive integer, micro-steps of an RHN (default 3) or a
            GAM-RHN (default 2). The other cells ignore it.
        **options: Passed to the cell, such as `recurrent_dropout`.

    Raises:
        ValueError: when there is no cell of that name.

    Example:

    >>> cell = build_cell("rhn", 256, recurrent_dropout=0.2)
    """
    if name == "gam_rhn":
        return GAMRHNCell(
            units,
            depth or 2,
            num_groups=units,
            group_size=3,
            head_units=max(1, units // 2),
            **options,
        )
    if name == "rhn":
        return RHNCell(units, depth or 3, **options)
    cells = {
        "rnn": keras.layers.SimpleRNNCell,
        "lstm": FastLSTMCell,
        "gru": FastGRUCell,
    }
    if name not in cells:
        raise ValueError(
            f"There is no cell {name!r}. Expected one of {', '.join(CELLS)}."
        )
    return cells[name](units, **options)
