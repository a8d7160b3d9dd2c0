import keras
import numpy as np
import pytest

from kerasrnn.layers import RHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.models import AttentionSummary
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import LanguageModel
from kerasrnn.models import TextClassifier
from kerasrnn.models import Translator
from kerasrnn.models import in_float32
from tests.helpers import as_numpy
from tests.helpers import assert_close
from tests.helpers import randomize
from tests.helpers import slow_on_jax

IDS = np.array([[5, 3, 4], [6, 7, 0]], "int32")


def language_model():
    cell = SelfAttentionCell(RHNCell(4, depth=2), "additive", window=2)
    return LanguageModel(9, cell, batch_size=2), IDS


def classifier():
    encoder = Encoder(9, keras.layers.GRUCell(4), 3, bidirectional=True)
    return TextClassifier(encoder, AttentionSummary("general", 4)), IDS


def translator():
    cell = keras.layers.LSTMCell(4)
    encoder = Encoder(9, cell, 3, lexical=True)
    decoder = Decoder(9, cell, 3, input_feeding=True)
    return Translator(encoder, decoder), {"source": IDS, "target": IDS}


def under(policy, make):
    keras.config.set_dtype_policy(policy)
    model, inputs = make()
    model.build((None, None))
    return model, inputs


@slow_on_jax
@pytest.mark.parametrize("make", [language_model, classifier, translator])
def test_the_copy_computes_in_float32_with_the_same_weights(make):
    model, inputs = under("mixed_bfloat16", make)
    randomize(model)
    model.compile("adam", "mse")
    copy = in_float32(model)
    # As if it had been made under float32.
    expected, _ = under("float32", make)
    expected.set_weights(model.get_weights())
    assert not copy.compiled
    assert model.compute_dtype == "bfloat16"
    dtypes = {layer.compute_dtype for layer in copy._flatten_layers()}
    assert dtypes == {"float32"}
    assert_close(copy(inputs), as_numpy(expected(inputs)), 1e-6, 1e-6)
    assert np.abs(as_numpy(copy(inputs)) - as_numpy(model(inputs))).max() > 1e-5


def test_there_must_be_weights_to_copy():
    model = LanguageModel(9, keras.layers.GRUCell(4), name="empty")
    with pytest.raises(ValueError, match="Received: 'empty', which is not"):
        in_float32(model)


@keras.saving.register_keras_serializable("kerasrnn_tests")
class PolicyReader(keras.layers.Layer):
    """Notes the global policy under which it is loaded."""

    seen = []

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seen.append(keras.config.dtype_policy().name)


@pytest.mark.parametrize(
    "policy, loaded_under",
    [("float64", "float64"), ("mixed_bfloat16", "float32")],
)
def test_the_global_policy_stays(policy, loaded_under):
    model = keras.Sequential([keras.Input((3,)), PolicyReader()])
    PolicyReader.seen.clear()
    keras.config.set_dtype_policy(policy)
    in_float32(model)
    assert keras.config.dtype_policy().name == policy
    assert PolicyReader.seen == [loaded_under]


def test_dtypes_by_name():
    model = keras.Sequential(
        [keras.Input((3,), dtype="bfloat16"), keras.layers.Dense(2)]
    )
    copy = in_float32(model)
    assert copy.inputs[0].dtype == "float32"
