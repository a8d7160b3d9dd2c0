"""`FastGRU` computes what `keras.layers.RNN` of Keras's cell does."""

import keras
import pytest

from kerasrnn.layers import FastGRU
from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastRNN
from tests import helpers
from tests.layers import small_layers
from tests.layers.fast_keras_layers import DROPOUT
from tests.layers.fast_keras_layers import SEQUENCE
from tests.layers.fast_keras_layers import FastKerasLayerTests
from tests.reference.cells import gru_step


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

    @pytest.mark.parametrize("reset_after", [True, False])
    def test_units_that_are_dropped_enter_no_product(self, reset_after):
        """They still pass the update gate."""
        cell = FastGRUCell(4, reset_after=reset_after, recurrent_dropout=0.5)
        cell.build((None, 2))
        helpers.randomize(cell)
        x, h = helpers.random(3, 2), helpers.random(3, 4, seed=1)
        cell._recurrent_dropout_mask = keras.ops.zeros((3, 4))
        [found, *_] = small_layers.step(cell, x, [h], training=True)
        kernel, kernel_of_h, bias = map(helpers.as_numpy, cell.weights[:3])
        expected = gru_step(x, h, kernel, 0 * kernel_of_h, bias, reset_after)
        helpers.assert_close(found, expected)

    @pytest.mark.parametrize(
        ("device", "by_keras"),
        [("gpu", helpers.ON_TORCH), ("eager", not helpers.ON_JAX)],
    )
    def test_a_reset_before_the_product_is_not_of_cudnn(
        self, device, by_keras, monkeypatch
    ):
        options = {"reset_after": False}
        self.test_keras_computes_what_it_is_faster_at(
            device, True, options, by_keras, monkeypatch
        )

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
