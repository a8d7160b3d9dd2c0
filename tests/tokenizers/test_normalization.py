import unicodedata

import pytest
import tensorflow as tf

from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.tokenizers import join_punctuation
from kerasrnn.tokenizers import normalize_text


def normalized(text, **kwargs):
    if isinstance(text, str):
        text = text.encode()
    return normalize_text([text], **kwargs).numpy()[0].decode()


@pytest.mark.parametrize(
    "text",
    [
        "cafe\u0301",
        "tie\u0302\u0301ng vie\u0323\u0302t",
        "\u095b\u092e\u0940\u0928",  # a nukta that NFC takes apart
        "\u0928\u093c",  # and one that it composes
        "\u1100\u1161\u11a8",
    ],
)
def test_texts_become_unicode_form_c(text):
    assert text != unicodedata.normalize("NFC", text)
    assert normalized(text) == unicodedata.normalize("NFC", text)


def test_form_c_holds_where_punctuation_stood_between():
    assert normalized("e.\u0301", strip_punctuation=True) == "\u00e9"


@pytest.mark.parametrize(
    "space",
    [" ", "\t", "\n", "\r\n", "\u00a0", "\u2003", "\u2028", "\u202f"]
    + ["\u3000", "\u1680", "\u0085", "\x0b", "\x00", " \u00a0\t "],
)
def test_any_white_space_is_one_space(space):
    # Cutting a character of several bytes in half would leave U+FFFD.
    text = f"{space}नमस्ते{space}दुनिया{space}"
    assert normalized(text) == "नमस्ते दुनिया"


@pytest.mark.parametrize(
    ("bad", "good"),
    [
        (b"caf\xc3", "caf\ufffd"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"a \xe0\xa4 b", "a \ufffd b"),
        (b"\x80", "\ufffd"),
    ],
)
def test_invalid_utf8_becomes_the_replacement_character(bad, good):
    assert normalized(bad) == good


def test_punctuation_is_stripped_on_demand():
    text = "«क्या?» हाँ। ठीक॥ don't stop… “well-read” $3 +1"
    assert normalized(text) == text
    stripped = "क्या हाँ ठीक dont stop wellread $3 +1"
    assert normalized(text, strip_punctuation=True) == stripped


@pytest.mark.parametrize(
    ("text", "lower"),
    [("ÀÉ", "àé"), ("ДА", "да"), ("TIẾNG VIỆT", "tiếng việt"), ("हाँ", "हाँ")],
)
def test_lower_casing_knows_other_scripts(text, lower):
    assert normalized(text) == lower
    assert normalized(text, lowercase=False) == text


@pytest.mark.parametrize(
    "text, lowercase, lower",
    [
        ("İstanbul IĞDIR", True, "istanbul iğdir"),
        ("İstanbul IĞDIR", "tr", "istanbul ığdır"),
        ("I\u0307zmir", True, "izmir"),
        # NFC has one character for it, in lower case only.
        ("J\u030c", True, "\u01f0"),
    ],
)
def test_lower_case_has_no_broken_accents(text, lowercase, lower):
    assert normalized(text, lowercase=lowercase) == lower
    assert normalized(lower, lowercase=lowercase) == lower


def test_rules_of_lower_case_are_named():
    with pytest.raises(ValueError, match="'tr'. Received: lowercase='az'"):
        normalize_text(["a"], lowercase="az")
    with pytest.raises(ValueError, match="Received: lowercase='az'"):
        WordTokenizer(lowercase="az")
    tokenizer = WordTokenizer.train(["IŞIK"], lowercase="tr")
    assert tokenizer.vocabulary[4:] == ("ışık",)
    assert tokenizer.get_config()["lowercase"] == "tr"


@pytest.mark.parametrize("text", ["", " ", "\u00a0\t\u3000", "\x00"])
def test_a_text_without_words_becomes_empty(text):
    assert normalized(text) == ""


def test_shape_stays():
    found = normalize_text([["A", "B "], [" C", "d  e"]])
    assert found.numpy().tolist() == [[b"a", b"b"], [b"c", b"d e"]]
    assert normalize_text(tf.zeros([0], tf.string)).shape == (0,)


def test_normalizing_twice_changes_nothing():
    texts = ["  Cafe\u0301\u00a0au LAIT!  ", "क्\u200dष ।", "İstanbul"]
    for strip_punctuation in (True, False):
        once = normalize_text(texts, strip_punctuation=strip_punctuation)
        twice = normalize_text(once, strip_punctuation=strip_punctuation)
        assert once.numpy().tolist() == twice.numpy().tolist()


PUNCTUATION = [
    ("Hello, world!", "Hello , world !"),
    ("I don't know.", "I don &apos;t know ."),
    ('He said: "No".', "He said : &quot; No &quot; ."),
    (
        "It's (almost) true; isn't it?",
        "It &apos;s ( almost ) true ; isn &apos;t it ?",
    ),
    (
        "Mr. Smith paid $1,000.50 at 11:30.",
        "Mr. Smith paid $ 1,000.50 at 11:30 .",
    ),
    ("John Smith Sr. Agrees.", "John Smith Sr. Agrees ."),
    (
        "Mrs. A, Ms. B, Dr. C, Prof. D, St. E, Jr. F",
        "Mrs. A , Ms. B , Dr. C , Prof. D , St. E , Jr. F",
    ),
    ("Page 7:", "Page 7 :"),
    ("Wait... what?", "Wait ... what ?"),
    ("We left. They stayed.", "We left . They stayed ."),
    ("a [b] <c> & d|e", "a &#91; b &#93; &lt; c &gt; &amp; d &#124; e"),
    ("a well-known 3.5 and/or U.S. rate", "a well-known 3.5 and/or U.S. rate"),
    ("“Vâng”, cô ấy nói.", "&quot; Vâng &quot; , cô ấy nói ."),
    (
        "Mail to jo.b+c@site.org, or (https://a.org/x?y=1&z=2).",
        "Mail to jo.b+c@site.org , or ( https://a.org/x?y=1&amp;z=2 ) .",
    ),
    (
        "नमस्\u200dते, दोस्त। نمی\u200cخواهم؟",
        "नमस्\u200dते , दोस्त । نمی\u200cخواهم ؟",
    ),
    ("ok👨\u200d👩\u200d👧👍🏽🇮🇳", "ok 👨\u200d👩\u200d👧 👍🏽 🇮🇳"),
    ("", ""),
]


@pytest.mark.parametrize("text, apart", PUNCTUATION)
def test_punctuation_is_set_apart_once(text, apart):
    options = {"lowercase": False, "separate_punctuation": True}
    assert normalized(text, **options) == apart
    # What is apart already stays as it is.
    assert normalized(apart, **options) == apart


@pytest.mark.parametrize(
    "text",
    [
        "नमस्\u200dते दोस्त।",
        "نمی\u200cخواهم، بروم؟",
        "हाँ। ठीक॥ क्या?",
        "你好，世界！「好」。",
        "¿Qué? ¡Sí! (no…)",
        'He said, "yes" and "no".',
        "I said 'no way' to the dogs' owner, 'I don't know'.",
        "It's l'eau, rock 'n' roll of the 90's; you shouldn't've.",
        "I'm sure he'd say they're 'good', as I'VE said we'll see.",
        "«Да», сказал он. »Ja«, »nein«.",
        "Mail to jo.b+c@site.org or (https://a.org/x?y=1&z=2), Jo.",
        "See www.a.org. Then jo@b.org jo@b.org.",
        "£5, €6 or 7 €, 1990–95",
        "👨\u200d👩\u200d👧 👍🏽 🇮🇳 ok",
    ],
)
def test_what_is_set_apart_is_put_back(text):
    options = {"lowercase": False, "separate_punctuation": True}
    apart = normalized(text, **options)
    assert normalized(apart, **options) == apart
    assert join_punctuation([apart]).numpy()[0].decode() == text


def test_no_text_has_the_character_that_stands_for_an_address():
    text = "a\ufdd0b jo@b.org \ufdd0"
    found = normalized(text, separate_punctuation=True)
    assert found == "a \ufffd b jo@b.org \ufffd"


def test_punctuation_stays_where_it_is_unless_asked():
    assert normalized("don't, &amp;", lowercase=False) == "don't, &amp;"


@pytest.mark.parametrize(
    "apart, text",
    [
        ("Hello , world !", "Hello, world!"),
        ("I don &apos;t know .", "I don't know."),
        (
            "it ( almost ) costs $ 5 , doesn &apos;t it ?",
            "it (almost) costs $5, doesn't it?",
        ),
        ("what ? ! no ...", "what?! no..."),
        ("a &amp;lt; b &lt; c", "a &lt; b < c"),
        ("", ""),
    ],
)
def test_punctuation_is_put_back(apart, text):
    assert join_punctuation([apart]).numpy()[0].decode() == text
