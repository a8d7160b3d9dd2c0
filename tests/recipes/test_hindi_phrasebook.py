import re
import unicodedata

import pytest
from corpora import hindi
from corpora.hindi_phrasebook import english_sentences
from corpora.hindi_phrasebook import phrasebook
from corpora.hindi_words import NOUNS

from tests.recipes import brief

PAIRS = phrasebook()
BOOK = dict(PAIRS)


def said(pattern):
    """The Hindi of the English sentences that match a pattern."""
    found = [hi for en, hi in PAIRS if re.search(pattern, en)]
    assert len(found) >= 4, pattern
    return found


def test_many_sentences_each_with_one_translation():
    assert 4_000 <= len(PAIRS) <= 6_000
    assert len(BOOK) == len(PAIRS)
    assert BOOK["Where is the station?"] == "स्टेशन कहाँ है?"


def test_another_process_says_the_same_in_the_same_order():
    code = "from corpora.hindi_phrasebook import phrasebook as f; print(f())"

    assert brief.printed_by_another_process(code) == str(PAIRS)


def test_the_spelling_is_plain():
    for english, text in PAIRS:
        assert re.fullmatch(r"[A-Z][A-Za-z ,']*[.?!]", english), english
        assert re.fullmatch(r"[\u0901-\u094d ,]+[।?!]", text), text
        assert unicodedata.is_normalized("NFC", text), text
        assert text[-1] == {".": "।"}.get(english[-1], english[-1])
        assert "  " not in english + text
        assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiou]", english)


def test_a_verb_agrees_with_the_gender_of_its_subject():
    she, he = "She|Sita|Gita|Meera|Radha", "He|Ram|Anil|Mohan|Ravi"
    assert all("रही है" in x for x in said(rf"^({she}) is \w+ing "))
    assert all("रहा है" in x for x in said(rf"^({he}) is \w+ing "))
    assert all("ती है।" in x for x in said(rf"^({she}) (wants|lives|drinks) "))
    assert all("ती।" in x for x in said(rf"^({she}) does not \w+ .*"))
    assert all(x.endswith("ता।") for x in said(rf"^({he}) does not (?!want)"))


def test_the_perfective_agrees_with_its_object_after_ne():
    things = {"(car|sari|letter)": "ी।", "(cars|saris|letters)": "ीं।"}
    things |= {"(mango|phone|house)": "ा।"}
    for thing, ending in things.items():
        verb = rf"\b(wrote|sold|bought|gave) [^?]*\b{thing}\b[^?]*$"
        texts = said(rf"^(?!Who|.* (has|have) )[^?]*{verb}")
        assert all(text.endswith(ending) for text in texts)
    assert all("ने " in x for x in said(r"^\w+ (drank|ate|sold|bought) "))
    assert all("ने " not in x for x in said(r"^\w+ (slept|went|swam|came) "))


def test_nouns_and_adjectives_are_oblique_before_a_postposition():
    nouns = [x for kind in NOUNS.values() for x in kind.values()]
    direct = "|".join(x for x in nouns if x.endswith("ा"))
    good = "अच्छा|लंबा|छोटा|बड़ा|नया|पुराना|सस्ता"
    before = "(ने|को|से|का|के|की)"
    for _, text in PAIRS:
        assert not re.search(rf"\b({direct}) {before} ", text), text
        assert not re.search(rf"\b({good}) \S+ {before} ", text), text
    assert any("लड़के को" in x for x in said(r"boy( |\.)"))


def test_a_possessive_of_the_subject_is_apna():
    assert all("अप" in x for x in said(r"^(He|Ram|Ravi|The boy) \w+ .*\bhis "))
    assert all("अप" in x for x in said(r"^(She|Sita|Radha) \w+ .*\bher \w"))


@pytest.mark.parametrize(
    ("word", "feminine", "forms"),
    [
        ("लड़का", False, "लड़के लड़के लड़कों"),
        ("घर", False, "घर घर घरों"),
        ("भाई", False, "भाई भाई भाइयों"),
        ("लड़की", True, "लड़की लड़कियाँ लड़कियों"),
        ("किताब", True, "किताब किताबें किताबों"),
    ],
)
def test_declension(word, feminine, forms):
    assert forms.split() == [
        hindi.decline(word, feminine, oblique=True),
        hindi.decline(word, feminine, plural=True),
        hindi.decline(word, feminine, plural=True, oblique=True),
    ]


@pytest.mark.parametrize(
    ("stem", "forms"),
    [
        ("लिख", "लिखूँगा लिखोगे लिखेगी लिखेंगे लिखिए लिखा"),
        ("खा", "खाऊँगा खाओगे खाएगी खाएँगे खाइए खाया"),
        ("पी", "पिऊँगा पियोगे पिएगी पिएँगे पीजिए पिया"),
        ("कर", "करूँगा करोगे करेगी करेंगे कीजिए किया"),
        ("जा", "जाऊँगा जाओगे जाएगी जाएँगे जाइए गया"),
    ],
)
def test_verbs(stem, forms):
    agreements = (False, False, 1), (False, True, 2), (True,), (False, True)
    future = [hindi.future(stem, hindi.Phrase(*x)) for x in agreements]
    rest = [hindi.polite(stem), hindi.perfective(stem)]
    assert " ".join(future + rest) == forms


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
