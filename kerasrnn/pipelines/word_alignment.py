"""Attention between words, from attention between subwords."""

import numpy as np


def align_words(weights, source, target, source_tokenizer, target_tokenizer):
    """Merges subwords into words, and their attention weights with them.

    The weights of a target word are the mean over its tokens; the weight on a
    source word is the sum over its tokens. Padding is removed.

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
    source_starts, source = zip(*source_tokenizer.words(source), strict=True)
    target_starts, target = zip(*target_tokenizer.words(target), strict=True)
    counts = np.diff([*target_starts, len(weights)])[:, None]
    weights = np.add.reduceat(weights, source_starts, axis=1)
    weights = np.add.reduceat(weights, target_starts, axis=0) / counts
    return weights, list(source), list(target)
