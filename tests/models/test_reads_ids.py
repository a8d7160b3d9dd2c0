"""Ids that come as floats, which half precision would round."""

import keras
import numpy as np
import pytest
from keras.layers import GRUCell

from kerasrnn.models import Encoder
from kerasrnn.models import LanguageModel
from kerasrnn.models import Lexicon
from kerasrnn.models import NgramEmbedding
from kerasrnn.models import TextClassifier
from tests import helpers

IDS = np.array([[300, 301, 302], [299, 401, 0]])
MAKE = {
    "encoder": lambda: Encoder(500, GRUCell(4), 3),
    "language": lambda: LanguageModel(500, GRUCell(4), 3),
    "classifier": lambda: TextClassifier(Encoder(500, GRUCell(4), 3)),
    "ngrams": lambda: NgramEmbedding(100, 4),
    "lexicon": lambda: Lexicon(500, 4),
}


@pytest.mark.parametrize("name", MAKE)
def test_they_are_read_as_integers(name):
    keras.config.set_dtype_policy("mixed_bfloat16")
    model = MAKE[name]()
    model(IDS)
    helpers.randomize(model)
    found, expected = (
        keras.tree.map_structure(helpers.as_numpy, model(ids))
        for ids in (IDS.astype("float32"), IDS)
    )
    keras.tree.map_structure(np.testing.assert_array_equal, found, expected)


def test_they_may_be_named():
    lexicon = Lexicon(500, 4, dtype="mixed_bfloat16")
    lexicon.build()
    helpers.randomize(lexicon)
    np.testing.assert_array_equal(
        helpers.as_numpy(lexicon(source=IDS.astype("float32"))),
        helpers.as_numpy(lexicon(source=IDS)),
    )


def test_a_functional_model_has_them_from_an_input():
    keras.config.set_dtype_policy("mixed_bfloat16")
    encoder = Encoder(500, GRUCell(4), 3)
    ids = keras.Input((None,))  # of floats
    model = keras.Model(ids, encoder(ids)[0])
    np.testing.assert_array_equal(
        helpers.as_numpy(model(IDS.astype("float32"))),
        helpers.as_numpy(encoder(IDS)[0]),
    )
