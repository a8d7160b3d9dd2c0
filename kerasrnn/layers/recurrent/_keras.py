"""The only import from the private modules of Keras, `keras.src`.

Private methods of its public classes are used in `saving.py`,
`layers/recurrent/fast_rnn.py`, `models/dynamic_evaluation.py`,
`training/adam.py` and `distribute/replicas.py` of `kerasrnn`;
`tests/test_layering.py` finds them. The loop over time reads `_value` of
variables. A nightly job runs the tests with the next
version of Keras.

`keras.layers.RNN` draws the dropout masks of a cell before its loop, and
discards them after it, only for cells of this class, which Keras does not
export. `tests/layers/recurrent/test_recurrent_cell.py` tests this behaviour.
"""

from keras.src.layers.rnn.dropout_rnn_cell import DropoutRNNCell

__all__ = ["DropoutRNNCell"]
