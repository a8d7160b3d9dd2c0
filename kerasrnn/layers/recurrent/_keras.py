"""The one thing that this package takes from inside Keras.

`keras.layers.RNN` draws the dropout masks of a cell before its loop, and
drops them after it, only for cells of this class, which Keras does not
export. `tests/layers/test_recurrent_cell.py` guards what is relied on.
"""

from keras.src.layers.rnn.dropout_rnn_cell import DropoutRNNCell

__all__ = ["DropoutRNNCell"]
