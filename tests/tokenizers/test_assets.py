"""Every tokenizer is its options and its assets, and nothing more."""

import json
import warnings

import keras
import pytest

from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers import ReviewTokenizer
from kerasrnn.tokenizers import SentencePieceTokenizer
from kerasrnn.tokenizers import WordTokenizer
from kerasrnn.tokenizers.tokenizer import SPECIALS

TEXTS = ["The red book, the blue one!", "who's <b>there</b>?", "लाल किताब।"] * 3
# A token may be any string.
STRANGE = [
    *SPECIALS,
    "a b",
    "\n",
    "a\r\nb",
    "\u2028",
    " ",
    '"',
    "\\n",
    "ल\u200d",
]


def with_stop_words():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of the negation among them.
        return ReviewTokenizer.train(
            TEXTS,
            lowercase=False,
            expand_abbreviations=False,
            strip_html=False,
            special="apart",
            stop_words=["not", "one"],
        )


MAKERS = {
    "words": lambda: WordTokenizer.train(
        TEXTS, lowercase=False, separate_punctuation=True
    ),
    "characters": lambda: CharacterTokenizer.train(
        TEXTS, strip_punctuation=True
    ),
    "sentence pieces": lambda: SentencePieceTokenizer.train(
        TEXTS, 50, sampling=0.1, lowercase=False
    ),
    "reviews": with_stop_words,
}


@pytest.mark.parametrize("kind", MAKERS)
def test_options_and_assets_make_the_tokenizer_again(kind, tmp_path):
    tokenizer = MAKERS[kind]()
    tokenizer.save_assets(tmp_path)
    saved = keras.saving.serialize_keras_object(tokenizer)
    copy = keras.saving.deserialize_keras_object(saved)
    assert type(copy) is type(tokenizer)
    assert copy.get_config() == tokenizer.get_config()
    for use in (
        lambda: copy.vocabulary,
        lambda: copy.end_id,
        lambda: copy.tokenize(TEXTS),
        lambda: copy.detokenize([[4]]),
        lambda: copy.save_assets(tmp_path),
    ):
        with pytest.raises(ValueError, match=f"no vocab.*{tokenizer.name}"):
            use()
    copy.load_assets(tmp_path)
    assert copy.vocabulary == tokenizer.vocabulary
    assert copy.special_ids == tokenizer.special_ids
    ids = tokenizer.tokenize(TEXTS)
    assert copy.tokenize(TEXTS).to_list() == ids.to_list()
    assert (copy.detokenize(ids) == tokenizer.detokenize(ids)).numpy().all()


def test_a_configuration_is_plain_and_has_no_vocabulary():
    for make in MAKERS.values():
        config = make().get_config()
        assert json.loads(json.dumps(config)) == config
        assert "book" not in str(config)


def test_every_token_is_kept_exactly(tmp_path):
    WordTokenizer(STRANGE).save_assets(tmp_path)
    text = (tmp_path / "vocabulary.json").read_text(encoding="utf-8")
    assert "ल\u200d" in text
    copy = WordTokenizer()
    copy.load_assets(tmp_path)
    assert copy.vocabulary == tuple(STRANGE)


def test_the_model_of_sentencepiece_is_kept_byte_by_byte(tmp_path):
    tokenizer = SentencePieceTokenizer.train(TEXTS, 50)
    tokenizer.save_assets(tmp_path)
    assert (tmp_path / "vocabulary.spm").read_bytes() == tokenizer.proto


def test_no_name_of_keras_nlp_is_taken():
    import keras_nlp

    other = keras_nlp.tokenizers.SentencePieceTokenizer
    for cls in (SentencePieceTokenizer, other):
        name = keras.saving.get_registered_name(cls)
        assert keras.saving.get_registered_object(name) is cls
