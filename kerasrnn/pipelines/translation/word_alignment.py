"""The words of a translation and of its source, and their attention."""

import functools

from kerasrnn.data.alignments import word_attention
from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers.tokenizer import SPECIALS


def align_words(weights, source, target, source_tokenizer, target_tokenizer):
    """Returns the `word_attention` of a translation.

    A text that is one word of characters, such as a word to pronounce, stays
    in characters.

    Args:
        weights: Array of shape `(target tokens, source tokens)`.
        source: Tokens of the source as bytes, `b""` for padding.
        target: Tokens of the target as bytes, `b""` for padding.
        source_tokenizer: The `Tokenizer` of the source.
        target_tokenizer: The `Tokenizer` of the target.
    """
    return word_attention(
        weights,
        [token.decode() for token in source],
        [token.decode() for token in target],
        functools.partial(_words, source_tokenizer),
        functools.partial(_words, target_tokenizer),
    )


def _words(tokenizer, tokens):
    """The index of the first token of each word, and the word."""
    words = tokenizer.words(tokens)
    is_one = sum(word not in SPECIALS for _, word in words) == 1
    if is_one and isinstance(tokenizer, CharacterTokenizer):
        return [(i, tokenizer.piece(x)[1]) for i, x in enumerate(tokens)]
    return words
