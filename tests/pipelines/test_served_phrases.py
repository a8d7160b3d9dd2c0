"""Translations that begin with, contain or avoid phrases of the client."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.decoding import BeamSearch
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Lexicon
from kerasrnn.models import Shortlist
from kerasrnn.models import Translator
from kerasrnn.pipelines import TextTranslator
from kerasrnn.pipelines.translation_functions import phrase_ids
from kerasrnn.tokenizers import WordTokenizer
from tests.helpers import randomize
from tests.pipelines.small import PAIRS
from tests.reference.search import contains

TEXTS = ["the red book.", "", "who knows?", "a house.", "who is there?"]
PREFIX = ["ghar", "", "", "kise pata", "lal"]
REQUIRED = [["lal kitab"], [], ["ghar", "nila"], ["kaun"], ["lal", ""]]
FORBIDDEN = [["kitab ghar", "sahib"], ["lal"], [], ["nila ghar"], ["kaun"]]


@pytest.fixture(scope="module")
def translator():
    source, target = (
        WordTokenizer.train(side, strip_punctuation=True)
        for side in zip(*PAIRS, strict=True)
    )
    sizes = source.vocabulary_size, target.vocabulary_size
    cell = keras.layers.GRUCell(8)
    model = Translator(Encoder(sizes[0], cell, 8), Decoder(sizes[1], cell, 8))
    randomize(model)
    # Words, and an end that comes soon.
    bias = model.decoder.output_projection.bias
    specials = np.array([-9.0, -9.0, 2.5, -9.0])
    bias.assign(bias + np.pad(specials, (0, sizes[1] - 4)))
    # It lacks most words, so phrases must not be limited to it.
    shortlist = Shortlist(Lexicon(*sizes), size=7, frequent=5)
    search = BeamSearch(max_length=12, beam_width=3)
    return TextTranslator(model, source, target, search, shortlist=shortlist)


@pytest.mark.slow
@pytest.mark.parametrize("greedy", [False, True])
def test_a_translation_has_its_phrases(translator, greedy):
    found = translator.translate(TEXTS, 2, greedy, PREFIX, REQUIRED, FORBIDDEN)
    for text, begins, inside, never in zip(
        found, PREFIX, REQUIRED, FORBIDDEN, strict=True
    ):
        words = tuple(text.split())
        assert words[: len(begins.split())] == tuple(begins.split())
        behind = words[len(begins.split()) :]
        for phrase in inside:
            assert contains(words, tuple(phrase.split()))
        for phrase in never:
            assert not contains(behind, tuple(phrase.split()))
    assert found[1] == ""
    plain = translator.translate(TEXTS, greedy=greedy)
    assert sum(x != y for x, y in zip(found, plain, strict=True)) == 4


def test_a_greedy_search_has_them_too(translator, monkeypatch):
    def repeat(text, *phrases):
        return {"translation": text, "score": tf.where(text == "x", -np.inf, 0)}

    monkeypatch.setattr(translator._functions, "greedy_with", repeat)
    monkeypatch.setitem(translator.signatures, "greedy", repeat)
    for required in None, [["ghar"], ["lal", "nila"]]:
        with pytest.warns(UserWarning, match="1 of 2 texts have no trans"):
            found = translator.translate(
                ["x", "y"], batch_size=1, greedy=True, required=required
            )
        assert found == ["x", "y"]


@pytest.mark.slow
def test_no_phrases_change_nothing(translator):
    empty = [[]] * len(TEXTS)
    without = TextTranslator(
        translator.model,
        translator.source_tokenizer,
        translator.target_tokenizer,
        translator.search,
    )
    assert translator.translate(TEXTS, required=empty) == without.translate(
        TEXTS
    )


@pytest.mark.slow
def test_what_has_no_translation_is_counted(translator):
    required = [["lal"], ["lal"], ["lal kitab " * 7]]
    with pytest.warns(UserWarning, match="2 of 3 texts have no translation"):
        found = translator.translate(TEXTS[:3], required=required)
    assert found[0] and found[1:] == ["", ""]
    signature = translator.signatures["translate_with"]
    none = tf.constant([[""]])
    answer = signature(TEXTS[2:3], [""], required[2:], none)
    assert answer["score"] == -np.inf


@pytest.mark.parametrize(
    "phrases, said",
    [
        ({"prefix": ["ghar"]}, "`prefix` must have an item .* 2 texts and 1"),
        ({"forbidden": ["ghar", []]}, "must be a list of strings"),
    ],
)
def test_phrases_that_cannot_be_written(translator, phrases, said):
    with pytest.raises(ValueError, match=said):
        translator.translate(TEXTS[:2], **phrases)


def test_unknown_words_of_a_phrase_are_named_without_a_trace(translator):
    said = r"^All words of a phrase must .*\. Received: \[buch\]$"
    with pytest.raises(ValueError, match=said):
        translator.translate(TEXTS[:1], required=[["lal", "buch"]])


def test_words_that_are_not_in_the_vocabulary_are_refused(translator):
    texts, said = (
        tf.constant([["lal", "buch", "?!"]]),  # the last has no word
        r"vocabulary\. Received:'\s+b'buch', b'\?!'",
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match=said):
        phrase_ids(texts, translator.target_tokenizer)


def test_what_nobody_sees_is_no_phrase(translator):
    texts = tf.constant([["", "\u200b", "lal\ufeff"]])
    found = phrase_ids(texts, translator.target_tokenizer)
    assert [x[0] >= 0 for x in found[0].numpy()] == [False, False, True]


def test_too_many_and_too_long_phrases_are_refused(translator):
    tokenizer, said = translator.target_tokenizer, "squared length"
    assert phrase_ids(tf.constant([["lal"] * 1000]), tokenizer).shape[2] == 1
    for phrases in (["lal " * 2048], ["lal " * 99] + [""] * 500):
        with pytest.raises(tf.errors.InvalidArgumentError, match=said):
            phrase_ids(tf.constant([phrases]), tokenizer)
