"""The only import from `keras.src`, the private modules of Keras.

Private methods of its public classes are used in `saving.py`,
`layers/recurrent/fast_rnn.py`, `models/dynamic_evaluation.py`,
`training/adam.py` and `distribute/replicas.py` of `kerasrnn`;
`tests/test_layering.py` checks this list. The loop over time reads `_value` of
variables. A nightly job runs the tests with the next version of Keras.

Keras does not export `DropoutRNNCell`. But only for cells of this class does
`keras.layers.RNN` draw the dropout masks before its loop and discard them after
it. `tests/layers/recurrent/test_recurrent_cell.py` tests this behaviour.
"""

from keras.src.layers.rnn.dropout_rnn_cell import DropoutRNNCell

__all__ = ["DropoutRNNCell"]
