"""Subwords as words, and the attention weights of them."""

import numpy as np

_SPACE = "▁"  # how SentencePiece marks the beginning of a word


def merge_subwords(
    weights: np.ndarray, source: np.ndarray, target: np.ndarray
) -> tuple[np.ndarray, list[str], list[str]]:
    """Merges subwords into words, and their attention weights with them.

    The weights of a target word are the mean over its tokens; the weight on a
    source word is the sum over its tokens. Padding is removed.

    Args:
        weights: Array of shape `(target tokens, source tokens)`.
        source: Array of `source tokens` strings, empty for padding.
        target: Array of `target tokens` strings, empty for padding.

    Returns:
        A tuple `(weights, source_words, target_words)`: an array of shape
        `(target words, source words)` and two lists of strings.

    Example:

    >>> source = np.array(["▁wh", "ere", "</s>", ""])
    >>> weights, words, _ = merge_subwords(np.eye(3, 4), source, source[:3])
    >>> words
    ['where', '</s>']
    >>> weights
    array([[1., 0.],
           [0., 1.]])
    """
    weights = weights[target != ""][:, source != ""]
    source, target = source[source != ""], target[target != ""]
    if not weights.size:
        return weights, [], []
    columns, rows = _starts(source), _starts(target)
    lengths = np.diff([*rows, len(target)])[:, None]
    weights = np.add.reduceat(weights, columns, axis=1)
    weights = np.add.reduceat(weights, rows, axis=0) / lengths
    return weights, _joined(source, columns), _joined(target, rows)


def _starts(tokens):
    """The positions of the tokens that begin a word."""
    marked = any(token.startswith(_SPACE) for token in tokens)
    return [
        position
        for position, token in enumerate(tokens)
        if position == 0
        or token.startswith(_SPACE)
        or token == "</s>"
        or not marked
    ]


def _joined(tokens, starts):
    """The words that begin at the positions."""
    return [
        "".join(token.removeprefix(_SPACE) for token in tokens[begin:end])
        for begin, end in zip(starts, [*starts[1:], None], strict=True)
    ]
