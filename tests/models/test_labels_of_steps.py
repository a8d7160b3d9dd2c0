import keras
import numpy as np
import pytest

from kerasrnn.models import Forecaster
from kerasrnn.models import LanguageModel
from kerasrnn.models import PianoRollModel
from kerasrnn.models import Tagger
from tests.models import small

CELL = keras.layers.GRUCell(4)
MODELS = {
    "language": lambda: LanguageModel(9, CELL),
    "music": lambda: PianoRollModel(CELL, keys=4),
    "tagger": lambda: Tagger(9, 3, CELL),
    "translator": small.translator,
    "forecaster": lambda: Forecaster(CELL, 4, 2),
}


@pytest.mark.parametrize("name", MODELS)
def test_labels_of_steps_have_no_class_weights(name):
    ids = np.ones((2, 3), "int32")
    with pytest.raises(ValueError, match="class weights.*=\\{1: 2.0\\}"):
        MODELS[name]().fit(ids, ids, class_weight={1: 2.0})
