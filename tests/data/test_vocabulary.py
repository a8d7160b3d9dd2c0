import warnings

import pytest

from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.vocabulary import warn_of_unseen
from kerasrnn.tokenizers.sentence_piece_tokenizer import SentencePieceTokenizer
from kerasrnn.tokenizers.table_tokenizers import CharacterTokenizer
from kerasrnn.tokenizers.table_tokenizers import WordTokenizer


def test_unseen_words_are_counted_and_named():
    tokenizer = WordTokenizer.train(["the red book"])
    lines = ["The blue book", "a blue  book", "a blue <unk>"]
    with pytest.warns(CorpusWarning) as record:
        warn_of_unseen(lines, tokenizer, "validation")
    [warning] = record
    assert str(warning.message) == (
        "2 of 5 types and 5 of 9 tokens of validation are not in the "
        "vocabulary and become '<unk>': 'blue', 'a'"
    )
    assert warning.filename == __file__


def test_five_unseen_words_are_named_the_most_frequent_first():
    tokenizer = WordTokenizer.train(["a"])
    with pytest.warns(CorpusWarning, match="6 of 7 types and 7 of 8 to") as r:
        warn_of_unseen(["a b c d", "e f g g"], tokenizer, "test")
    assert str(r[0].message).endswith("'g', 'b', 'c', 'd', 'e', ...")


def test_unseen_characters_are_counted_and_named():
    tokenizer = CharacterTokenizer.train(["ab"])
    with pytest.warns(CorpusWarning, match="2 of 4 types and 3 of 5 to") as r:
        warn_of_unseen(["a हह", "b "], tokenizer, "test")
    assert str(r[0].message).endswith(": 'ह', ' '")


def test_characters_that_subwords_cannot_spell():
    tokenizer = SentencePieceTokenizer.train(["the red book"] * 9, 30)
    warn_of_unseen(["Other", "keRb"], tokenizer, "sources")
    with pytest.warns(CorpusWarning, match="2 of 3 types and 2 of 4") as r:
        warn_of_unseen(["Zoë o"], tokenizer, "sources")
    assert str(r[0].message).endswith(": 'z', 'ë'")


@pytest.mark.parametrize("kind", [WordTokenizer, CharacterTokenizer])
@pytest.mark.parametrize("lines", [["Book the", "red"], ["", " "], []])
def test_no_warning_without_unseen_tokens(kind, lines):
    for specials in (["<unk>"], []):
        tokenizer = kind.train(["the red book"], specials=specials)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warn_of_unseen(lines, tokenizer, "test")


def test_a_special_token_in_a_text_is_unseen():
    tokenizer = WordTokenizer.train(["a"])
    with pytest.warns(CorpusWarning, match="1 of 3 types.*: '</s>'$"):
        warn_of_unseen(["a </s> <unk>"], tokenizer, "test")


@pytest.mark.parametrize("kind", [WordTokenizer, CharacterTokenizer])
def test_unseen_without_an_unknown_token(kind):
    tokenizer = kind.train(["a b"], specials=["<pad>"])
    with pytest.raises(CorpusError) as error:
        warn_of_unseen(["b c a"], tokenizer, "the test set")
    message = str(error.value)
    assert "1 of " in message and "tokens of the test set" in message
    assert "no '<unk>'" in message and message.endswith("Received: 'c'")


def test_subwords_cannot_spell_what_only_the_unknown_token_has():
    tokenizer = SentencePieceTokenizer.train(["the red book"] * 9, 30)
    with pytest.warns(CorpusWarning, match="4 of 4 types and 4 of 4 tokens"):
        warn_of_unseen(["<u> n"], tokenizer, "test")
