import os
import re
import subprocess
import sys
import unicodedata
from collections import Counter

import pytest

from kerasrnn.data import vietnamese_phrasebook
from kerasrnn.data.phrasebook.english import add_ing
from kerasrnn.data.phrasebook.english import add_s
from kerasrnn.data.phrasebook.sentences import draw
from kerasrnn.data.vietnamese_phrasebook import _PLURALS
from kerasrnn.data.vietnamese_phrasebook import _sentence
from kerasrnn.data.vietnamese_phrasebook import ADJECTIVES
from kerasrnn.data.vietnamese_phrasebook import ALL_NOUNS
from kerasrnn.data.vietnamese_phrasebook import DEEDS
from kerasrnn.data.vietnamese_phrasebook import NAMES
from kerasrnn.data.vietnamese_phrasebook import PATTERNS
from kerasrnn.data.vietnamese_phrasebook import PRONOUNS
from kerasrnn.data.vietnamese_phrasebook import SPOTS
from kerasrnn.data.vietnamese_phrasebook import WORDS

PAIRS = vietnamese_phrasebook()
BOOK = dict(PAIRS)
TEMPLATES = [
    (scene, template)
    for scene, templates in PATTERNS.items()
    for template in templates.strip().splitlines()
]


def occurrences(text):
    """In how many English sentences a word or phrase is found."""
    return sum(
        bool(re.search(rf"\b{text}\b", english, re.IGNORECASE))
        for english in BOOK
    )


def test_it_is_the_same_in_every_process():
    code = (
        "import hashlib; from kerasrnn.data import vietnamese_phrasebook as f;"
        "print(hashlib.sha256(repr(f()).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "12"
    }
    assert len(digests) == 1
    assert vietnamese_phrasebook() == PAIRS


def test_an_english_sentence_has_one_translation():
    assert 3_800 <= len(PAIRS) <= 4_500
    assert len(BOOK) == len(PAIRS)


def test_translation_does_not_depend_on_the_draw():
    """Another, far larger draw agrees with the book and with itself."""
    translations = {}
    for scene, template in TEMPLATES[::9]:
        options = {"scene": scene, "template": template}
        for english, vietnamese in draw(_sentence, options, 200):
            assert translations.setdefault(english, vietnamese) == vietnamese
            assert BOOK.get(english, vietnamese) == vietnamese


@pytest.mark.parametrize("scene, template", TEMPLATES)
def test_a_pattern_yields_sentences(scene, template):
    assert draw(_sentence, {"scene": scene, "template": template}, 3)


def test_sentences_are_clean():
    for english, vietnamese in PAIRS:
        assert re.fullmatch(r"[A-Z][A-Za-z' ,]*[a-z][.?]", english), english
        assert re.fullmatch(r"[^\W\d_][\w ,]*\w[.?]", vietnamese), vietnamese
        assert vietnamese[0].isupper()
        assert english[-1] == vietnamese[-1]
        assert unicodedata.normalize("NFC", vietnamese) == vietnamese
        for sentence in (english, vietnamese):
            assert 2 <= len(sentence.split()) <= 14
            assert "  " not in sentence


def test_articles_fit_the_next_word():
    for english in BOOK:
        assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiou]", english), (
            english
        )


@pytest.mark.parametrize(
    "english, vietnamese",
    [
        (r"\b(not|no|cannot|never)\b", r"\b(không|đừng|chưa)\b"),
        (r"\byet\?", r"\bchưa\?"),
        (r"\b[Dd]o not \w+ (\w+ )*now\.|^Do not", r"[Đđ]ừng"),
        (r"^Please", r"^Làm ơn"),
        (r"^Let us", r"chúng ta hãy"),
        (r"\bcan(not)?\b", r"\bcó thể\b|\bkhông thể\b"),
        (r"\bwants? to\b", r"\bmuốn\b"),
        (r"\bis \w+ing\b", r"\bđang\b"),
        (r"\bwill\b.*\.$", r"\bsẽ\b"),
        (r"\bthan\b", r"\bhơn\b"),
        (r"\b(this|these)\b (?!morning|afternoon|is|\?)", r"\bnày\b|[Đđ]ây"),
        (r"\b(my|your|our|their|\w+'s)\b", r"\bcủa\b"),
        (r"^How (many|much)", r"bao nhiêu"),
        (r"^Why", r"^Tại sao"),
        (r"^When", r"[Kk]hi nào"),
        (r"^Where", r"(ở đâu|đi đâu)\?$"),
        (r"^(Is|Are|Do|Does|Can) ", r"\bcó\b.* không\?$"),
    ],
)
def test_what_english_says_vietnamese_says(english, vietnamese):
    said = [pair for pair in PAIRS if re.search(english, pair[0])]
    assert len(said) >= 15
    for pair in said:
        assert re.search(vietnamese, pair[1]), pair


def test_who_denies_denies_in_both():
    for english, vietnamese in PAIRS:
        if vietnamese.endswith(".") and re.search(
            r"\b(không|đừng|chưa)\b", vietnamese.lower()
        ):
            assert re.search(r"\b(not|no|cannot|never)\b", english.lower())


@pytest.mark.parametrize("noun", ALL_NOUNS)
def test_a_noun_is_used(noun):
    plural = _PLURALS.get(noun) or add_s(noun)
    assert occurrences(f"({noun}|{plural})") >= 5


@pytest.mark.parametrize(
    "word",
    sorted(
        {word for table in ADJECTIVES.values() for word in table}
        | {word for table in WORDS.values() for word in table}
        | {*NAMES, *PRONOUNS}
    ),
)
def test_a_word_is_used(word):
    assert occurrences(word) >= 5


@pytest.mark.parametrize("verb", sorted({verb for verb, _, _ in DEEDS}))
def test_a_verb_is_used(verb):
    forms, _, rest = verb.partition(" ")
    base, *irregular = forms.split("/")
    forms = [base, add_s(base), add_ing(base), *irregular]
    assert occurrences(f"({'|'.join(forms)}) {rest}".rstrip()) >= 5


@pytest.mark.parametrize("vietnamese", sorted({deed[1] for deed in DEEDS}))
def test_a_translation_of_a_verb_is_used(vietnamese):
    assert sum(vietnamese in pair[1] for pair in PAIRS) >= 5


@pytest.mark.parametrize("spot", sorted({row[1] for row in SPOTS}))
def test_a_preposition_is_used(spot):
    english, vietnamese = spot.split("=")
    used = [pair for pair in PAIRS if f" {english} the " in pair[0]]
    assert sum(f" {vietnamese} " in pair[1] for pair in used) >= 3


def test_held_out_sentences_recombine_known_words():
    kept = [pair for number, pair in enumerate(PAIRS) if number % 10]
    for side in (0, 1):
        known = {
            word for pair in kept for word in re.findall(r"\w+", pair[side])
        }
        seen = [
            word
            for pair in PAIRS[::10]
            for word in re.findall(r"\w+", pair[side])
        ]
        missing = Counter(word for word in seen if word not in known)
        assert missing.total() < 0.01 * len(seen), missing
