"""The shapes of what models return, which `TimeDistributed` asks for."""

import keras
import numpy as np
import pytest
from keras.layers import GRUCell

from kerasrnn.layers import CRF
from kerasrnn.models import CharacterReader
from kerasrnn.models import Encoder
from kerasrnn.models import Forecaster
from kerasrnn.models import LanguageModel
from kerasrnn.models import NgramEmbedding
from kerasrnn.models import PianoRollModel
from kerasrnn.models import Tagger
from kerasrnn.models import TextClassifier
from tests import helpers
from tests.models import small

IDS = np.array([[[3, 4, 0], [1, 2, 5]], [[6, 0, 0], [7, 8, 1]]], "int32")
ROLLS = helpers.random(2, 2, 3, 4)
MAKE = {
    "classifier": lambda: TextClassifier(
        Encoder(9, GRUCell(4), 3), "attention"
    ),
    "language": lambda: LanguageModel(9, GRUCell(4), 3),
    "tagger": lambda: Tagger(9, 2, GRUCell(4), 3, crf=CRF()),
    "ngrams": lambda: NgramEmbedding(9, 3),
    "rolls": lambda: PianoRollModel(GRUCell(4), 4),
    "forecaster": lambda: Forecaster(GRUCell(4), 5, columns=4),
    "characters": lambda: CharacterReader(9, GRUCell(4)),
}
INPUTS = {
    "rolls": ROLLS,
    "forecaster": ROLLS,
    "characters": IDS[:, None].repeat(2, 1),
}


@pytest.mark.parametrize("name", MAKE)
def test_they_run_over_a_further_axis_of_a_functional_model(name):
    model, x = MAKE[name](), INPUTS.get(name, IDS)
    model(x[0])
    helpers.randomize(model)
    inputs = keras.Input(x.shape[1:], dtype=x.dtype)
    outputs = keras.layers.TimeDistributed(model)(inputs)
    expected = np.stack([helpers.as_numpy(model(each)) for each in x])
    assert outputs.shape == (None, *expected.shape[1:])
    found = keras.Model(inputs, outputs)(x)
    np.testing.assert_allclose(helpers.as_numpy(found), expected, atol=1e-6)


def test_the_shape_is_known_before_a_call():
    assert MAKE["language"]().compute_output_shape((8, None)) == (8, None, 9)


def test_the_shape_is_nested_as_inputs_and_outputs_are():
    encoder = Encoder(9, GRUCell(4), 3)
    assert encoder.compute_output_shape((8, 6)) == ((8, 6, 8), (8, 6), (8, 8))
    shapes = {"source": (8, 6), "target": (8, 5)}
    assert small.translator().compute_output_shape(shapes) == (8, 5, 10)


def test_a_summary_shows_it():
    model, lines = MAKE["classifier"](), []
    model(IDS[0])
    model.summary(print_fn=lines.append, line_length=100)
    assert "((2, 3, 8), (2, 3), (2, 8))" in "\n".join(lines)


def test_a_summary_leaves_out_what_has_several_inputs():
    model, lines = small.translator(), []
    model(small.INPUTS)
    model.summary(print_fn=lines.append)
    assert "decoder" in "\n".join(lines)
