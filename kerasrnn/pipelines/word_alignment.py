"""From the attention of tokens to that of words."""

import numpy as np


def align_words(weights, source, target, source_tokenizer, target_tokenizer):
    """Puts subwords together again, and their attention with them.

    A word looks where its tokens look on average, and is looked at as much
    as its tokens together. Padding falls away, wherever it stands.

    Args:
        weights: Array of shape `(targets, sources)`.
        source: Tokens of the source as bytes, `b""` for padding.
        target: Tokens of the target.
        source_tokenizer: The `Tokenizer` that made the source.
        target_tokenizer: The `Tokenizer` that made the target.

    Returns:
        A tuple `(weights, source_words, target_words)`: an array of shape
        `(targets, sources)`, of words now, and two lists of strings.
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
