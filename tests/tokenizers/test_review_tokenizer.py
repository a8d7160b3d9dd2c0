import itertools
import warnings

import pytest
import tensorflow as tf

from kerasrnn.tokenizers.review_tokenizer import ABBREVIATIONS
from kerasrnn.tokenizers.review_tokenizer import ReviewTokenizer
from kerasrnn.tokenizers.table_tokenizers import WordTokenizer
from tests.helpers import one_now

EMOJI = "\U0001f600 \u2764\ufe0f \U0001f468\u200d\U0001f469"
TEXTS = [
    "I did <b>NOT</b> like it,<br /><br />tho u may!",
    "U.S. films aren't dull &amp; <i>never</i> short",
    "",
    "<br /><hr>",
    EMOJI,
    "क्\u200dष और किताब, हाँ।",
    b"\xff\xfe bad \xc3",
    "a\0b \u00a0 c",
]
OFF = {
    "lowercase": False,
    "expand_abbreviations": False,
    "strip_html": False,
    "special": "keep",
}


def clean(*texts, **options):
    return ReviewTokenizer(["a"], **options).normalize_all(texts)


def only(step, value, *texts):
    """The texts with one step alone, or besides the others all left out."""
    return clean(*texts, **{**OFF, step: value})


# Each step.


def test_with_every_step_left_out_only_spaces_change():
    text = "  I <b>LOVE</b>\tthis, u\u00a0know &amp; SO on! "
    assert clean(text, **OFF) == ["I <b>LOVE</b> this, u know &amp; SO on!"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("good<br />bad<br/>so<BR>on", "good bad so on"),
        ('<a href="x>y</a>', "y"),
        ("<p class='x'>a</p>\n<!-- <b> -->b<!DOCTYPE html>", "a b"),
        ("i <3 it, 1 < 2 > 0, a<5>b", "i <3 it, 1 < 2 > 0, a<5>b"),
        ("<br", "<br"),
        ("&quot;a&#34; &apos;b&#39; &#039;", "\"a\" 'b' '"),
        ("a&nbsp;b &lt;i&gt; &amp;lt; &amp;amp;", "a b <i> &lt; &amp;"),
        ("a&b &unknown; &amp", "a&b &unknown; &amp"),
        ("<unk> <pad>", ""),
    ],
)
def test_html(text, expected):
    assert only("strip_html", True, text) == [expected]


def test_every_abbreviation_is_spelled_out():
    assert 42 <= len(ABBREVIATIONS) <= 60
    found = only("expand_abbreviations", True, *ABBREVIATIONS)
    assert found == list(ABBREVIATIONS.values())
    again = only("expand_abbreviations", True, *found)
    assert again == found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u u u", "you you you"),
        ("(u). 'Pls!!' U?", "(you). 'please!!' you?"),
        ("\u201cu\u201d \U0001f600u", "\u201cyou\u201d \U0001f600you"),
        ("u.s. u-turn u're u2 menu uu", "u.s. u-turn u're u2 menu uu"),
        ("हu uह क्u", "हu uह क्u"),
        ("don't rated R", "don't rated R"),
    ],
)
def test_abbreviations_are_whole_words(text, expected):
    assert only("expand_abbreviations", True, text) == [expected]


@pytest.mark.parametrize(
    ("text", "dropped", "apart"),
    [
        ("don't", "dont", "don ' t"),
        ("dull...bad!", "dullbad", "dull . . . bad !"),
        ("so - so", "so so", "so - so"),
        ("10/10 x² $5_6", "1010 x² 56", "10 / 10 x² $ 5 _ 6"),
        ("naïve ру́сский", "naïve ру́сский", "naïve ру́сский"),
        ("क्\u200dष है।", "क्\u200dष है", "क्\u200dष है ।"),
        (EMOJI, "", "\U0001f600 \u2764 \U0001f468 \U0001f469"),
        ("\u200d a \u0301b ", "a b", "a b"),
        ("a\ufffdb", "ab", "a \ufffd b"),
        ("这iPhone很好！看", "这 iPhone 很 好 看", "这 iPhone 很 好 ！ 看"),
        ("ที่นี่ok", "ที่ นี่ ok", "ที่ นี่ ok"),
    ],
)
def test_special_characters(text, dropped, apart):
    text = clean(text, **OFF)[0]
    assert only("special", "drop", text) == clean(dropped, **OFF)
    assert only("special", "apart", text) == clean(apart, **OFF)
    assert only("special", "keep", text) == [text]


def test_stop_words():
    stop = ["the", "a", "of"]
    text = "the a book of the-hour of"
    assert only("stop_words", stop, text, "the a", "") == [
        "book the-hour",
        "",
        "",
    ]


# Their order.


def test_html_goes_before_special_characters():
    texts = ["a<br />b &quot;c&quot; &amp; d"]
    assert clean(*texts) == ["a b c d"]
    assert clean(*texts, special="apart") == ['a b " c " & d']


def test_abbreviations_go_before_special_characters():
    assert clean("in the U.S. l.o.l, u!") == ["in the us lol you"]
    apart = clean("u.s. u!", special="apart")
    assert apart == ["u . s . you !"]


def test_stop_words_go_last():
    options = {"stop_words": ["the", "you", "do", "honest"]}
    text = "The, movie: u dunno TBH!"
    assert clean(text, **options) == ["movie not know to be"]
    assert clean(text, special="apart", **options) == [
        ", movie : not know to be !"
    ]


def test_stop_words_lose_what_texts_lose():
    stop = ["it's", "The"]
    assert clean("Its it's The the a", stop_words=stop) == ["a"]
    kept = clean("its it's The the", stop_words=stop, special="keep")
    assert kept == ["its"]
    assert clean("The the", stop_words=stop, lowercase=False) == ["the"]


def test_a_stop_word_without_letters_stops_nothing():
    assert clean("a b ! c", stop_words=["!"]) == ["a b c"]
    assert clean("", "!", "a!", stop_words=["!", ""]) == ["", "", "a"]


# Stop words.


@pytest.mark.parametrize(
    "word",
    ["not", "no", "Never", "nor", "n't", "cannot", "can't", "cant", "isn’t"],
)
def test_negations_among_stop_words_are_named(word):
    with pytest.warns(UserWarning) as record:
        ReviewTokenizer(["a"], stop_words=["the", word, "an"])
    [warning] = record
    assert str(warning.message).endswith(f"Received: {word!r}")
    assert warning.filename == __file__


def test_other_stop_words_are_no_negations():
    words = "the cat note now nt2 knot a noun dot want ant isnt2 want".split()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ReviewTokenizer(["a"], stop_words=words)


# Vocabulary and ids.


def test_unknown_and_padding_come_first():
    tokenizer = ReviewTokenizer.train(["good, good film"])
    assert isinstance(tokenizer, WordTokenizer)
    assert tokenizer.vocabulary == ("<unk>", "<pad>", "good", "film")
    assert (tokenizer.unknown_id, tokenizer.pad_id) == (0, 1)
    ids = tokenizer.tokenize(["Good? new film!", "", "<br>"])
    assert ids.to_list() == [[2, 0, 3], [], []]
    assert ids.dtype == tf.int32
    padded = ids.to_tensor(tokenizer.pad_id)
    assert tokenizer.detokenize(padded).numpy().tolist() == [
        b"good <unk> film",
        b"",
        b"",
    ]


STEPS = [
    dict(zip(OFF, values, strict=True))
    for values in itertools.product(
        [True, False], [True, False], [True, False], ["drop", "apart", "keep"]
    )
]


@pytest.mark.parametrize("stop_words", [(), ("i", "it")])
@pytest.mark.parametrize("steps", STEPS, ids=lambda s: "-".join(map(str, s)))
def test_training_cleans_as_tokenizing_does(steps, stop_words):
    """Whatever the steps, a corpus has no unknown word, and none is spare."""
    tokenizer = ReviewTokenizer.train(TEXTS, stop_words=stop_words, **steps)
    ids = tokenizer.tokenize(TEXTS)
    flat = set(ids.flat_values.numpy().tolist())
    # `<unk>` and `<pad>` are not in the texts.
    assert flat == set(range(2, tokenizer.vocabulary_size))
    normal = tokenizer.normalize(TEXTS).numpy().tolist()
    assert tokenizer.detokenize(ids).numpy().tolist() == normal
    assert tokenizer.split(TEXTS).to_list() == [
        x.split(b" ") * (x != b"") for x in normal
    ]
    for name, value in steps.items():
        assert getattr(tokenizer, name) == value


# Odd texts, graphs and exports.


def test_texts_of_any_shape():
    tokenizer = ReviewTokenizer(["a"], stop_words=["the"])
    for shape in ([], [1], [2, 1], [0]):
        texts = tf.fill(shape, "The book, u!")
        found = tokenizer.normalize(texts)
        tf.debugging.assert_equal(found, tf.fill(shape, "book you"))


@pytest.mark.parametrize("special", one_now(["drop", "apart", "keep"]))
@pytest.mark.parametrize(
    "text", ["a", "é", "<", "<a ", "&", "<!--", "a'", "\u200d", "\U0001f600"]
)
def test_a_megabyte_of_one_word(text, special):
    text *= 10**6 // len(text)
    tokenizer = ReviewTokenizer(["<unk>"], special=special, stop_words=["x"])
    ids = tokenizer.tokenize([text, "good"])
    assert ids[1].numpy().tolist() == [0]
    count = len(ids[0])
    if text[0] in "aé" and "'" not in text:
        assert count == 1
    elif special == "drop" and "a" not in text:
        assert count == 0
    elif special == "apart" and text[0] in "&\U0001f600":
        assert count == 10**6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stop_words": "english"}, "must be a list.*'english'"),
        ({"special": "remove"}, "or 'keep'.*: special='remove'"),
    ],
)
def test_what_is_wrong_is_said(options, message):
    with pytest.raises(ValueError, match=message):
        ReviewTokenizer(["a"], **options)


def test_a_stop_word_of_several_words_is_named():
    with pytest.warns(UserWarning, match='Not removed: "o\'clock"$'):
        ReviewTokenizer(special="apart", stop_words=["the", "o'clock"])
