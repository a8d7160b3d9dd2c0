import re
import unicodedata

from corpora.hindi_phrasebook import english_sentences
from corpora.hindi_phrasebook import phrasebook

from tests.recipes import brief

PAIRS = phrasebook()


def test_it_is_the_corpus_of_the_published_figures():
    assert len(PAIRS) == len(dict(PAIRS)) == 5598
    assert dict(PAIRS)["Where is the station?"] == "स्टेशन कहाँ है?"
    assert brief.checksum(PAIRS) == "20c0e85e7f199f96"


def test_the_spelling_is_plain():
    for english, text in PAIRS:
        assert re.fullmatch(r"[A-Z][A-Za-z ,']*[.?!]", english), english
        assert re.fullmatch(r"[\u0901-\u094d ,]+[।?!]", text), text
        assert unicodedata.is_normalized("NFC", text), text
        assert text[-1] == {".": "।"}.get(english[-1], english[-1])


def test_held_out_sentences_recombine_known_words():
    for side in (0, 1):
        known = {x for pair in PAIRS[500:] for x in pair[side].split()}
        seen = [x for pair in PAIRS[:500] for x in pair[side].split()]
        assert sum(word not in known for word in seen) < 0.02 * len(seen)


def test_the_english_side_is_a_text(monkeypatch):
    monkeypatch.setattr("corpora.hindi_phrasebook.phrasebook", lambda: PAIRS)
    lines = english_sentences(1)
    assert sorted(lines) == sorted(english_sentences(2)) != lines
    assert lines == english_sentences(1)
    assert len(lines) == len(PAIRS) and "Where is the station ?" in lines
