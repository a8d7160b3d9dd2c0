import keras
import numpy as np
import pytest
from keras.layers import GRUCell
from keras.layers import LSTMCell
from keras.layers import SimpleRNNCell
from keras.layers import StackedRNNCells

from kerasrnn.layers import GAM
from kerasrnn.layers import GAMRHN
from kerasrnn.layers import RHN
from kerasrnn.layers import FastGRU
from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastLSTM
from kerasrnn.layers import FastLSTMCell
from kerasrnn.layers import GAMCell
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import PeepholeLSTMCell
from kerasrnn.layers import RHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.layers import SelfAttentionRNN
from kerasrnn.layers.recurrent_layer import recurrent_layer
from tests import helpers

X = helpers.random(2, 4, 3)


class AnotherGRUCell(GRUCell):
    """What is made of a cell need not compute what the cell did."""


CELLS = {
    "gam": (GAM, lambda: GAMCell(2, 3, 5, zoneout=0.1)),
    "gam_rhn": (GAMRHN, lambda: GAMRHNCell(4, 2, 2, 3, 5, inner="highway")),
    "rhn": (RHN, lambda: RHNCell(4, depth=2, couple_carry=False)),
    "gru": (FastGRU, lambda: GRUCell(4, reset_after=False)),
    "lstm": (
        FastLSTM,
        lambda: LSTMCell(4, recurrent_activation="hard_sigmoid"),
    ),
    "attending": (
        SelfAttentionRNN,
        lambda: SelfAttentionCell(RHNCell(4), "dot", window=2),
    ),
    "simple": (keras.layers.RNN, lambda: SimpleRNNCell(4, activation="relu")),
    "peephole": (keras.layers.RNN, lambda: PeepholeLSTMCell(4)),
    "stacked": (
        keras.layers.RNN,
        lambda: StackedRNNCells([GRUCell(5), LSTMCell(4)]),
    ),
    "another": (keras.layers.RNN, lambda: AnotherGRUCell(4)),
}

every_cell = pytest.mark.parametrize("name", CELLS)


def with_weights(layer):
    layer.build(X.shape)
    helpers.randomize(layer)
    return layer


@every_cell
def test_it_is_the_fastest_layer_there_is(name):
    layer_class, make = CELLS[name]
    assert type(recurrent_layer(make())) is layer_class


@every_cell
def test_it_computes_what_the_loop_does(name):
    _, make = CELLS[name]
    options = {"return_sequences": True, "return_state": True}
    layer = with_weights(recurrent_layer(make(), **options))
    loop = with_weights(keras.layers.RNN(make(), **options))
    found, expected = (keras.tree.flatten(x(X)) for x in (layer, loop))
    helpers.assert_close(found, expected)


@every_cell
def test_each_layer_has_a_copy_of_the_cell(name):
    cell = CELLS[name][1]()
    first, second = (with_weights(recurrent_layer(cell)) for _ in range(2))
    assert not cell.built
    assert first.cell is not cell and first.cell is not second.cell
    before = second.get_weights()
    first.set_weights([weight + 1 for weight in before])
    for old, new in zip(before, second.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize(
    "cell",
    [
        GRUCell(4, activation="relu", dropout=0.1, recurrent_dropout=0.2),
        LSTMCell(4, unit_forget_bias=False, kernel_regularizer="l2"),
        RHNCell(4, depth=3, transform_bias=-1.0, dropout=0.1, zoneout=0.2),
        GAMRHNCell(4, 2, 2, 3, 5, layer_norm=True, recurrent_dropout=0.2),
        GRUCell(4, dtype="mixed_bfloat16"),
    ],
)
def test_the_copy_has_the_configuration(cell):
    copy = recurrent_layer(cell).cell.get_config()
    ignored = {"name": None, "seed": None}
    assert copy | ignored == cell.get_config() | ignored


@pytest.mark.parametrize("name", ["lstm", "rhn", "attending", "simple"])
def test_arguments_are_handed_on(name):
    arguments = {
        "return_sequences": True,
        "return_state": True,
        "go_backwards": True,
        "stateful": True,
        "unroll": True,
        "zero_output_for_mask": True,
        "name": "second",
    }
    layer = recurrent_layer(CELLS[name][1](), **arguments)
    for argument, value in arguments.items():
        assert getattr(layer, argument) == value


def test_what_is_no_cell_is_refused():
    with pytest.raises(
        ValueError, match="recurrent_layer expects `cell`.*Received: cell=<LSTM"
    ):
        recurrent_layer(keras.layers.LSTM(3))


@pytest.mark.parametrize(
    "cell",
    [
        PeepholeLSTMCell(3, dtype="mixed_bfloat16"),
        RHNCell(3, dtype="mixed_bfloat16"),
        keras.layers.GRUCell(3, dtype="mixed_bfloat16"),
    ],
    ids=lambda cell: type(cell).__name__,
)
def test_it_has_the_dtype_of_its_cell(cell):
    assert recurrent_layer(cell).compute_dtype == "bfloat16"


def test_fast_cells_get_their_fast_layers():
    assert type(recurrent_layer(FastGRUCell(3))) is FastGRU
    assert type(recurrent_layer(FastLSTMCell(3))) is FastLSTM
