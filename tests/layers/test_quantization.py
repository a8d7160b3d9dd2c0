import keras
import numpy as np
import pytest

from kerasrnn.layers import BahdanauAttention
from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastRNN
from kerasrnn.layers import RHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.layers import TransformerCell
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Forecaster
from kerasrnn.models import LanguageModel
from kerasrnn.models import PianoRollModel
from kerasrnn.models import TextClassifier
from kerasrnn.models import Translator
from kerasrnn.models import in_float32
from tests import helpers

# Keras warns of the layers that it leaves as they are.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Layer .* does not have a `quantize`",
    "ignore:Invalid quantization mode. Expected one of .'int8', 'int4'.",
)
IDS = np.array([[5, 3, 4], [6, 7, 0]], "int32")


@keras.saving.register_keras_serializable("kerasrnn_tests")
class DenseCell(keras.layers.Layer):
    """A cell of someone else, with a layer inside."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = self.output_size = units
        self.dense = keras.layers.Dense(units, activation="tanh")

    def build(self, input_shape):
        self.dense.build((None, input_shape[-1] + self.units))

    def call(self, inputs, states):
        joined = keras.ops.concatenate([inputs, states[0]], axis=-1)
        return self.dense(joined), [self.dense(joined)]

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def language_model():
    cell = SelfAttentionCell(RHNCell(4, depth=2), "additive", window=2)
    return LanguageModel(9, cell, embedding_dim=3, batch_size=2), IDS


def tied_language_model():
    model = LanguageModel(9, DenseCell(4), embedding_dim=3, depth=2)
    return model, IDS


def piano_roll_model():
    return PianoRollModel(RHNCell(4), 3), helpers.random(2, 5, 3)


def classifier():
    encoder = Encoder(9, keras.layers.GRUCell(4), 3, factorized=True)
    return TextClassifier(encoder, "attention"), IDS


def translator():
    cell = keras.layers.LSTMCell(4)
    encoder = Encoder(9, cell, 3, lexical=True)
    decoder = Decoder(9, cell, 3, factorized=True, input_feeding=True)
    return Translator(encoder, decoder), {"source": IDS, "target": IDS}


def forecaster():
    return Forecaster(FastGRUCell(4), 4, 2, segment=2), helpers.random(2, 6, 2)


def part_of_a_functional_model():
    """No model of this package saves what is inside the layer."""
    inputs = keras.Input((None,), dtype="int32")
    memory, *_ = Encoder(9, DenseCell(4), 3, factorized=True)(inputs)
    context, _ = BahdanauAttention(6)(memory, memory)
    return keras.Model(inputs, context), IDS


def layer_of_a_functional_model():
    inputs = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(9, 4)(inputs)
    return keras.Model(inputs, FastRNN(DenseCell(4))(x)), IDS


def blocks_in_the_loop_of_keras():
    inputs = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(9, 4)(inputs)
    x = keras.layers.RNN(TransformerCell(4, 2, memory=2))(x)
    return keras.Model(inputs, x), IDS


MODELS = [
    blocks_in_the_loop_of_keras,
    translator,
    language_model,
    tied_language_model,
    piano_roll_model,
    classifier,
    forecaster,
    part_of_a_functional_model,
]


def quantized(make, mode, dtype="float32"):
    """A quantized model with random weights, its inputs, and its outputs."""
    keras.config.set_dtype_policy(dtype)
    model, inputs = make()
    model(inputs)
    helpers.randomize(model)
    model.quantize(mode)
    assert mode in modes(model)
    return model, inputs, helpers.as_numpy(model(inputs))


def modes(model):
    return [layer.quantization_mode for layer in model._flatten_layers()]


@helpers.slow_on_jax
@pytest.mark.parametrize("mode", helpers.one_now(["int8", "float8", "int4"]))
@pytest.mark.parametrize(
    "make",
    [
        layer_of_a_functional_model,
        *(pytest.param(make, marks=pytest.mark.slow) for make in MODELS),
    ],
)
def test_it_is_loaded_as_it_was_saved(make, mode, tmp_path):
    model, inputs, expected = quantized(make, mode)
    loaded = helpers.reloaded(model, tmp_path)
    assert modes(loaded) == modes(model)
    assert [w.dtype for w in loaded.weights] == [w.dtype for w in model.weights]
    helpers.assert_close(loaded(inputs), expected, 1e-6, 1e-6)
    # So is what was loaded, and what is quantized already.
    again = helpers.reloaded(loaded, tmp_path)
    loaded.save_weights(tmp_path / "model.weights.h5")
    again.load_weights(tmp_path / "model.weights.h5")
    helpers.assert_close(again(inputs), expected, 1e-6, 1e-6)


@pytest.mark.slow
def test_weights_alone_are_loaded_into_a_model_that_is_not_quantized(tmp_path):
    model, inputs, expected = quantized(language_model, "int8")
    other, _ = language_model()
    other.build()
    model.save_weights(tmp_path / "model.weights.h5")
    other.load_weights(tmp_path / "model.weights.h5")
    assert modes(other) == modes(model)
    helpers.assert_close(other(inputs), expected, 1e-6, 1e-6)


@pytest.mark.slow
@helpers.slow_on_jax
@pytest.mark.parametrize(
    "make", helpers.one_now([translator, language_model, classifier])
)
def test_in_float32_it_stays_quantized(make):
    model, inputs, expected = quantized(make, "int8", "mixed_bfloat16")
    copy = in_float32(model)
    assert modes(copy) == modes(model)
    dtypes = {layer.compute_dtype for layer in copy._flatten_layers()}
    assert dtypes == {"float32"}
    helpers.assert_close(copy(inputs), expected.astype("float32"), atol=0.1)


def test_a_copy_for_other_batches_is_quantized_too():
    model, inputs, expected = quantized(tied_language_model, "int8")
    copy = model.with_batch_size(None)
    assert modes(copy) == modes(model)
    helpers.assert_close(copy(inputs), expected, 1e-6, 1e-6)


@helpers.slow_on_jax
def test_how_it_is_quantized_is_saved(tmp_path):
    model, inputs = layer_of_a_functional_model()
    config = keras.quantizers.Int4QuantizationConfig(block_size=2)
    model.quantize(config=config)
    loaded = helpers.reloaded(model, tmp_path)
    assert loaded.layers[-1].cell.dense.quantization_config.block_size == 2
    helpers.assert_close(loaded(inputs), model(inputs), 1e-6, 1e-6)
