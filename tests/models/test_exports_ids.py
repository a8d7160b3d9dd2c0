"""Exports of models that read ids."""

import keras
import numpy as np
import pytest
from keras.layers import GRUCell

from kerasrnn.models import CharacterReader
from kerasrnn.models import Encoder
from kerasrnn.models import LanguageModel
from kerasrnn.models import Tagger
from kerasrnn.models import TextClassifier
from tests import helpers
from tests.models import small

CHARACTERS = small.SOURCE[..., None].repeat(3, axis=2)
MAKE = {
    "language": (lambda: LanguageModel(9, GRUCell(4), 3), small.SOURCE),
    "classifier": (
        lambda: TextClassifier(Encoder(9, GRUCell(4), 3)),
        small.SOURCE,
    ),
    "tagger": (
        lambda: Tagger(
            9, 2, GRUCell(4), 3, characters=CharacterReader(9, filters=4)
        ),
        {"words": small.SOURCE, "characters": CHARACTERS},
    ),
    "translator": (small.translator, small.INPUTS),
}


@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="a SavedModel"
)
@pytest.mark.parametrize("name", MAKE)
def test_they_read_ids_of_any_number_and_length(name, tmp_path):
    import tensorflow as tf

    make, inputs = MAKE[name]
    inputs = keras.tree.map_structure(lambda x: x.astype("int32"), inputs)
    model = make()
    model(keras.tree.map_structure(lambda x: x[:1, :3], inputs))
    helpers.randomize(model)
    model.export(tmp_path / "1", verbose=False)
    exported = tf.saved_model.load(tmp_path / "1")
    helpers.assert_close(exported.serve(inputs), model(inputs))


@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="a SavedModel"
)
def test_another_signature_may_be_given(tmp_path):
    import tensorflow as tf

    model = MAKE["language"][0]()
    ids = np.ones((2, 4), "int32")
    model(ids)
    shape = keras.InputSpec(shape=(2, 4), dtype="int32")
    model.export(tmp_path / "1", verbose=False, input_signature=[shape])
    exported = tf.saved_model.load(tmp_path / "1")
    with pytest.raises(TypeError):
        exported.serve(ids[:1])
