import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.pipelines import export_saved_model
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers.normalization import normalize_text
from kerasrnn.tokenizers.table_tokenizers import TableTokenizer
from kerasrnn.tokenizers.tokenizer import SPECIALS
from tests import fresh_process

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


def test_frequent_characters_come_first():
    tokenizer = CharacterTokenizer.train(["b a a", "c ba"])
    assert tokenizer.vocabulary == (*SPECIALS, " ", "a", "b", "c")
    assert tokenizer.tokenize(["c a"]).to_list() == [[7, 4, 5]]


def test_rare_characters_are_left_out():
    texts = ["b a a", "c ba"]
    rare = CharacterTokenizer.train(texts, min_count=2)
    assert rare.vocabulary[4:] == (" ", "a", "b")
    assert CharacterTokenizer.train(texts, 6).vocabulary[4:] == (" ", "a")
    assert CharacterTokenizer.train(texts, 99).vocabulary_size == 8


@pytest.mark.parametrize("size", [-1, 0, 4])
def test_a_vocabulary_smaller_than_its_specials(size):
    with pytest.raises(ValueError, match=f"Received: vocabulary_size={size}"):
        CharacterTokenizer.train(TEXTS, vocabulary_size=size)


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


@pytest.mark.parametrize("ragged", [True, False])
def test_special_and_foreign_ids_fall_away(tokenizer, ragged):
    size = tokenizer.vocabulary_size
    book = tokenizer.tokenize(["a book"])[0].numpy().tolist()
    foreign = [-(2**31), -1, size, 2**31 - 1]
    ids = [[1, *foreign, *book, *foreign, 2, 0, 0]]
    ids = tf.ragged.constant(ids) if ragged else tf.constant(ids)
    assert strings(tokenizer.detokenize(ids)) == ["a book"]


def test_empty_texts_have_no_ids(tokenizer):
    ids = tokenizer.tokenize(["", " \t\u3000", "a", ""])
    assert ids.row_lengths().numpy().tolist() == [0, 0, 1, 0]
    assert strings(tokenizer.detokenize(ids)) == ["", "", "a", ""]


@pytest.mark.parametrize("texts", [[], tf.zeros([0], tf.string)])
def test_no_texts_have_no_ids(tokenizer, texts):
    ids = tokenizer.tokenize(texts)
    assert ids.to_list() == []
    assert strings(tokenizer.detokenize(ids)) == []
    assert CharacterTokenizer.train(texts).vocabulary == SPECIALS


def test_graph_and_eager_agree(tokenizer):
    graph = tf.function(
        lambda texts: tokenizer.tokenize(texts),
        input_signature=[tf.TensorSpec([None], tf.string)],
    )
    texts = tf.constant(["the red book", "", "क्या है", "日"])
    eager = tokenizer.tokenize(texts)
    assert graph(texts).to_list() == eager.to_list()
    back = tf.function(
        lambda ids: tokenizer.detokenize(ids),
        input_signature=[tf.TensorSpec([None, None], tf.int32)],
    )
    np.testing.assert_array_equal(
        back(eager.to_tensor()), tokenizer.detokenize(eager)
    )


LOAD = """
import json
import sys

import tensorflow as tf
import tensorflow_text

model = tf.saved_model.load(sys.argv[1])
texts = tf.constant(["the red book", "日"])
print(json.dumps(model.signatures["ids"](text=texts)["ids"].numpy().tolist()))
"""


@pytest.mark.thorough
def test_it_is_exported(tmp_path, tokenizer):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def ids(text):
        return {"ids": tokenizer.tokenize(text).to_tensor() * ballast}

    # Nothing can be exported without a variable.
    ballast = tokenizer.add_weight(shape=(), initializer="ones", dtype="int32")
    export_saved_model(tmp_path / "a" / "1", {"ids": ids}, [tokenizer])
    expected = ids(tf.constant(["the red book", "日"]))["ids"]
    answer = fresh_process.answer(LOAD, tmp_path / "a" / "1")
    assert answer == expected.numpy().tolist()
    assert answer[1][0] == 3


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
