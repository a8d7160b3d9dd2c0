import typing

import keras
import numpy as np
import pytest

from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import RHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.layers import SHACell
from kerasrnn.layers import TransformerCell
from kerasrnn.training import PastAttentionName
from kerasrnn.training import SelfAttentionName
from kerasrnn.training import add_attention
from kerasrnn.training import build_cell
from kerasrnn.training import cell_needs
from kerasrnn.training.cells_by_name import CELLS

LINEAR = "min_gru", "min_lstm", "rg_lru", "gated_delta", "mlstm", "mamba2"


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("name", CELLS)
def test_every_cell_runs(name):
    cell = build_cell(name, 8, recurrent_dropout=0.25)
    rate = getattr(cell, "recurrent_dropout", 0)
    assert rate == 0.25 * (name not in LINEAR)
    assert keras.layers.RNN(cell)(np.ones((2, 3, 8), "float32")).shape == (2, 8)


@pytest.mark.parametrize(
    "name, cell_class, depth",
    [("rhn", RHNCell, 3), ("gam_rhn", GAMRHNCell, 2)],
)
def test_the_depth_of_a_cell(name, cell_class, depth):
    assert type(build_cell(name, 8)) is cell_class
    assert build_cell(name, 8).depth == depth
    assert build_cell(name, 8, 5).depth == 5
    if name == "gam_rhn":
        cell = build_cell(name, 8)
        assert (cell.num_groups, cell.group_size, cell.head_units) == (8, 3, 4)
        assert cell.head_norm


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("qrnn", 8), "'rnn', 'lstm'.* name='qrnn"),
        (("rhn", 8, 0), "Received: depth=0"),
        (("gam_rhn", 8, 0), "Received: depth=0"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        build_cell(*arguments)


def test_attention_to_the_past():
    cell = RHNCell(8)
    assert add_attention(cell, None) is cell
    sha = add_attention(cell, "sha", memory=5, dropout=0.25)
    assert isinstance(sha, SHACell)
    assert (sha.cell, sha.memory, sha.dropout) == (cell, 5, 0.25)
    stack = add_attention(cell, "transformer", 5, blocks=2, dropout=0.25)
    first, *blocks = stack.cells
    assert first is cell
    assert [type(block) for block in blocks] == 2 * [TransformerCell]
    assert {(block.memory, block.dropout) for block in blocks} == {(5, 0.25)}
    attending = add_attention(cell, "multi_scale", 5)
    assert isinstance(attending, SelfAttentionCell) and attending.window == 5


def test_every_attention_to_the_past_has_a_name():
    names = set(typing.get_args(PastAttentionName))
    assert names == {*typing.get_args(SelfAttentionName), "transformer", "sha"}
    for name in names:
        assert add_attention(RHNCell(8), name).output_size == 8


def test_settings_without_effect_on_a_cell_are_named():
    needs = cell_needs()
    dropped = needs["recurrent_dropout"][1:]
    assert {*dropped, *LINEAR} == {*CELLS, "peephole_lstm"}
    assert needs["micro_steps"] == ("cell", "rhn", "gam_rhn")
