import pytest

from kerasrnn.data import source_key


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Hello!", "hello"),
        ("  I don't\tknow.\n", "i dont know"),
        ("STRASSE – Straße", "strasse strasse"),
        ("क्या?  हाँ।", "क्या हाँ"),
        ("cafe\u0301", "caf\u00e9"),
        ("\ufeffa\u200b\u2800 क्\u200dष\u00ad", "a क्ष"),
        ("\u200b\ufe0f", ""),
        ("?!", "?!"),
        ("", ""),
    ],
)
def test_source_key(text, key):
    assert source_key(text) == key


def test_source_key_keeps_words_apart():
    assert source_key("no one") != source_key("none")


def test_punctuation_alone_tells_sentences_apart():
    assert source_key(" ? ") == "?" != source_key("...")
