"""A translation lexicon, learned from a parallel corpus by counting."""

import numpy as np


def translation_lexicon(
    pairs,
    source_tokenizer,
    target_tokenizer,
    translations=200,
    iterations=5,
    max_length=100,
):
    """Learns which target token translates which source token.

    IBM Model 1 (Brown et al. 1993, section 4.1): every target token of a
    pair comes from one of its source tokens, all places alike. Expectation
    maximisation from uniform probabilities:

        p(t | s) ∝ sum_{pairs} sum_{places of t}
            p(t | s) / sum_{s' in the source} p(t | s')

    End tokens count as tokens, and translate each other.

    Args:
        pairs: List of `(source, target)` strings.
        source_tokenizer: A `Tokenizer`.
        target_tokenizer: A `Tokenizer`.
        translations: Positive integer, how many target tokens are kept for
            each source token: the likeliest.
        iterations: Positive integer, rounds of expectation maximisation.
        max_length: Positive integer; longer sentences are cut to as many
            tokens.

    Returns:
        A tuple `(ids, probabilities)` of arrays of shape
        `(source vocabulary, translations)`, int32 and float32, as
        `kerasrnn.models.Lexicon.assign` takes them: the target tokens of each
        source token, the likeliest first. Behind the last one, both are 0.

    Example:

    >>> pairs = [("red book", "लाल किताब"), ("red house", "लाल घर")]
    >>> pairs += [("house", "घर"), ("book", "किताब")]
    >>> english, hindi = map(WordTokenizer.train, zip(*pairs))
    >>> ids, _ = translation_lexicon(pairs, english, hindi, translations=1)
    >>> hindi.vocabulary[ids[english.vocabulary.index("red"), 0]]
    'लाल'

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
    if not ids:
        shape = source_tokenizer.vocabulary_size, translations
        return np.zeros(shape, "int32"), np.zeros(shape, "float32")
    # Every (source place, target place) of every pair is one cell. Cells of
    # the same target place stand together.
    width = target_tokenizer.vocabulary_size
    cells = np.concatenate(
        [(source * width + target[:, None]).ravel() for source, target in ids]
    )
    sizes = np.concatenate(
        [np.full(len(target), len(source)) for source, target in ids]
    )
    entries, cells = np.unique(cells, return_inverse=True)
    source, target = np.divmod(entries, width)
    probabilities = _maximise(cells, sizes, source, iterations)
    shape = source_tokenizer.vocabulary_size, translations
    return _likeliest(source, target, probabilities, shape)


def _maximise(cells, sizes, source, iterations):
    """The probability of each entry of the lexicon.

    Args:
        cells: Integer array, the entry that each cell reads.
        sizes: Integer array, how many cells each target place has.
        source: Integer array, the source token of each entry.
        iterations: Positive integer.
    """
    starts = np.cumsum(sizes) - sizes
    probabilities = np.ones(len(source))
    for _ in range(iterations):
        shares = probabilities[cells]
        shares /= np.repeat(np.add.reduceat(shares, starts), sizes)
        counts = np.bincount(cells, shares)
        totals = np.bincount(source, counts)
        probabilities = counts / np.maximum(totals[source], 1e-9)
    return probabilities


def _likeliest(source, target, probabilities, shape):
    """The first entries of each source token, by falling probability."""
    order = np.lexsort((-probabilities, source))
    source = source[order]
    rank = np.arange(len(source)) - np.searchsorted(source, source)
    kept = rank < shape[1]
    places = source[kept], rank[kept]
    ids, values = np.zeros(shape, "int32"), np.zeros(shape, "float32")
    ids[places] = target[order][kept]
    values[places] = probabilities[order][kept]
    return ids, values


def _token_lists(tokenizer, texts, max_length):
    end = [tokenizer.end_id] if tokenizer.end_id >= 0 else []
    ids = tokenizer.tokenize(list(texts))[:, :max_length].to_list()
    return [np.array(row + end, "int64") for row in ids]
