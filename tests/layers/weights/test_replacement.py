"""Models in which LSTMs and GRUs are replaced, wherever they are."""

import keras
import numpy as np
import pytest
from keras import layers

from kerasrnn.layers import RHN
from kerasrnn.layers import FastGRU
from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastLSTM
from kerasrnn.layers import FastLSTMCell
from kerasrnn.layers import FastRNN
from kerasrnn.layers import replace_layers
from kerasrnn.saving import all_layers
from tests import helpers

KERAS = layers.LSTM, layers.GRU, layers.LSTMCell, layers.GRUCell


def make(*inner, shape=(None, 3), name="model"):
    return keras.Sequential([keras.Input(shape), *inner], name=name)


def nested():
    """A model with LSTMs and GRUs in every place that Keras has for one."""
    inner = make(layers.GRU(2, name="gru"), name="inner")
    inputs = keras.Input((2, None, 3))
    first = layers.TimeDistributed(layers.LSTM(2, name="a"), name="each")
    both = layers.Concatenate()(
        [first(inputs), layers.TimeDistributed(inner, name="each_1")(inputs)]
    )
    cells = layers.LSTMCell(2, name="b"), layers.GRUCell(2, name="c")
    stack = layers.StackedRNNCells(cells, name="stack")
    rnn = layers.RNN(stack, return_sequences=True, name="rnn")
    plain = layers.RNN(
        layers.SimpleRNNCell(2), return_sequences=True, name="plain"
    )
    last = layers.Bidirectional(layers.GRU(2, name="d"), name="both")
    model = keras.Model(inputs, last(plain(rnn(both))), name="model")
    helpers.randomize(model)
    return model


def test_every_lstm_and_gru_is_replaced_and_back():
    model, x = nested(), helpers.random(2, 2, 4, 3)
    fast, replaced = replace_layers(model)
    assert replaced == {
        "model/each/a": FastLSTM,
        "model/each_1/inner/gru": FastGRU,
        "model/rnn/stack/b": FastLSTMCell,
        "model/rnn/stack/c": FastGRUCell,
        "model/rnn": FastRNN,
        "model/both/forward_d": FastGRU,
        "model/both/backward_d": FastGRU,
    }
    assert not any(isinstance(layer, KERAS) for layer in all_layers(fast))
    helpers.assert_close(fast(x), model(x))
    back, again = replace_layers(fast, to_keras=True)
    assert again.keys() == replaced.keys()
    assert {*again.values()} == {*KERAS, layers.RNN}
    helpers.assert_close(back(x), model(x))
    # What is given is left as it is.
    assert isinstance(model.get_layer("each").layer, layers.LSTM)


def test_the_new_model_is_not_compiled():
    model = make(layers.LSTM(2))
    model.compile("sgd", "mse")
    assert not replace_layers(model).model.compiled


@keras.saving.register_keras_serializable("test_replacement")
class Own(layers.Layer):
    """Makes its own LSTM, of which its configuration says nothing."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.hidden = layers.LSTM(2, name="hidden")

    def build(self, shape):
        self.hidden.build(shape)

    def call(self, x):
        return self.hidden(x)


@keras.saving.register_keras_serializable("test_replacement")
class OwnGRU(layers.GRU):
    pass


def test_what_is_left_is_named():
    model = make(layers.LSTM(2, return_sequences=True), Own(), name="model")
    with pytest.warns(UserWarning, match=r"not replaced.*: hidden \(LSTM\)"):
        fast, replaced = replace_layers(model)
    assert [*replaced.values()] == [FastLSTM]
    x = helpers.random(2, 4, 3)
    helpers.assert_close(fast(x), model(x))
    model = make(layers.LSTM(2, return_sequences=True), OwnGRU(2, name="own"))
    with pytest.warns(UserWarning, match=r": own \(OwnGRU\)"):
        replace_layers(model)


def shared():
    """Two models with one LSTM."""
    inputs, lstm = keras.Input((None, 3)), layers.LSTM(2)
    models = [keras.Sequential([keras.Input((None, 3)), lstm]) for _ in "ab"]
    return keras.Model(inputs, [model(inputs) for model in models])


@pytest.mark.parametrize(
    "build, to_keras, text",
    [
        (
            lambda: make(layers.SimpleRNN(2)),
            False,
            "no layer to replace. Expected: LSTM, .*SimpleRNN",
        ),
        (
            lambda: make(layers.LSTM(2)),
            True,
            "to replace. Expected: FastLSTM, .*a model of .*LSTM",
        ),
        (
            lambda: make(FastLSTM(2, layer_norm=True, name="here")),
            True,
            "layer_norm=True at model/here",
        ),
        (
            lambda: make(
                FastLSTM(2, return_sequences=True), RHN(2, name="rhn")
            ),
            True,
            r"Keras has only LSTM and GRU.*rhn \(RHN\)",
        ),
        (shared, False, "cannot share a layer"),
    ],
    ids=["none", "none of ours", "norm", "other", "shared"],
)
def test_what_cannot_be_replaced_is_refused(build, to_keras, text):
    with pytest.raises(ValueError, match=text):
        replace_layers(build(), to_keras)


def test_weights_are_set_where_they_are():
    """Two layers of one shape keep their own."""
    model = make(layers.GRU(3, return_sequences=True), layers.GRU(3))
    helpers.randomize(model)
    fast, _ = replace_layers(model)
    for old, new in zip(model.get_weights(), fast.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)
