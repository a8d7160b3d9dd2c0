import re
import unicodedata

from corpora.vietnamese_phrasebook import vietnamese_phrasebook

from tests.recipes import brief

PAIRS = vietnamese_phrasebook()


def test_it_is_the_corpus_of_the_published_figures():
    assert dict(PAIRS)["Where is the market?"] == "Chợ ở đâu?"
    assert brief.checksum(PAIRS) == "4cdab20f81f21c77"


def test_the_spelling_is_plain():
    assert len(dict(PAIRS)) == len(PAIRS)
    for source, target in PAIRS:
        assert re.fullmatch(r"[A-Z][A-Za-z ,']*[.?!]", source), source
        assert re.fullmatch(r"[^\W\d_][^\d_]*[.?]", target), target
        assert unicodedata.is_normalized("NFC", target), target
        assert target[0].isupper() and target[-1] == source[-1]
