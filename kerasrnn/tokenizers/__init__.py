"""Text to token ids and back, as graph operations."""

from kerasrnn.optional import needs as _needs

# `kerasrnn.data` and `kerasrnn.pipelines` import this package first.
with _needs("tensorflow-text", "text"):
    import tensorflow_text  # noqa: F401

from kerasrnn.tokenizers.normalization import join_punctuation
from kerasrnn.tokenizers.normalization import normalize_text
from kerasrnn.tokenizers.piece_tokenizer import PieceTokenizer
from kerasrnn.tokenizers.review_tokenizer import ReviewTokenizer
from kerasrnn.tokenizers.sentence_piece_tokenizer import SentencePieceTokenizer
from kerasrnn.tokenizers.table_tokenizers import CharacterTokenizer
from kerasrnn.tokenizers.table_tokenizers import WordTokenizer
from kerasrnn.tokenizers.tokenizer import Tokenizer
from kerasrnn.tokenizers.word_spans import Words
from kerasrnn.tokenizers.word_spans import split_into_words

__all__ = [
    "CharacterTokenizer",
    "PieceTokenizer",
    "ReviewTokenizer",
    "SentencePieceTokenizer",
    "Tokenizer",
    "WordTokenizer",
    "Words",
    "join_punctuation",
    "normalize_text",
    "split_into_words",
]
