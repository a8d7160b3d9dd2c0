"""`FastGRU` computes what `keras.layers.RNN` of Keras's cell does."""

import keras
import pytest

from kerasrnn.layers import FastGRU
from kerasrnn.layers import FastGRUCell
from tests.layers.fast_keras_layers import DROPOUT
from tests.layers.fast_keras_layers import FastKerasLayerTests


class TestFastGRU(FastKerasLayerTests):
    keras_cell = keras.layers.GRUCell
    keras_layer = keras.layers.GRU
    fast_cell = FastGRUCell
    fast_layer = FastGRU

    @pytest.mark.parametrize("options", [{}, DROPOUT], ids=["whole", "dropped"])
    def test_a_reset_before_the_product(self, options):
        self.check(
            *self.loop_and_fast(reset_after=False, **options),
            training=bool(options),
        )

    def test_a_reset_before_the_product_with_layer_normalization(self):
        self.check(*self.loop_and_fast(reset_after=False, layer_norm=True))
