import dataclasses

import classify
import imdb
import pytest
import tensorflow as tf

from kerasrnn import training
from kerasrnn.data import LabelledCorpus
from kerasrnn.data import LabelledTexts
from kerasrnn.tokenizers import ReviewTokenizer


@pytest.mark.parametrize(
    "corpus, preset",
    [(None, "generated"), ("imdb", "best"), ("mine.csv", "own")],
)
def test_a_preset_goes_with_a_corpus(corpus, preset):
    assert training.preset_of(imdb.PRESETS, corpus) == preset
    assert imdb.PRESETS[preset].output == imdb.OUTPUT


# The report leaves stop words out, negations among them.
@pytest.mark.filterwarnings("ignore:`stop_words` has negations")
@pytest.mark.parametrize("name", imdb.PRESETS)
def test_the_presets_are_models(name):
    preset = dataclasses.replace(imdb.PRESETS[name], vectors=None)
    settings = training.by_size(preset, 60, classify.SIZES)
    tokenizer = ReviewTokenizer(["<unk>", "<pad>", "film"])
    corpus = LabelledCorpus(LabelledTexts(["film"], [1]), None, [], ["-", "+"])
    encoder = classify.build_encoder(settings, tokenizer, corpus)
    model = classify.build_model(settings, encoder, classes=2)
    assert model(tf.constant([[2, 0, 1]])).shape == (1, 1)
