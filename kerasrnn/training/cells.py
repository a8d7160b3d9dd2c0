"""The recurrent cells that recipes call by short names."""

import typing

import keras

from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastLSTMCell
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import RHNCell

CellName = typing.Literal["rnn", "lstm", "gru", "rhn", "gam_rhn"]
CELLS = typing.get_args(CellName)


def build_cell(name, units, depth=None, **options):
    """Returns the recurrent cell that a recipe calls by a short name.

    A GAM-RHN has as many memory groups of three slots as it has units, and
    heads of half its units, at least one.

    Args:
        name: One of `CELLS`: `"rnn"`, `"lstm"`, `"gru"`, `"rhn"`,
            `"gam_rhn"`.
        units: Positive integer, width of the output.
        depth: Positive integer, micro-steps of an RHN (3 where `None`) or a
            GAM-RHN (2); the others have none.
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
