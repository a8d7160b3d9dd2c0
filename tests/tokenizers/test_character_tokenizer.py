import pytest
import tensorflow as tf

from kerasrnn.tokenizers import CharacterTokenizer

TEXTS = [
    "the red book",
    "who's there? Who knows!",
    "क्\u200dष और र\u200d्क में अन्तर है",
    "ti\u00ea\u0301ng vie\u0323\u0302t",
    "\U0001f600 and more",
]


@pytest.fixture(scope="module")
def tokenizer():
    return CharacterTokenizer.train(TEXTS)


def strings(tensor):
    return [text.decode() for text in tensor.numpy()]


def test_a_token_is_a_character(tokenizer):
    text = "the है \U0001f600"
    tokens = tokenizer.split([text])[0]
    assert strings(tokens) == list(text)
    ids = tokenizer.tokenize([text])
    assert ids.dtype == tf.int32
    assert strings(tokenizer.tokens(ids[0])) == list(text)


def test_space_is_one_between_words_and_none_at_the_ends(tokenizer):
    ids = tokenizer.tokenize(["  the\t\u3000book \n"])
    assert strings(tokenizer.detokenize(ids)) == ["the book"]
    assert ids.row_lengths().numpy().tolist() == [8]


def test_an_unknown_character_is_one_token(tokenizer):
    ids = tokenizer.tokenize(["a日本b", b"a\xffb"])
    a, b = (tokenizer.vocabulary.index(c) for c in "ab")
    assert ids.to_list() == [[a, 3, 3, b], [a, 3, b]]
    texts = strings(tokenizer.detokenize(ids))
    assert texts == ["a<unk><unk>b", "a<unk>b"]


def test_each_character_has_the_place_of_its_word(tokenizer):
    ids = tokenizer.tokenize(["it is", "a b c"]).to_tensor(-1)
    places = [[0, 0, 1, 1, 1], [0, 1, 1, 2, 2]]
    assert tokenizer.word_positions(ids).numpy().tolist() == places
