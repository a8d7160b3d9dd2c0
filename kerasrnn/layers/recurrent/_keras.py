"""The only private part of Keras that this package uses.

`keras.layers.RNN` draws the dropout masks of a cell before its loop, and
discards them after it, only for cells of this class, which Keras does not
export. `tests/layers/recurrent/test_recurrent_cell.py` tests this behaviour.
"""

from keras.src.layers.rnn.dropout_rnn_cell import DropoutRNNCell

__all__ = ["DropoutRNNCell"]
