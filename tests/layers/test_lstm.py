"""`FastLSTM` computes what `keras.layers.RNN` of Keras's cell does."""

import keras

from kerasrnn.layers import FastLSTM
from kerasrnn.layers import FastLSTMCell
from tests.layers.fast_keras_layers import FastKerasLayerTests


class TestFastLSTM(FastKerasLayerTests):
    keras_cell = keras.layers.LSTMCell
    fast_cell = FastLSTMCell
    fast_layer = FastLSTM
