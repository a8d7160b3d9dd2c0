"""Recurrent cells by short names, for recipes."""

import typing
from typing import Any

import keras

from kerasrnn.arguments import one_of
from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastLSTMCell
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import GatedDeltaCell
from kerasrnn.layers import Mamba2Cell
from kerasrnn.layers import MinGRUCell
from kerasrnn.layers import MinLSTMCell
from kerasrnn.layers import MLSTMCell
from kerasrnn.layers import RGLRUCell
from kerasrnn.layers import RHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.layers import SHACell
from kerasrnn.layers import SLSTMCell
from kerasrnn.layers import TransformerCell
from kerasrnn.training.settings import PastAttentionName

CellName = typing.Literal[
    "rnn",
    "lstm",
    "gru",
    "rhn",
    "gam_rhn",
    "slstm",
    "min_gru",
    "min_lstm",
    "rg_lru",
    "gated_delta",
    "mlstm",
    "mamba2",
]
CELLS = typing.get_args(CellName)


def cell_needs() -> dict[str, tuple[str, ...]]:
    """Returns which settings only affect certain cells.

    Returns:
        A dictionary for `Settings.needs`, with `"micro_steps"` and
        `"recurrent_dropout"`.

    Example:

    >>> cell_needs()["micro_steps"]
    ('cell', 'rhn', 'gam_rhn')
    """
    return {
        "micro_steps": ("cell", "rhn", "gam_rhn"),
        "recurrent_dropout": (
            *("cell", "rnn", "lstm", "gru", "rhn", "gam_rhn", "slstm"),
            "peephole_lstm",
        ),
    }


def build_cell(
    name: CellName, units: int, depth: int | None = None, **options: Any
) -> keras.layers.Layer:
    """Returns the recurrent cell with a short name.

    A GAM-RHN gets `num_groups=units`, `group_size=3`, `head_units=units // 2`
    and `head_norm=True`.

    Args:
        name: `"rnn"`, `"lstm"`, `"gru"`, `"rhn"`, `"gam_rhn"`, `"slstm"`,
            `"min_gru"`, `"min_lstm"`, `"rg_lru"` (its input must have the width
            `units`), `"gated_delta"` or `"mlstm"`.
        units: Positive integer, width of the output.
        depth: Positive integer, micro-steps of an RHN (default 3) or a
            GAM-RHN (default 2). The other cells ignore it.
        **options: Passed to the cell, such as `recurrent_dropout`. Cells that
            are linear in their state do not support `recurrent_dropout` and do
            not get it.

    Raises:
        ValueError: when the name is unknown.

    Example:

    >>> cell = build_cell("rhn", 256, recurrent_dropout=0.2)
    """
    if name == "gam_rhn":
        return GAMRHNCell(
            units,
            2 if depth is None else depth,
            num_groups=units,
            group_size=3,
            head_units=max(1, units // 2),
            head_norm=True,
            **options,
        )
    if name == "rhn":
        return RHNCell(units, 3 if depth is None else depth, **options)
    cells = {
        "rnn": keras.layers.SimpleRNNCell,
        "lstm": FastLSTMCell,
        "gru": FastGRUCell,
        "slstm": SLSTMCell,
        "min_gru": MinGRUCell,
        "min_lstm": MinLSTMCell,
        "rg_lru": RGLRUCell,
        "gated_delta": GatedDeltaCell,
        "mlstm": MLSTMCell,
        "mamba2": Mamba2Cell,
    }
    one_of("name", name, cells)
    if name not in cell_needs()["recurrent_dropout"]:
        options.pop("recurrent_dropout", None)
    return cells[name](units, **options)


def add_attention(
    cell: keras.layers.Layer,
    name: PastAttentionName | None,
    memory: int = 32,
    blocks: int = 1,
    dropout: float = 0.0,
) -> keras.layers.Layer:
    """Adds attention to the past to a cell.

    Args:
        cell: A recurrent cell.
        name: `"transformer"` for transformer blocks above the cell, `"sha"` for
            the block of SHA-RNN around it, or the mechanism with which the cell
            attends to its own outputs, such as `"additive"`. `None` for no
            attention.
        memory: Positive integer, number of earlier steps to attend to.
        blocks: Positive integer, number of transformer blocks.
        dropout: Rate of the variational dropout within blocks.

    Returns:
        A `StackedRNNCells`, a `SHACell` or a `SelfAttentionCell`; without
        attention, `cell` itself.

    Example:

    >>> cell = add_attention(RHNCell(8), "transformer", memory=128, blocks=2)
    >>> LanguageModel(50, cell)(np.ones((2, 7), "int32")).shape
    (2, 7, 50)
    """
    if name is None:
        return cell
    if name == "sha":
        return SHACell(cell, memory=memory, dropout=dropout)
    if name != "transformer":
        return SelfAttentionCell(cell, name, window=memory)
    above = [
        TransformerCell(cell.output_size, memory=memory, dropout=dropout)
        for _ in range(blocks)
    ]
    return keras.layers.StackedRNNCells([cell, *above])
