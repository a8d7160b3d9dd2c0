"""The layer to run a given cell with."""

import keras

from kerasrnn.layers import cells
from kerasrnn.layers.gam import GAM
from kerasrnn.layers.gam import GAMCell
from kerasrnn.layers.gam_rhn import GAMRHN
from kerasrnn.layers.gam_rhn import GAMRHNCell
from kerasrnn.layers.gru import FastGRU
from kerasrnn.layers.gru import FastGRUCell
from kerasrnn.layers.lstm import FastLSTM
from kerasrnn.layers.lstm import FastLSTMCell
from kerasrnn.layers.rhn import RHN
from kerasrnn.layers.rhn import RHNCell
from kerasrnn.layers.self_attention import SelfAttentionCell
from kerasrnn.layers.self_attention import SelfAttentionRNN

# Each takes the arguments of its cell. Not `keras.layers.LSTM` and `GRU`: they
# are as slow as the loop on a CPU, and cuDNN refuses rows wholly masked.
_LAYERS = {
    GAMCell: GAM,
    GAMRHNCell: GAMRHN,
    RHNCell: RHN,
    FastGRUCell: FastGRU,
    FastLSTMCell: FastLSTM,
    keras.layers.GRUCell: FastGRU,
    keras.layers.LSTMCell: FastLSTM,
}


def recurrent_layer(cell, **kwargs):
    """Returns the fastest layer that runs a copy of a cell.

    Args:
        cell: Any Keras recurrent cell. It is a template: the layer gets a
            fresh copy, with weights of its own.
        **kwargs: Arguments of `keras.layers.RNN`, such as
            `return_sequences`.

    Returns:
        `RHN`, `GAM`, `GAMRHN` or `SelfAttentionRNN` for their cells,
        `FastGRU` and `FastLSTM` for theirs and for Keras's GRU and LSTM, and
        `keras.layers.RNN` for any other. All of them compute what
        `keras.layers.RNN` computes, of sequences of shape
        `(batch, time, input_dim)`.

    Raises:
        ValueError: when `cell` is no recurrent cell.

    Example:

    >>> recurrent_layer(RHNCell(8, depth=3), return_sequences=True)
    <RHN name=rhn, built=False>
    """
    cells.check_cell(cell, "recurrent_layer")
    if type(cell) in _LAYERS:
        config = cell.get_config() | {"name": None} | kwargs
        return _LAYERS[type(cell)].from_config(config)
    copy = cells.clone_cell(cell)
    kwargs.setdefault("dtype", getattr(cell, "dtype_policy", None))
    if isinstance(cell, SelfAttentionCell):
        return SelfAttentionRNN(copy, **kwargs)
    return keras.layers.RNN(copy, **kwargs)
