"""What a translator does with texts, besides translating them."""

import keras
import numpy as np
import pytest

from kerasrnn.data import translation_lexicon
from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding import GreedySearch
from kerasrnn.decoding import SamplingSearch
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Translator
from kerasrnn.pipelines import TextTranslator
from kerasrnn.tokenizers import WordTokenizer
from tests.helpers import randomize
from tests.helpers import some_now
from tests.pipelines import small
from tests.pipelines.small import PAIRS

TEXTS = ["the red book.", "", "who knows?", "a house."]
WORDS = [WordTokenizer.train(side) for side in zip(*PAIRS, strict=True)]


@pytest.fixture(scope="module")
def model():
    cell = keras.layers.GRUCell(8)
    model = Translator(
        Encoder(WORDS[0].vocabulary_size, cell, 8),
        Decoder(WORDS[1].vocabulary_size, cell, 8, attention="general"),
    )
    model.build([(None, None), (None, None)])
    randomize(model)
    bias = model.decoder.output_projection.bias
    # Words, and an end that comes soon, but no padding and no start.
    specials = np.array([2.0, 2.0, 2.5, -9.0])
    bias.assign(bias + np.pad(specials, (0, bias.shape[0] - 4)))
    return model


@pytest.fixture(scope="module")
def beam(model):
    search = BeamSearch(max_length=6, beam_width=3)
    return TextTranslator(model, *WORDS, search, max_length=5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "search, count",
    [
        (GreedySearch(max_length=6), 1),
        (SamplingSearch(max_length=6, num_samples=2, seed=1), 2),
    ],
)
def test_any_search_gives_what_it_finds(model, search, count):
    translator = TextTranslator(model, *WORDS, search)
    found = translator.n_best(TEXTS)
    assert [len(several) for several in found] == [count] * len(TEXTS)
    first = [several[0].translation for several in found]
    assert first == translator.translate(TEXTS)
    assert translator.n_best([]) == []


def test_a_translation_to_score_has_a_limit(beam):
    said = r"^At most 6 tokens are allowed\. Received: \[7 6\]$"
    with pytest.raises(ValueError, match=said):
        beam.score([("who", "lal " * 7), ("who", "lal " * 6)])


CALLS = {
    "translate": lambda x, texts: x.translate(texts),
    "greedy": lambda x, texts: x.translate(texts, greedy=True),
    "n_best": lambda x, texts: x.n_best(texts),
    "score": lambda x, texts: x.score([(text, "lal") for text in texts]),
    "alignments": lambda x, texts: x.alignments(texts),
    "evaluate": lambda x, texts: x.evaluate([(text, "lal") for text in texts]),
}


@pytest.mark.parametrize(
    "name", some_now(CALLS, ["n_best", "score", "alignments", "evaluate"])
)
def test_texts_that_are_cut_are_counted(beam, name):
    texts = ["the red house", "a " * 6, "b " * 60, "a b c d e"]
    with pytest.warns(UserWarning, match="2 of 4 texts were cut after 5 tok"):
        CALLS[name](beam, texts)


def test_a_lexicon_is_estimated_for_as_many_translations_as_it_holds():
    translator = small.translator()
    sides = translator.source_tokenizer, translator.target_tokenizer
    lexicon = translator.model.decoder.lexicon
    translator.estimate_lexicon(small.PAIRS)
    found = lexicon.get_weights()
    assert found[0].shape == (lexicon.source_size, 4)
    # Entries of rare words are reduced, since the target consists of words.
    options = {"translations": 4, "discount": 1.0}
    lexicon.assign(*translation_lexicon(small.PAIRS, *sides, **options))
    np.testing.assert_equal(found, lexicon.get_weights())


def test_clients_are_told_the_limits_of_the_search(beam):
    search = {"start_id": 1, "end_id": 2, "max_length": 6}
    search |= {"length_factor": 2, "length_offset": 10}
    expected = {"xla": None, "max_length": 5, "search": search}
    assert beam.served_facts() == expected


@pytest.mark.slow
def test_nothing_that_is_traced_is_stale(model):
    translator = TextTranslator(model, *WORDS, GreedySearch(max_length=6))
    lengths = [len(x.split()) for x in translator.translate(TEXTS)]
    assert min(lengths[:1] + lengths[2:]) < 5
    translator.search = translator.search.with_(min_length=5)
    lengths = [len(x.split()) for x in translator.translate(TEXTS)]
    assert min(lengths[:1] + lengths[2:]) == 5
    for several in translator.n_best(TEXTS[:1]):
        assert all(len(x.translation.split()) >= 5 for x in several)
