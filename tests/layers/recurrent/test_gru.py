"""`FastGRU` computes what `keras.layers.RNN` of Keras's cell does."""

import keras
import pytest

from kerasrnn.layers import FastGRU
from kerasrnn.layers import FastGRUCell
from tests.layers.fast_keras_layers import FastKerasLayerTests


class TestFastGRU(FastKerasLayerTests):
    keras_cell = keras.layers.GRUCell
    keras_layer = keras.layers.GRU
    fast_cell = FastGRUCell
    fast_layer = FastGRU

    def test_a_reset_before_the_product_is_left_to_the_loop(self):
        self.check_that_it_falls_back(reset_after=False)
        with pytest.raises(ValueError, match="expects `reset_after=True`"):
            FastGRU(4, reset_after=False, layer_norm=True)
