"""Text to token ids and back, as graph operations."""

try:
    import tensorflow_text  # noqa: F401
except ModuleNotFoundError as error:
    # `kerasrnn.data` and `kerasrnn.pipelines` import this package first.
    raise ImportError(
        "kerasrnn.tokenizers, kerasrnn.data and kerasrnn.pipelines need "
        "TensorFlow. Expected: the packages tensorflow and tensorflow-text. "
        f"Received: {error}. Without them, kerasrnn.layers, kerasrnn.models, "
        "kerasrnn.decoding, kerasrnn.metrics and kerasrnn.training work on "
        "JAX; all but kerasrnn.training on PyTorch, too."
    ) from error

from kerasrnn.tokenizers.character_tokenizer import CharacterTokenizer
from kerasrnn.tokenizers.normalization import join_punctuation
from kerasrnn.tokenizers.normalization import normalize_text
from kerasrnn.tokenizers.review_tokenizer import ReviewTokenizer
from kerasrnn.tokenizers.sentence_piece_tokenizer import SentencePieceTokenizer
from kerasrnn.tokenizers.tokenizer import Tokenizer
from kerasrnn.tokenizers.word_spans import Words
from kerasrnn.tokenizers.word_spans import split_into_words
from kerasrnn.tokenizers.word_tokenizer import WordTokenizer

__all__ = [
    "CharacterTokenizer",
    "ReviewTokenizer",
    "SentencePieceTokenizer",
    "Tokenizer",
    "WordTokenizer",
    "Words",
    "join_punctuation",
    "normalize_text",
    "split_into_words",
]
