"""Small models with random weights for the tests of this folder."""

import keras
import numpy as np
from keras.layers import GRUCell

from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Lexicon
from kerasrnn.models import Translator
from tests import helpers

SOURCE = np.array([[3, 4, 5, 6, 2], [7, 4, 2, 0, 0], [2, 0, 0, 0, 0]])
TARGET = np.array([[1, 5, 6, 7], [1, 4, 0, 0], [1, 8, 3, 5]])
INPUTS = {"source": SOURCE.astype("int32"), "target": TARGET.astype("int32")}
DECODER_INPUTS = {
    "ids": np.array([[1, 5, 6, 7], [1, 4, 0, 0]], "int32"),
    "memory": helpers.random(2, 5, 5),
    "memory_mask": np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]], bool),
    "final": helpers.random(2, 4),
}


@keras.saving.register_keras_serializable("kerasrnn_tests")
class LeakyCell(keras.layers.Layer):
    """The least a cell can be, with two states and no other method.

    s = s / 2 + x W,  h = tanh(s + h / 2)
    """

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = self.output_size = units
        self.state_size = [units, units]

    def build(self, input_shape):
        self.kernel = self.add_weight((input_shape[-1], self.units))

    def call(self, inputs, states):
        h, s = states
        s = s / 2 + keras.ops.matmul(inputs, self.kernel)
        h = keras.ops.tanh(s + h / 2)
        return h, [h, s]

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def translator(cell=None, encoder=None, decoder=None):
    """A Translator of 9 source and 10 target words, weights at random.

    Args:
        cell: Cell of both sides; by default a GRU of 4 units.
        encoder: Dictionary of further options of the encoder.
        decoder: The same for the decoder; a lexicon where it says so.
    """
    cell, decoder = cell or GRUCell(4), dict(decoder or {})
    if decoder.pop("lexicon", False):
        decoder["lexicon"] = lexicon(translation_table())
    sides = {"cell": cell, "embedding_dim": 3}
    model = Translator(
        Encoder(9, **sides | (encoder or {})),
        Decoder(10, **sides | decoder),
    )
    helpers.randomize(model)
    return model


def decoder(cell=None, **kwargs):
    """A Decoder of 10 words that reads `DECODER_INPUTS`, weights at random."""
    model = Decoder(10, cell or GRUCell(4), embedding_dim=3, **kwargs)
    model(**DECODER_INPUTS)
    helpers.randomize(model)
    return model


def translation_table(source_size=9, target_size=10):
    """Probabilities `(source_size, target_size)`; the first row is empty."""
    rng = np.random.default_rng(1)
    table = rng.dirichlet(np.ones(target_size), size=source_size)
    table[0] = 0
    return table.astype("float32")


def lexicon(table, translations=None, **options):
    """A Lexicon of the likeliest words of a table, of all if not said."""
    translations = translations or table.shape[1]
    layer = Lexicon(*table.shape, translations, **options)
    ids = np.argsort(-table, axis=1)[:, :translations]
    layer.assign(ids, np.take_along_axis(table, ids, axis=1))
    return layer
