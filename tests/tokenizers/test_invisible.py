import random
import unicodedata

import pytest
import tensorflow as tf

from kerasrnn.data import source_key
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import ReviewTokenizer
from kerasrnn.tokenizers import SentencePieceTokenizer
from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.tokenizers import normalize_text
from kerasrnn.tokenizers import split_into_words
from kerasrnn.tokenizers.invisible import appearance
from kerasrnn.tokenizers.invisible import is_blank
from kerasrnn.tokenizers.invisible import is_spaceless
from kerasrnn.tokenizers.invisible import visible
from kerasrnn.tokenizers.invisible import visible_with_places


@pytest.mark.parametrize("text", ["你好a", "བོད་ཡིག", "你ab", "12"])
def test_most_letters_tell_whether_words_have_spaces_between(text):
    assert is_spaceless(text) == (text in ("你好a", "བོད་ཡིག"))


def characters(*ranges):
    return [chr(code) for first, last in ranges for code in range(first, last)]


# The property Default_Ignorable_Code_Point of Unicode 16, and what surrounds
# annotations.
IGNORABLE = characters(
    *((0xAD, 0xAE), (0x34F, 0x350), (0x61C, 0x61D), (0x115F, 0x1161)),
    *((0x17B4, 0x17B6), (0x180B, 0x1810), (0x200B, 0x2010), (0x202A, 0x202F)),
    *((0x2060, 0x2070), (0x3164, 0x3165), (0xFE00, 0xFE10), (0xFEFF, 0xFF00)),
    *((0xFFA0, 0xFFA1), (0xFFF0, 0xFFFC), (0x1BCA0, 0x1BCA4)),
    *((0x1D173, 0x1D17B), (0xE0000, 0xE1000)),
)
UNSEEN = [c for c in IGNORABLE if c not in "\u200c\u200d"]
SPACES = ["\u2800"] + [
    chr(code)
    for code in range(0x10000)
    if unicodedata.category(chr(code)) in ("Zs", "Zl", "Zp", "Cc")
]
# Signs of the category Cf that are seen, and others near the ranges.
SEEN = [*"\u0600\u06dd\u070f\u08e2\U000110bd\U00013430\ufffc\u2801\u180a\u034e"]


def normalized(texts, **options):
    options = {"lowercase": False, **options}
    return [x.decode() for x in normalize_text(texts, **options).numpy()]


def test_invisible_characters_change_nothing():
    for form, expected in (
        ("{}", ""),
        (" {} ", ""),
        ("{}das", "das"),
        ("das{}", "das"),
        ("das {} ist", "das ist"),
        ("das{} {}ist{}", "das ist"),
    ):
        texts = [form.replace("{}", sign) for sign in IGNORABLE]
        assert set(normalized(texts)) == {expected}
    for word in "das", "это", "नमस्ते", "خواهم", "1,5":
        texts = [word[:1] + sign + word[1:] for sign in UNSEEN]
        assert set(normalized(texts)) == {word}


def test_what_looks_like_white_space_is_a_space():
    assert set(normalized([f"{x}a{x}{x}b{x}" for x in SPACES])) == {"a b"}
    assert normalized(["\u2060 \u2800\u200b"]) == [""]


def test_what_is_seen_stays():
    assert normalized([f"a {x} b" for x in SEEN]) == [f"a {x} b" for x in SEEN]


def test_python_sees_what_the_graph_sees():
    signs = [*IGNORABLE, *SPACES, *SEEN, *map(chr, range(0x20, 0x3000, 7))]
    found = normalized(signs)
    assert [is_blank(x) for x in signs] == [x == "" for x in found]
    texts = [f"{x}A{x} {x}b{x}" for x in (*UNSEEN, *SPACES)]
    assert set(map(appearance, texts)) == {"A b"}
    assert set(map(source_key, texts)) == {"a b"}
    assert source_key("क्\u200dष") == source_key("क्ष")


@pytest.mark.parametrize(
    "text, expected",
    [
        # Letters with a joiner between them.
        ("क्\u200dष र\u200d्क नमस्\u200cते", None),
        ("می\u200cخواهم ۱۰\u200cساله", None),
        ("می\u200c خواهم \u200cمن", "می خواهم من"),
        ("\u200d \u200c\u200d क\u200d \u200dक", "  क क"),
        ("नमस्\u200b\u200d\ufe0fते", "नमस्\u200dते"),
        # A half letter at the end of a word, as the chillu of Malayalam.
        ("അവന്\u200d, क्\u200d।", None),
        ("अ\u200d, क्\u200c।", "अ, क्।"),
        # Emoji, their variants and flags of regions.
        (
            "👨\u200d👩\u200d👧 🏳\ufe0f\u200d🌈 👩🏽\u200d🚀 🙂\u200d↔\ufe0f",
            None,
        ),
        ("❤\ufe0f ❤\ufe0e ‼\ufe0f 1\ufe0f\u20e3 ©\ufe0f", None),
        ("👩\u200d a\u200d👧 \u200d👧", "👩 a👧 👧"),
        ("a\ufe0f \ufe0f 1\ufe0f ❤\ufe0f\ufe0f", "a  1 ❤\ufe0f"),
        ("🏴\U000e0067\U000e0062\U000e007f", None),
        ("🏴\U000e0067 a\U000e0067\U000e007f", "🏴 a"),
        # Variants of Chinese characters, and of Mongolian letters.
        ("葛\U000e0100城 ∩\ufe00", None),
        ("a\U000e0100 城\ufe0f", "a 城"),
        ("ᠨ\u180eᠠ ᠠ\u180b ᠨ\u180b\u180eᠠ\u180c", None),
        ("ᠨ\u180e a\u180ea \u180b", "ᠨ aa "),
    ],
)
def test_what_changes_what_is_seen_stays(text, expected):
    expected = text if expected is None else expected
    assert visible([text]).numpy()[0].decode() == expected
    assert normalized([text]) == [" ".join(expected.split())]


def test_a_sign_falls_away_with_its_variant():
    [found] = normalized(["a‼\ufe0f b"], strip_punctuation=True)
    assert found == "a b"


def noisy(text, rng, signs):
    """The text with signs at random places, also several."""
    count = len(text)
    return "".join(
        "".join(rng.choices(signs, k=max(0, rng.randint(-3, 2)))) + text[i:][:1]
        for i in range(count + 1)
    )


TEXTS = [
    "The U.S. rate isn't 1,000.5; see https://a.org/x?y=1 & <b>me@b.org</b>!",
    "क्\u200dष और र\u200d्क, नमस्ते। می\u200cخواهم بروم؟",
    "ok👨\u200d👩\u200d👧👍🏽🇮🇳 ❤\ufe0f 1\ufe0f\u20e3 #tag... @bob's -- “no”",
    "明天iPhone手机。東京 葛\U000e0100城 ที่นี่ 서울에 អក្សរ cafe\u0301 tiếng",
]
STEADY = [c for c in UNSEEN if c not in characters((0xFE00, 0xFE10))]
STEADY = [c for c in STEADY if not 0xE0000 <= ord(c) or ord(c) < 0xE0020]


@pytest.fixture(scope="module")
def tokenizers():
    apart = {"lowercase": False, "separate_punctuation": True}
    return [
        WordTokenizer.train(TEXTS),
        WordTokenizer.train(TEXTS, **apart),
        WordTokenizer.train(TEXTS, strip_punctuation=True),
        CharacterTokenizer.train(TEXTS),
        SentencePieceTokenizer.train(TEXTS, 150, **apart),
        *(
            ReviewTokenizer.train(TEXTS, special=special)
            for special in ("drop", "apart", "keep")
        ),
    ]


def test_every_tokenizer_is_blind_to_them(tokenizers):
    rng = random.Random(0)
    signs = [c for c in STEADY if not "\u180b" <= c <= "\u180f"]
    texts = [noisy(text, rng, signs) for text in TEXTS for _ in range(5)]
    blank = ["".join(rng.choices(IGNORABLE, k=n)) for n in range(1, 9)]
    for tokenizer in tokenizers:
        expected = [
            x for x in tokenizer.tokenize(TEXTS).to_list() for _ in range(5)
        ]
        assert tokenizer.tokenize(texts).to_list() == expected
        assert not any(tokenizer.tokenize(blank).to_list())
        # Training sees no more than serving does.
        if not isinstance(tokenizer, SentencePieceTokenizer):
            options = tokenizer.get_config()
            again = type(tokenizer).train([*texts[::5], *blank], **options)
            assert set(again.vocabulary) == set(tokenizer.vocabulary)
        back = tokenizer.detokenize(tokenizer.tokenize(texts[:1]))
        assert back == tokenizer.detokenize(tokenizer.tokenize(TEXTS[:1]))


def test_words_are_the_same_and_know_their_places():
    rng = random.Random(1)
    signs = [c for c in STEADY if not "\u180b" <= c <= "\u180f"]
    texts = [noisy(text, rng, signs) for text in TEXTS for _ in range(5)]
    expected = [
        x for x in split_into_words(TEXTS).words.to_list() for _ in range(5)
    ]
    columns = (x.to_list() for x in split_into_words(texts))
    for text, before, words, starts, ends in zip(
        texts, expected, *columns, strict=True
    ):
        words = [word.decode() for word in words]
        assert [text[a:b] for a, b in zip(starts, ends, strict=True)] == words
        assert visible(words).numpy().tolist() == before
        # None begins or ends with what is not seen.
        assert not any(word[0] in signs or word[-1] in signs for word in words)


def test_places_are_those_of_the_bytes():
    rng = random.Random(2)
    letters = [*"aé明😀 ", "क्", *"\u200b\ufeff\ufe0f\u200d\U000e0067"]
    texts = ["".join(rng.choices(letters, k=n % 30)) for n in range(60)]
    given = tf.constant(texts)
    found, places = visible_with_places(given)
    assert found.numpy().tolist() == visible(given).numpy().tolist()
    for row, text in enumerate(found.numpy()):
        positions = tf.range(len(text), dtype=tf.int64)
        where = places(tf.fill([len(text)], row), positions).numpy()
        assert bytes(texts[row].encode()[i] for i in where) == text
        assert (where[1:] > where[:-1]).all()
