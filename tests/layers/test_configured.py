"""Which layers are trained is part of a configuration."""

import keras
import numpy as np
import pytest

from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastRNN
from kerasrnn.models import Encoder
from kerasrnn.models import LanguageModel
from kerasrnn.models import TextClassifier


def encoder():
    return Encoder(9, FastGRUCell(4), 3)


MODELS = {
    "rnn": (lambda: FastRNN(FastGRUCell(4)), "cell"),
    "encoder": (encoder, "embedding"),
    "language model": (lambda: LanguageModel(9, FastGRUCell(4)), "stack"),
}


def flags(layer):
    return [each.trainable for each in layer._flatten_layers()]


@pytest.mark.parametrize("name", MODELS)
def test_layers_that_are_not_trained_stay_so(name):
    make, inner = MODELS[name]
    layer = make()
    assert "frozen" not in layer.get_config()
    getattr(layer, inner).trainable = False
    copy = type(layer).from_config(layer.get_config())
    assert flags(copy) == flags(layer) and not all(flags(layer))
    layer.trainable = False
    copy = type(layer).from_config(layer.get_config())
    assert not copy.trainable


def test_a_file_has_the_optimizer_of_those_that_are_trained(tmp_path):
    model = TextClassifier(encoder())
    ids, labels = np.ones((2, 5), "int32"), np.ones((2, 1))
    model.encoder.embedding.trainable = False
    model.compile("adam", keras.losses.BinaryCrossentropy(from_logits=True))
    model.fit(ids, labels, verbose=0)
    path = tmp_path / "model.keras"
    model.save(path)
    loaded = keras.saving.load_model(path)  # Keras warns if they differ.
    assert len(loaded.optimizer.variables) == len(model.optimizer.variables)
    table = loaded.encoder.embedding.get_weights()
    loaded.fit(ids, labels, verbose=0)
    np.testing.assert_array_equal(table, loaded.encoder.embedding.get_weights())
