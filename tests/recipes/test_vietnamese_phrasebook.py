import re
import unicodedata

import pytest
from corpora import english
from corpora.vietnamese_phrasebook import vietnamese_phrasebook

from tests.recipes import brief

PAIRS = vietnamese_phrasebook()
BOOK = dict(PAIRS)


def test_many_sentences_each_with_one_translation():
    assert 3_500 <= len(PAIRS) <= 5_000
    assert len(BOOK) == len(PAIRS)
    assert BOOK["Where is the market?"] == "Chợ ở đâu?"


def test_another_process_says_the_same_in_the_same_order():
    code = "import corpora.vietnamese_phrasebook as x; "
    code += "print(x.vietnamese_phrasebook())"
    assert brief.printed_by_another_process(code) == str(PAIRS)


def test_the_spelling_is_plain():
    for source, target in PAIRS:
        assert re.fullmatch(r"[A-Z][A-Za-z ,']*[.?!]", source), source
        assert re.fullmatch(r"[^\W\d_][^\d_]*[.?]", target), target
        assert unicodedata.is_normalized("NFC", target), target
        assert target[0].isupper() and target[-1] == source[-1]
        assert "  " not in source + target


@pytest.mark.parametrize(
    "source, target",
    [
        (r"\b(not|cannot|never)\b", r"\b(không|đừng|chưa)\b"),
        (r"\byet[.]", r"\bchưa\b"),
        (r"\bis \w+ing .*now", r"\bđang\b"),
        (r"\bwill\b.*\.$", r"\bsẽ\b"),
        (r"^(I|He|Lan|She|Nam|They) (met|ate|drank|bought) .*ago\.", r"\bđã\b"),
        (r"\bthan\b", r"\bhơn\b"),
        (r"\b(my|your|our|their|Minh's) ", r"\bcủa\b"),
        (r"^(Does|Did|Are) ", r"\bcó\b.* không\?$"),
        (r"\b(likes?|eats?) apples", r"[^ả] táo|^táo"),
        (r"\b(this|the|a) book\b", r"quyển sách"),
        (r"has (two|six) (pens|books|hats)", r"(hai|sáu) (cái|quyển) "),
    ],
)
def test_both_languages_say_the_same(source, target):
    found = [pair for pair in PAIRS if re.search(source, pair[0])]
    assert len(found) >= 4
    for pair in found:
        assert re.search(target, pair[1].lower()), pair


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("make/made", "make makes made made making"),
        ("go/went/gone", "go goes went gone going"),
        ("see/saw/seen", "see sees saw seen seeing"),
        ("sit/sat", "sit sits sat sat sitting"),
        ("carry", "carry carries carried carried carrying"),
        ("dance", "dance dances danced danced dancing"),
        ("open", "open opens opened opened opening"),
    ],
)
def test_english_verbs(verb, forms):
    found = english.verb_forms(verb, "", english.Phrase("she", "she"))
    assert " ".join(found.values()) == forms


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("big", "bigger biggest"),
        ("dirty", "dirtier dirtiest"),
        ("white", "whiter whitest"),
        ("good", "better best"),
        ("beautiful", "more beautiful most beautiful"),
    ],
)
def test_english_comparison(word, forms):
    word = english.Adjective(word)
    assert f"{word:er} {word:est}" == forms
