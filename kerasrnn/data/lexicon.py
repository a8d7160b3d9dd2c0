"""A translation lexicon, learned from a parallel corpus by counting."""

import numpy as np


def translation_lexicon(
    pairs, source_tokenizer, target_tokenizer, iterations=5, max_length=100
):
    """Learns which target token translates which source token.

    IBM Model 1 (Brown et al. 1993, section 4.1): every target token of a
    pair comes from one of its source tokens, all places alike. Expectation
    maximisation from uniform probabilities:

        p(t | s)  ~  sum over pairs, over places of t, of
                     p(t | s) / sum_{s' in the source} p(t | s')

    End tokens count as tokens, and translate each other.

    Args:
        pairs: List of `(source, target)` strings.
        source_tokenizer: A `Tokenizer`.
        target_tokenizer: A `Tokenizer`.
        iterations: Positive integer, rounds of expectation maximisation.
        max_length: Positive integer; longer sentences are cut to as many
            tokens.

    Returns:
        Array of shape `(source vocabulary, target vocabulary)`, float32: the
        distribution over target tokens in each row, or zeros for a source
        token that does not occur.

    Reference:
        [Brown et al., 1993](https://aclanthology.org/J93-2003).
    """
    sources, targets = (
        _token_lists(tokenizer, texts, max_length)
        for tokenizer, texts in zip(
            (source_tokenizer, target_tokenizer),
            zip(*pairs, strict=True),
            strict=True,
        )
    )
    # A source without a known token says nothing.
    ids = [
        (source, target)
        for source, target in zip(sources, targets, strict=True)
        if len(source)
    ]
    width = target_tokenizer.vocabulary_size
    shape = (source_tokenizer.vocabulary_size, width)
    # Every (source place, target place) of every pair is one cell. Cells of
    # the same target place stand together.
    cells = np.concatenate(
        [(source * width + target[:, None]).ravel() for source, target in ids]
    )
    sizes = np.concatenate(
        [np.full(len(target), len(source)) for source, target in ids]
    )
    starts = np.cumsum(sizes) - sizes
    lexicon = np.ones(shape[0] * width)
    for _ in range(iterations):
        shares = lexicon[cells]
        shares /= np.repeat(np.add.reduceat(shares, starts), sizes)
        counts = np.bincount(cells, shares, minlength=lexicon.size)
        totals = counts.reshape(shape).sum(axis=1, keepdims=True)
        lexicon = (counts.reshape(shape) / np.maximum(totals, 1e-9)).ravel()
    return lexicon.reshape(shape).astype("float32")


def _token_lists(tokenizer, texts, max_length):
    end = [tokenizer.end_id] if tokenizer.end_id >= 0 else []
    ids = tokenizer.tokenize(list(texts))[:, :max_length].to_list()
    return [np.array(row + end, "int64") for row in ids]
