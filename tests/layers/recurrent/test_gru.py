"""`FastGRU` computes what `keras.layers.RNN` of Keras's cell does."""

import keras
import pytest

from kerasrnn.layers import FastGRU
from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastRNN
from tests import helpers
from tests.layers.fast_keras_layers import DROPOUT
from tests.layers.fast_keras_layers import SEQUENCE
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

    def test_its_bias_may_be_of_half_precision(self):
        cell = FastGRUCell(
            4,
            reset_after=False,
            layer_norm=True,
            recurrent_initializer="glorot_uniform",  # JAX has no QR in float16.
            dtype="float16",
        )
        fast, loop = (
            layer(cell, dtype="float16")(SEQUENCE)
            for layer in (FastRNN, keras.layers.RNN)
        )
        helpers.assert_close(fast, loop, rtol=0, atol=0.01)
