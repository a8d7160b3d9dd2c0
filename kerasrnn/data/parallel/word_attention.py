"""Attention between words, from attention between tokens."""

import numpy as np


def word_attention(weights, source, target, source_words, target_words):
    """Merges tokens into words, and their attention weights with them.

    The weights of a target word are the mean over its tokens; the weight on a
    source word is the sum over its tokens. Padding is removed.

    Args:
        weights: Array of shape `(target tokens, source tokens)`.
        source: List of strings, the source tokens; empty for padding.
        target: List of strings, the target tokens; empty for padding.
        source_words: Function from a list of tokens to a list of
            `(start, word)`, the index of the first token of each word and the
            word. The first start is 0.
        target_words: The same for the target.

    Returns:
        A tuple `(weights, source_words, target_words)`: an array of shape
        `(target words, source words)` and two lists of strings.

    Example:

    >>> def pairs(tokens):
    ...     return [(i, "".join(tokens[i : i + 2])) for i in (0, 2)]
    >>> weights = np.eye(2, 5)  # (targets, sources), the last is padding
    >>> source = ["wh", "ere", "i", "s", ""]
    >>> word_attention(weights, source, ["x", "y"], pairs, enumerate)
    (array([[1., 0.],
           [1., 0.]]), ['where', 'is'], ['x', 'y'])
    """
    rows, columns = (
        [i for i, token in enumerate(x) if token] for x in (target, source)
    )
    weights = weights[rows][:, columns]
    if not weights.size:
        return weights, [], []
    source_starts, source = zip(
        *source_words([source[i] for i in columns]), strict=True
    )
    target_starts, target = zip(
        *target_words([target[i] for i in rows]), strict=True
    )
    lengths = np.diff([*target_starts, len(weights)])[:, None]
    weights = np.add.reduceat(weights, source_starts, axis=1)
    weights = np.add.reduceat(weights, target_starts, axis=0) / lengths
    return weights, list(source), list(target)
