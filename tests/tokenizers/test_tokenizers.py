import functools

import keras
import numpy as np
import pytest
import sentencepiece
import tensorflow as tf

from kerasrnn.pipelines import export_saved_model
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import ReviewTokenizer
from kerasrnn.tokenizers import SentencePieceTokenizer
from kerasrnn.tokenizers import Tokenizer
from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.tokenizers import table_tokenizers
from kerasrnn.tokenizers.normalization import normalize_text
from tests import fresh_process

TEXTS = [
    "the red book",
    "The reader reads a red book, and a blue one.",
    "who's there? who knows!",
    "क्या यह किताब है?",
    "क्षत्रिय विद्यार्थी ज़मीन पर बैठा है।",
    "क्\u200dष और र\u200d्क में अन्तर है",
    "ti\u00ea\u0301ng vie\u0323\u0302t và người đọc",
    "वह लड़का बड़ा है ५ १२",
] * 3


def word():
    return WordTokenizer.train(TEXTS)


def unigram():
    return SentencePieceTokenizer.train(TEXTS, 110)


def bpe():
    return SentencePieceTokenizer.train(TEXTS, 110, model_type="bpe")


def reviews():
    return ReviewTokenizer.train(TEXTS)


def character():
    return CharacterTokenizer.train(TEXTS)


KINDS = [word, character, unigram, bpe]
SUBWORDS = [unigram, bpe]


@pytest.fixture(scope="module", params=KINDS, ids=lambda f: f.__name__)
def tokenizer(request):
    return request.param()


def strings(tensor):
    return [text.decode() for text in tensor.numpy()]


# What every tokenizer does.


def test_special_tokens_come_first(tokenizer):
    ids = (
        tokenizer.pad_id,
        tokenizer.start_id,
        tokenizer.end_id,
        tokenizer.unknown_id,
    )
    assert ids == (0, 1, 2, 3)
    assert tokenizer.vocabulary[:4] == ("<pad>", "<s>", "</s>", "<unk>")
    assert tokenizer.vocabulary_size == len(tokenizer.vocabulary)
    assert tokenizer.special_ids == {"start_id": 1, "end_id": 2, "pad_id": 0}


def test_known_text_comes_back_normalized(tokenizer):
    ids = tokenizer.tokenize(TEXTS)
    assert ids.dtype == tf.int32
    assert tf.reduce_min(ids) > 3
    assert tf.reduce_max(ids) < tokenizer.vocabulary_size
    expected = strings(normalize_text(TEXTS))
    assert "tiếng việt và người đọc" in expected
    assert strings(tokenizer.detokenize(ids)) == expected
    some = tokenizer.tokenize(TEXTS, max_tokens=5).to_list()
    assert some == [row[:5] for row in ids.to_list()]


@pytest.mark.parametrize("ragged", [True, False])
def test_special_and_foreign_ids_fall_away(tokenizer, ragged):
    size = tokenizer.vocabulary_size
    book = tokenizer.tokenize(["the red book"])[0].numpy().tolist()
    foreign = [-(2**31), -1, size, size + 1, 2**31 - 1]
    ids = [[1, *foreign, *book, *foreign, 2, 0, 0]]
    ids = tf.ragged.constant(ids) if ragged else tf.constant(ids)
    assert strings(tokenizer.detokenize(ids)) == ["the red book"]
    assert strings(tokenizer.detokenize([foreign])) == [""]
    tokens = strings(tokenizer.tokens([*foreign, 0, 3]))
    assert tokens == [*5 * [""], "<pad>", "<unk>"]


def test_empty_texts_have_no_ids(tokenizer):
    ids = tokenizer.tokenize(["", "  \t\u3000", "a", ""])
    lengths = ids.row_lengths().numpy()
    assert lengths.tolist() == [0, 0, lengths[2], 0]
    assert lengths[2] > 0
    assert strings(tokenizer.detokenize(ids)) == ["", "", "a", ""]


@pytest.mark.parametrize("text", ["ਪੰਜਾਬ", "日本", b"\xff\xfe", "\U0001f600"])
def test_unknown_characters_are_unknown(tokenizer, text):
    ids = tokenizer.tokenize([text])[0].numpy().tolist()
    pieces = {tokenizer.vocabulary[i] for i in ids}
    assert "<unk>" in pieces
    assert pieces <= {"<unk>", "▁"}


@pytest.mark.parametrize("text", ["<pad>", "<s>", "</s>", "the </s> book"])
def test_a_text_cannot_spell_a_special_token(tokenizer, text):
    ids = tokenizer.tokenize([text]).flat_values.numpy()
    assert len(ids) > 0
    assert not np.isin(ids, [0, 1, 2]).any()


def test_graph_and_eager_agree(tokenizer):
    graph = tf.function(
        lambda texts: tokenizer.tokenize(texts),
        input_signature=[tf.TensorSpec([None], tf.string)],
    )
    texts = tf.constant(["the red book", "", "क्या है", "zzz"])
    eager = tokenizer.tokenize(texts)
    assert graph(texts).to_list() == eager.to_list()
    back = tf.function(
        lambda ids: tokenizer.detokenize(ids),
        input_signature=[tf.TensorSpec([None, None], tf.int32)],
    )
    np.testing.assert_array_equal(
        back(eager.to_tensor()), tokenizer.detokenize(eager)
    )


def test_options_strip_punctuation_and_keep_case():
    tokenizer = WordTokenizer(
        ["<pad>", "<s>", "</s>", "<unk>", "The", "book", "हाँ"],
        lowercase=False,
        strip_punctuation=True,
    )
    ids = tokenizer.tokenize(["The 'book'! हाँ।", "the"])
    assert ids.to_list() == [[4, 5, 6], [3]]
    assert tokenizer.normalize_all(["The 'book'!"]) == ["The book"]
    tokenizer = WordTokenizer(["a", "<unk>", "b"])
    found = tokenizer.detokenize([[0, 1, 2]], [["x", "y", "z"]])
    assert strings(found) == ["a y b"]


# Words.


def test_rare_words_are_left_out():
    texts = ["b a a", "c b a"]
    assert WordTokenizer.train(texts, min_count=2).vocabulary[4:] == ("a", "b")
    assert WordTokenizer.train(texts, 5).vocabulary[4:] == ("a",)
    assert WordTokenizer.train(texts, 99).vocabulary_size == 7


def test_of_too_many_words_the_rarer_are_forgotten(monkeypatch):
    monkeypatch.setattr(table_tokenizers, "_AT_ONCE", 2)
    monkeypatch.setattr(table_tokenizers, "_TYPES", 6)
    texts = [f"often rather rather often often {n}" for n in range(20)]
    tokenizer = WordTokenizer.train(iter([*texts, "seldom seldom"]))
    assert tokenizer.vocabulary[4:6] == ("often", "rather")
    assert "seldom" in tokenizer.vocabulary and "1" not in tokenizer.vocabulary
    assert len(tokenizer.vocabulary) <= 4 + 6


def test_a_special_token_in_a_corpus_is_no_word():
    tokenizer = WordTokenizer.train(["<s> a </s>", "<unk> <pad> b"])
    assert tokenizer.vocabulary[4:] == ("a", "b")


def test_a_closed_vocabulary_drops_unknown_words():
    tokenizer = WordTokenizer.train(["who knows", "who"], specials=())
    assert tokenizer.vocabulary == ("who", "knows")
    assert (tokenizer.pad_id, tokenizer.unknown_id) == (-1, -1)
    assert tokenizer.special_ids == {
        "start_id": -1,
        "end_id": -1,
        "pad_id": -1,
    }
    ids = tokenizer.tokenize(["who zzz knows", "zzz", ""])
    assert ids.to_list() == [[0, 1], [], []]
    assert tokenizer.tokenize(["zzz who knows"], 2).to_list() == [[0, 1]]
    padded = ids.to_tensor(tokenizer.pad_id)
    assert strings(tokenizer.detokenize(padded)) == ["who knows", "", ""]


# Subwords.


@pytest.mark.parametrize("make", SUBWORDS)
def test_subwords_spell_new_words(make):
    tokenizer = make()
    text = "books क्या ज़"
    ids = tokenizer.tokenize([text])
    assert tokenizer.unknown_id not in ids.flat_values.numpy()
    assert strings(tokenizer.detokenize(ids)) == strings(
        tokenizer.normalize([text])
    )


def test_sentencepiece_learns_from_long_lines():
    tokenizer = SentencePieceTokenizer.train(
        ["Z" + 2000 * "red "], 12, lowercase=False
    )
    ids = tokenizer.tokenize(["Z red"])
    assert tokenizer.unknown_id not in ids.flat_values.numpy()
    assert unigram().vocabulary != bpe().vocabulary


@pytest.mark.parametrize("make", [unigram, bpe])
def test_ids_are_those_of_the_sentencepiece_library(make):
    tokenizer = make()
    processor = sentencepiece.SentencePieceProcessor(
        model_proto=tokenizer.proto
    )
    generator = np.random.default_rng(0)
    words = " ".join(TEXTS).split() + ["日本", "zzz", "▁", "a\tb", "<s>"]
    texts = [" ".join(generator.choice(words, size=n % 12)) for n in range(200)]
    normal = strings(tokenizer.normalize(texts))
    ids = tokenizer.tokenize(texts)
    assert ids.to_list() == processor.encode(normal)
    assert strings(tokenizer.detokenize(ids)) == processor.decode(ids.to_list())


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
def test_sampling_varies_the_split_and_keeps_the_text(model_type):
    tokenizer = SentencePieceTokenizer.train(
        TEXTS, 110, model_type, sampling=0.3
    )
    texts = TEXTS[:8]
    samples = [tokenizer.sample(texts) for _ in range(8)]
    assert len({str(sample.to_list()) for sample in samples}) > 1
    expected = strings(tokenizer.normalize(texts))
    for sample in samples:
        assert strings(tokenizer.detokenize(sample)) == expected
    plain = tokenizer.tokenize(texts).to_list()
    assert all(tokenizer.tokenize(texts).to_list() == plain for _ in range(8))


BAD = {
    "no token": (lambda: WordTokenizer([]), "Received: 0 tokens"),
    "a token twice": (lambda: WordTokenizer([*"aba"]), "3 tokens, 2 of them"),
    "a small vocabulary": (
        lambda: WordTokenizer.train(TEXTS, 4),
        ">= 5.*Received: vocabulary_size=4",
    ),
    "few pieces": (
        lambda: SentencePieceTokenizer.train(TEXTS, 4),
        ">= 5.*Received: vocabulary_size=4",
    ),
    "a string": (lambda: WordTokenizer.train("a"), "list of strings.*'a'"),
    "a text": (
        lambda: SentencePieceTokenizer.train("a", 20),
        "list of strings.*'a'",
    ),
    "sampling": (
        lambda: SentencePieceTokenizer(sampling=5.0),
        "`sampling`.*Received.*5",
    ),
    "nothing": (
        lambda: SentencePieceTokenizer.train(["", " "], 20),
        "could not make a vocabulary",
    ),
    "a kind": (
        lambda: SentencePieceTokenizer.train(TEXTS, 90, "word"),
        "Received: model_type='word'",
    ),
    **{
        f"few pieces of {kind}": (
            functools.partial(SentencePieceTokenizer.train, ["abcde"], 9, kind),
            "9 vs 10.* Received: .*=9",
        )
        for kind in ("unigram", "bpe")
    },
    **{
        f"no {method}": (
            functools.partial(getattr(Tokenizer(["a"]), method), ["a"]),
            "Tokenizer must over",
        )
        for method in ("tokenize", "detokenize")
    },
}


@pytest.mark.parametrize("call, message", BAD.values(), ids=BAD)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises((ValueError, NotImplementedError), match=message):
        call()


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_the_smallest_sentencepiece_vocabulary(kind):
    assert SentencePieceTokenizer.train(["abcde"], 10, kind).vocabulary_size


# What TensorFlow Text gets wrong by itself.

LOAD = """
import json
import sys

import tensorflow as tf
import tensorflow_text

models = [tf.saved_model.load(path) for path in sys.argv[1:]]
print(json.dumps([
    {
        name: ids.numpy().tolist()
        for name, ids in model.signatures["ids"](
            text=tf.constant(["the red book", "क्या है"])
        ).items()
    }
    for model in models
]))
"""


def export_tokenizers(path, tokenizers):
    """Exports a signature on two tokenizers, returns its live answers."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def ids(text):
        return {
            f"tokenizer_{i}": tokenizer.tokenize(text).to_tensor()
            for i, tokenizer in enumerate(tokenizers)
        }

    # Nothing can be exported without a variable.
    ballast = keras.layers.Dense(1)
    ballast.build((None, 1))
    export_saved_model(path, {"ids": ids}, [ballast, *tokenizers])
    answers = ids(tf.constant(["the red book", "क्या है"]))
    return {name: ids.numpy().tolist() for name, ids in answers.items()}


@pytest.mark.slow
def test_every_tokenizer_of_saved_models_keeps_its_own_model(tmp_path):
    hindi, english = TEXTS[3:6] * 3, TEXTS[:3] * 3
    tokenizers = [
        SentencePieceTokenizer.train(english, 40),
        SentencePieceTokenizer.train(hindi, 50, sampling=0.1),
        SentencePieceTokenizer.train(TEXTS, 100, "bpe"),
        word(),
    ]
    paths = [tmp_path / "a" / "1", tmp_path / "b" / "1"]
    live = [
        export_tokenizers(path, part)
        for path, part in zip(
            paths, (tokenizers, tokenizers[::-1]), strict=True
        )
    ]
    assert len({str(ids) for ids in live[0].values()}) == len(tokenizers)
    assert fresh_process.answer(LOAD, *paths) == live


@pytest.mark.parametrize("make", [word, unigram, reviews])
def test_a_tokenizer_keeps_what_graphs_are_traced_with(make):
    tokenizer = make()
    options = {*tokenizer.get_config()} - {"name"}
    assert options <= {*tokenizer.options}
    for name in options:
        with pytest.raises(AttributeError, match=f"Received: {name}="):
            setattr(tokenizer, name, getattr(tokenizer, name))
    tokenizer.set_vocabulary(tokenizer.vocabulary)
    size = tokenizer.vocabulary_size
    with pytest.raises(ValueError, match=f"Received: {size} tokens"):
        tokenizer.set_vocabulary(tokenizer.vocabulary[::-1])


@pytest.mark.parametrize("make", [*KINDS, reviews])
def test_tokenizers_survive_seeding(make):
    tokenizer = make()
    traced = tf.function(lambda texts: tokenizer.tokenize(texts).to_tensor())
    before = traced(tf.constant(["the red book"])).numpy().tolist()
    keras.utils.set_random_seed(1)
    assert tokenizer.tokenize(["the red book"]).to_list() == before
    # A graph holds the resource that it was traced with.
    found = traced(tf.constant(["the red book"]))
    assert found.numpy().tolist() == before
    assert strings(tokenizer.detokenize(found)) == ["the red book"]


@pytest.mark.parametrize(
    "kind, tokens, words",
    [
        (word, ["a", "b", "</s>"], [(0, "a"), (1, "b"), (2, "</s>")]),
        (
            unigram,
            ["▁", "ला", "ल", "▁किता", "ब", "</s>"],
            [(0, "लाल"), (3, "किताब"), (5, "</s>")],
        ),
        (
            character,
            ["a", " ", "b", "c", "</s>"],
            [(0, "a"), (1, "bc"), (4, "</s>")],
        ),
        (
            character,
            ["<s>", "a", "b", "<unk>"],
            [(0, "<s>"), (1, "ab"), (3, "<unk>")],
        ),
    ],
)
def test_tokens_are_grouped_into_words(kind, tokens, words):
    assert kind().words(tokens) == words
