import random

import pytest

from kerasrnn.tokenizers import split_into_words


def split(*texts):
    """The words of texts, with their positions, which are checked."""
    found = []
    columns = (x.to_list() for x in split_into_words(list(texts)))
    for text, words, starts, ends in zip(texts, *columns, strict=True):
        words = [word.decode() for word in words]
        positions = zip(starts, ends, strict=True)
        assert [text[start:end] for start, end in positions] == words
        found.append(words)
    return found


@pytest.mark.parametrize(
    "text, words",
    [
        ("Anna's 2,5 kg (U.S.).", "Anna 's 2,5 kg ( U.S. ) ."),
        (
            "I'm he’D we're I've she'll can't",
            "I 'm he ’D we 're I 've she 'll can 't",
        ),
        ("me@a-b.org, @bob #tag!", "me@a-b.org , @bob #tag !"),
        ("see https://a.b/c?d=1.", "see https://a.b/c?d=1 ."),
        ("राम@उदाहरण.भारत ftp://a.b/c", "राम@उदाहरण.भारत ftp://a.b/c"),
        ("well-known... 3:30 -- no", "well-known ... 3:30 -- no"),
        ("मैं दिल्\u200dली में हूँ।", "मैं दिल्\u200dली में हूँ ।"),
        ("ok😀👩\u200d👩\u200d👧👍🏽", "ok 😀 👩\u200d👩\u200d👧 👍🏽"),
        ("Hà Nội, e\u0301t\u00e9", "Hà Nội , e\u0301t\u00e9"),
        ("明天iPhone手机。5G、2004年", "明 天 iPhone 手 机 。 5 G 、 2004 年"),
        ("東京タワーに葛\U000e0100城", "東 京 タ ワ ー に 葛\U000e0100 城"),
        ("ที่นี่ ๒๕๖๗ สวัสดี", "ที่ นี่ ๒๕๖๗ ส วั ส ดี"),
        ("ພາສາລາວ ភាសា မြန်မာ", "ພ າ ສ າ ລ າ ວ ភា សា မြ န် မာ"),
        ("www.a.cn/b，看me@a.cn看 @李", "www.a.cn/b ， 看 me@a.cn 看 @ 李"),
        ("Donau\u00addampf- 10\u2060000", "Donau\u00addampf - 10\u2060000"),
        ("x\u00ad \u2060a", "x a"),
        ("🇩🇪🇫🇷1\ufe0f\u20e3#\u20e32x", "🇩🇪 🇫🇷 1\ufe0f\u20e3 #\u20e3 2 x"),
        ("🏴\U000e0067\U000e007f‼\ufe0f!", "🏴\U000e0067\U000e007f ‼\ufe0f !"),
        ("서울에 간다. བོད་སྐད", "서울에 간다 . བོད ་ སྐད"),
    ],
)
def test_words(text, words):
    assert split(text) == [words.split()]


def test_nothing_is_a_word():
    assert split("", "  \n\t ", "\u200b\ufeff") == [[], [], []]


def test_control_characters_do_not_end_a_text():
    assert split("a\x00b\x01 c") == [["a", "b", "c"]]


def test_bytes_that_are_not_text_count_as_one_character():
    words, starts, _ = split_into_words([b"\xff\xfea b"])
    assert words.to_list() == [[b"a", b"b"]]
    assert starts.to_list() == [[2, 4]]


def test_random_text_is_split_where_it_says():
    rng = random.Random(0)
    letters = "ab .,'-@#\x00\u200d\u0301😀🏽\u093f क1\ufffd\ue000\n’"
    letters += "明ที\u00ad\u2060🇩\u20e3"
    split(
        *(
            "".join(rng.choice(letters) for _ in range(rng.randint(0, 30)))
            for _ in range(2000)
        )
    )
