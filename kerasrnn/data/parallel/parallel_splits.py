"""Splits of a parallel corpus whose sides share no source sentence."""

from collections.abc import Callable
from collections.abc import Hashable

from kerasrnn.data.errors import CorpusError
from kerasrnn.data.same_text import source_key
from kerasrnn.data.splits import say_removed
from kerasrnn.data.splits import unequal
from kerasrnn.data.splits import whole_groups
from kerasrnn.typing import Pairs


def split_by_source(
    pairs: Pairs,
    dev_size: int,
    seed: int,
    key: Callable[[str], Hashable] = source_key,
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Shuffles pairs and splits them so that no source is on both sides.

    Pairs with the same `key(source)` form a group, which stays on one side.
    The groups are shuffled. Each goes to the held-out side if it still fits
    there, and to the training side otherwise. If none fits, the smallest is
    held out nevertheless.

    Args:
        pairs: List of `(source, target)` tuples.
        dev_size: Non-negative integer below `len(pairs)`, the number of pairs
            to hold out. Fewer are held out if all remaining groups are too
            large.
        seed: Integer. The same pairs and seed give the same split.
        key: Function from a source to a key that identifies it. Defaults to
            `source_key`.

    Returns:
        A tuple `(train, dev)` of lists of pairs. Both are in random order.

    Raises:
        ValueError: If `dev_size` is not an integer in `[0, len(pairs))`.
        CorpusError: If `dev_size` is positive and all pairs have the same
            source.

    Example:

    >>> pairs = [("hello", "नमस्ते"), ("Hello!", "नमस्कार"), ("help", "बचाओ")]
    >>> train, dev = split_by_source(pairs, dev_size=1, seed=13)
    >>> dev
    [('help', 'बचाओ')]
    """
    sources = [key(pair[0]) for pair in pairs]
    train, dev = whole_groups(sources, dev_size, seed, "dev_size")
    return [pairs[index] for index in train], [pairs[index] for index in dev]


def hold_out_pairs(
    pairs: Pairs, dev_size: int, seed: int
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Splits pairs with `split_by_source`, a tenth or less held out.

    Args:
        pairs: List of `(source, target)` tuples.
        dev_size: Positive integer, the number of pairs to hold out: at most a
            tenth of them, but one at least.
        seed: Integer. The same pairs and seed give the same split.

    Returns:
        A tuple `(train, dev)` of lists of pairs.

    Raises:
        ValueError, CorpusError: As `split_by_source` does.

    Example:

    >>> pairs = [(f"{number} apples", f"{number} सेब") for number in range(40)]
    >>> train, dev = hold_out_pairs(pairs, 500, seed=13)
    >>> len(train), len(dev)
    (36, 4)
    """
    size = min(dev_size, max(1, len(pairs) // 10))
    return split_by_source(pairs, size, seed)


def drop_overlap(
    pairs: Pairs,
    held_out: Pairs,
    key: Callable[[str], Hashable] = source_key,
) -> list[tuple[str, str]]:
    """Removes the pairs whose source is also in a held-out set.

    A `CorpusWarning` says how many, if any.

    Args:
        pairs: List of `(source, target)` tuples, such as additional training
            data.
        held_out: List of `(source, target)` tuples that must not be trained
            on.
        key: Function from a source to a key that identifies it. Defaults to
            `source_key`.

    Returns:
        The list of the remaining pairs, in their order.

    Raises:
        CorpusError: If all of one or more pairs are removed.

    Example:

    >>> more = [("Help!", "मदद!"), ("Jump!", "उछलो!")]
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     rest = drop_overlap(more, held_out=[("help", "बचाओ")])
    >>> rest, str(caught[0].message)
    ([('Jump!', 'उछलो!')],
     '1 of 2 pairs are not trained on: their sources are held out')
    """
    taken = {key(pair[0]) for pair in held_out}
    keys = [key(pair[0]) for pair in pairs]
    indices, gone = unequal(keys, range(len(pairs)), taken)
    say_removed("pairs", gone, len(pairs), "their sources are held out")
    return [pairs[index] for index in indices]


def drop_long(pairs: Pairs, most_words: int | None) -> list[tuple[str, str]]:
    """Removes the pairs with a side that is too long.

    Args:
        pairs: List of `(source, target)` tuples.
        most_words: Positive integer, the maximum number of words of a side,
            separated by white space; `None` to keep all pairs.

    Returns:
        The list of the remaining pairs, in their order.

    Raises:
        CorpusError: If no pair remains.

    Example:

    >>> pairs = [("a house", "một ngôi nhà"), ("sea", "biển")]
    >>> drop_long(pairs, most_words=2)
    [('sea', 'biển')]
    """
    if most_words is None:
        return list(pairs)
    short = [
        pair
        for pair in pairs
        if all(len(text.split()) <= most_words for text in pair[:2])
    ]
    if not short:
        raise CorpusError(
            f"No pair is left of {len(pairs)}. Expected: pairs with at most "
            f"{most_words} words on each side."
        )
    return short
