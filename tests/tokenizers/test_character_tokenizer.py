import pytest
import tensorflow as tf

from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers.normalization import normalize_text
from kerasrnn.tokenizers.table_tokenizers import TableTokenizer

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


def test_known_text_comes_back_normalized(tokenizer):
    ids = tokenizer.tokenize(TEXTS)
    assert tf.reduce_min(ids) > 3
    expected = strings(normalize_text(TEXTS))
    assert "tiếng việt" in expected
    assert strings(tokenizer.detokenize(ids)) == expected


def test_space_is_one_between_words_and_none_at_the_ends(tokenizer):
    ids = tokenizer.tokenize(["  the\t\u3000book \n"])
    assert strings(tokenizer.detokenize(ids)) == ["the book"]
    assert ids.row_lengths().numpy().tolist() == [8]


def test_case_and_punctuation():
    tokenizer = CharacterTokenizer.train(
        ["Ab, c!"], lowercase=False, strip_punctuation=True
    )
    assert tokenizer.vocabulary[4:] == ("A", "b", " ", "c")
    assert tokenizer.tokenize(["A.B c"]).to_list() == [[4, 3, 6, 7]]


def test_an_unknown_character_is_one_token(tokenizer):
    ids = tokenizer.tokenize(["a日本b", b"a\xffb"])
    a, b = (tokenizer.vocabulary.index(c) for c in "ab")
    assert ids.to_list() == [[a, 3, 3, b], [a, 3, b]]
    texts = strings(tokenizer.detokenize(ids))
    assert texts == ["a<unk><unk>b", "a<unk>b"]


def test_a_closed_vocabulary_drops_unknown_characters():
    tokenizer = CharacterTokenizer.train(["ab"], specials=())
    assert tokenizer.vocabulary == ("a", "b")
    ids = tokenizer.tokenize(["a zb", "zz", ""])
    assert ids.to_list() == [[0, 1], [], []]
    padded = ids.to_tensor(tokenizer.pad_id)
    assert strings(tokenizer.detokenize(padded)) == ["ab", "", ""]


def test_a_text_cannot_spell_a_special_token():
    tokenizer = CharacterTokenizer.train(["<pad></s>"])
    ids = tokenizer.tokenize(["</s>", "<pad>"])
    assert ids.row_lengths().numpy().tolist() == [4, 5]
    assert tf.reduce_min(ids) > 3
    assert strings(tokenizer.detokenize(ids)) == ["</s>", "<pad>"]


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (["a", " ", "b", "c", "</s>"], [(0, "a"), (1, "bc"), (4, "</s>")]),
        (["<s>", "a", "b", "<unk>"], [(0, "<s>"), (1, "ab"), (3, "<unk>")]),
    ],
)
def test_characters_are_grouped_into_words(tokenizer, tokens, words):
    assert tokenizer.words(tokens) == words


def test_each_character_has_the_place_of_its_word(tokenizer):
    ids = tokenizer.tokenize(["it is", "a b c"]).to_tensor(-1)
    places = [[0, 0, 1, 1, 1], [0, 1, 1, 2, 2]]
    assert tokenizer.word_positions(ids).numpy().tolist() == places


def test_the_base_says_what_to_override():
    with pytest.raises(NotImplementedError, match="must override `divide"):
        TableTokenizer(["a"]).tokenize(["a"])
