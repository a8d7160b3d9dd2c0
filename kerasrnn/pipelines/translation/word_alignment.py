"""Attention between words, from attention between subwords."""

import numpy as np

from kerasrnn.tokenizers import CharacterTokenizer
from kerasrnn.tokenizers.tokenizer import SPECIALS


def align_words(weights, source, target, source_tokenizer, target_tokenizer):
    """Merges subwords into words, and their attention weights with them.

    The weights of a target word are the mean over its tokens; the weight on a
    source word is the sum over its tokens. Padding is removed. A text that is
    one word of characters, such as a word to pronounce, stays in characters.

    Args:
        weights: Array of shape `(target tokens, source tokens)`.
        source: Tokens of the source as bytes, `b""` for padding.
        target: Tokens of the target as bytes, `b""` for padding.
        source_tokenizer: The `Tokenizer` of the source.
        target_tokenizer: The `Tokenizer` of the target.

    Returns:
        A tuple `(weights, source_words, target_words)`: an array of shape
        `(target words, source words)` and two lists of strings.
    """
    rows, columns = (
        [i for i, token in enumerate(x) if token] for x in (target, source)
    )
    weights = weights[rows][:, columns]
    source, target = ([t.decode() for t in x if t] for x in (source, target))
    if not weights.size:
        return weights, source, target
    source_starts, source = zip(*_words(source, source_tokenizer), strict=True)
    target_starts, target = zip(*_words(target, target_tokenizer), strict=True)
    counts = np.diff([*target_starts, len(weights)])[:, None]
    weights = np.add.reduceat(weights, source_starts, axis=1)
    weights = np.add.reduceat(weights, target_starts, axis=0) / counts
    return weights, list(source), list(target)


def _words(tokens, tokenizer):
    """The index of the first token of each word, and the word."""
    words = tokenizer.words(tokens)
    is_one = sum(word not in SPECIALS for _, word in words) == 1
    if is_one and isinstance(tokenizer, CharacterTokenizer):
        return [(i, tokenizer.piece(x)[1]) for i, x in enumerate(tokens)]
    return words
