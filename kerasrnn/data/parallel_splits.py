"""Splits of a parallel corpus, in which no source is on both sides."""

import random
import unicodedata

from kerasrnn.data.errors import CorpusError


def source_key(text):
    """Reduces a sentence to what makes it the same sentence as another.

    Case, punctuation (Unicode category P, wherever it stands), the form of
    Unicode composition and the amount of white space make no difference. Of a
    sentence that is punctuation alone, punctuation is kept.

    Args:
        text: String, a sentence.

    Returns:
        A string, equal for two sentences that count as the same.

    Example:

    >>> source_key("Hello!") == source_key("hello")
    True
    >>> source_key("  I don't   know.")
    'i dont know'
    """
    text = unicodedata.normalize("NFC", text.casefold())
    kept = (c for c in text if not unicodedata.category(c).startswith("P"))
    return " ".join(("".join(kept).strip() or text).split())


def split_by_source(pairs, dev_size, seed, key=source_key):
    """Shuffles pairs and splits them so that no source is on both sides.

    A source with several translations goes whole to one side: groups of pairs
    with the same `key(source)` are shuffled, and each goes to the held-out
    side if it still fits there, else to the training side. Where none fits,
    the smallest is held out all the same.

    Args:
        pairs: List of `(source, target)` tuples.
        dev_size: Non-negative integer below `len(pairs)`, the number of pairs
            to hold out. Fewer are held out only if no group left is small
            enough to fill the rest; one source with a single translation is
            enough to fill the last place.
        seed: Integer. The same pairs and seed give the same split.
        key: Function from a source to what identifies it. Defaults to
            `source_key`.

    Returns:
        A tuple `(train, dev)` of lists of pairs. Both are in random order.

    Raises:
        ValueError: If `dev_size` is not an integer in `[0, len(pairs))`.
        CorpusError: If there are pairs to hold out, and all have one source.

    Example:

    >>> pairs = [("hello", "नमस्ते"), ("Hello!", "नमस्कार"), ("help", "बचाओ")]
    >>> train, dev = split_by_source(pairs, dev_size=1, seed=13)
    >>> dev
    [('help', 'बचाओ')]
    """
    by_source = {}
    for pair in pairs:
        by_source.setdefault(key(pair[0]), []).append(pair)
    groups = list(by_source.values())
    if dev_size and len(groups) < 2:
        raise CorpusError(
            "Pairs can be held out only where there are others: all have the "
            f"same source. Received: {len(pairs)} pairs, dev_size={dev_size}"
        )
    if not (isinstance(dev_size, int) and 0 <= dev_size < len(pairs)):
        raise ValueError(
            "`dev_size` must be an integer, at least 0 and less than the "
            f"number of pairs, {len(pairs)}. Received: dev_size={dev_size!r}"
        )
    rng = random.Random(seed)
    rng.shuffle(groups)
    if dev_size:
        dev_size = max(dev_size, min(map(len, groups)))
    train, dev = [], []
    for group in groups:
        fits = len(dev) + len(group) <= dev_size
        (dev if fits else train).extend(group)
    # Pairs of one source stand together until here.
    rng.shuffle(train)
    rng.shuffle(dev)
    return train, dev


def drop_overlap(pairs, held_out, key=source_key):
    """Drops the pairs whose source also stands in a held-out set.

    Args:
        pairs: List of `(source, target)` tuples, for instance more data to
            train on.
        held_out: List of `(source, target)` tuples that must stay unseen.
        key: Function from a source to what identifies it. Defaults to
            `source_key`.

    Returns:
        The list of the pairs that remain, in their order.

    Raises:
        CorpusError: If there were some and none remains.

    Example:

    >>> more = [("Help!", "मदद!"), ("Jump!", "उछलो!")]
    >>> drop_overlap(more, held_out=[("help", "बचाओ")])
    [('Jump!', 'उछलो!')]
    """
    unseen = {key(source) for source, _ in held_out}
    rest = [pair for pair in pairs if key(pair[0]) not in unseen]
    if pairs and not rest:
        raise CorpusError(
            f"No pair is left of {len(pairs)}. Expected: some whose source is "
            f"not held out. Received: {len(unseen)} sources held out."
        )
    return rest


def drop_long(pairs, most_words):
    """Drops the pairs of which a side is too long.

    Args:
        pairs: List of `(source, target)` tuples.
        most_words: Positive integer, the most words of a side, as white space
            divides them.

    Returns:
        The list of the pairs that remain, in their order.

    Raises:
        CorpusError: If none remains.

    Example:

    >>> pairs = [("a house", "một ngôi nhà"), ("sea", "biển")]
    >>> drop_long(pairs, most_words=2)
    [('sea', 'biển')]
    """
    short = [
        pair
        for pair in pairs
        if all(len(text.split()) <= most_words for text in pair)
    ]
    if not short:
        raise CorpusError(
            f"No pair is left of {len(pairs)}. Expected: some with at most "
            f"{most_words} words on either side."
        )
    return short
