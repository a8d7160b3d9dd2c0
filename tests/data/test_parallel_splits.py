import itertools
import random

import pytest

from kerasrnn.data.parallel_corpus import drop_long
from kerasrnn.data.parallel_corpus import drop_overlap
from kerasrnn.data.parallel_corpus import hold_out_pairs
from kerasrnn.data.parallel_corpus import split_by_source
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning
from kerasrnn.data.splits import source_key

HELLO = ("Hello!", "नमस्ते!")
KNOWS = ("who knows", "किसे पता")


# Splitting.


def corpus_with_repeats(sources=200):
    """Pairs whose sources have 1, 2 or 3 spellings and translations."""
    spellings = ["Number {}!", "number {}", "NUMBER, {}."]
    return [
        (spellings[copy].format(n), f"संख्या {n} {copy}")
        for n in range(sources)
        for copy in range(1 + n % 3)
    ]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dev_size", [0, 1, 50, 300])
def test_split_is_a_disjoint_partition_of_the_exact_size(seed, dev_size):
    pairs = corpus_with_repeats()
    train, dev = split_by_source(pairs, dev_size, seed)
    assert len(dev) == dev_size
    assert sorted(train + dev) == sorted(pairs)
    sources = [
        {source_key(source) for source, _ in side} for side in (train, dev)
    ]
    assert sources[0].isdisjoint(sources[1])


@pytest.mark.parametrize("seed", range(5))
def test_spellings_of_a_source_stay_together(seed):
    twins = [("Hello!", "नमस्ते"), ("hello", "नमस्कार")]
    pairs = [twins[0], KNOWS, ("jump", "उछलो"), twins[1]]
    train, dev = split_by_source(pairs, 2, seed)
    assert set(twins) in (set(train), set(dev))
    assert len(dev) == 2


def test_group_that_would_overshoot_goes_to_train():
    twins = [("Hello!", "नमस्ते"), ("hello", "नमस्कार")]
    for seed in range(5):
        train, dev = split_by_source([*twins, KNOWS], 1, seed)
        assert dev == [KNOWS]
        assert sorted(train) == sorted(twins)


def test_dev_is_the_smallest_group_if_none_fits():
    twins = [("b", "1"), ("B", "2")]
    pairs = [("a", "1"), ("A", "2"), ("a.", "3"), *twins]
    for seed in range(5):
        train, dev = split_by_source(pairs, 1, seed)
        assert sorted(train) == sorted(pairs[:3])
        assert sorted(dev) == sorted(twins)


@pytest.mark.parametrize("pairs", [[("a", "1")], [("a", "1"), ("A", "2")]])
def test_one_source_cannot_be_split(pairs):
    with pytest.raises(CorpusError, match=f"Received: {len(pairs)} rows"):
        split_by_source(pairs, 1, seed=0)
    assert split_by_source(pairs, 0, seed=0) == (pairs, [])


def test_split_depends_on_the_seed_only():
    pairs = corpus_with_repeats()
    random.seed(1)
    first = split_by_source(pairs, 50, seed=13)
    random.seed(2)
    assert split_by_source(pairs, 50, seed=13) == first
    assert split_by_source(pairs, 50, seed=14) != first


def test_dev_is_drawn_from_the_whole_corpus():
    pairs = corpus_with_repeats()
    _, dev = split_by_source(pairs, 100, seed=13)
    places = [pairs.index(pair) for pair in dev]
    assert min(places) < 50
    assert max(places) > len(pairs) - 50


def test_both_sides_are_shuffled_and_the_input_is_not():
    pairs = corpus_with_repeats()
    original = list(pairs)
    train, dev = split_by_source(pairs, 100, seed=13)
    assert pairs == original
    for side in (train, dev):
        assert side != sorted(side, key=pairs.index)
        # Nor do the pairs of a source stay neighbours.
        runs = itertools.groupby(side, key=lambda pair: source_key(pair[0]))
        sources = {source_key(source) for source, _ in side}
        assert len(list(runs)) > len(sources)


def test_split_by_own_key():
    pairs = [("a1", "x"), ("a2", "y"), ("b1", "z")]
    train, dev = split_by_source(pairs, 1, seed=0, key=lambda s: s[0])
    assert dev == [("b1", "z")]
    assert sorted(train) == [("a1", "x"), ("a2", "y")]


@pytest.mark.parametrize("dev_size", [-1, 2, 0.5, True])
def test_bad_dev_size(dev_size):
    with pytest.raises(ValueError, match="number of rows, 2. Received"):
        split_by_source([HELLO, KNOWS], dev_size, seed=0)


# Dropping an overlap.


def test_drop_overlap_compares_normalised_sources():
    more = [("HELLO", "हैलो"), ("jump", "उछलो"), ("Who knows?", "पता नहीं")]
    with pytest.warns(CorpusWarning, match="2 of 3 pairs are not trained on"):
        assert drop_overlap(more, [HELLO, KNOWS]) == [("jump", "उछलो")]
    assert drop_overlap(more, []) == more


def test_drop_overlap_by_own_key():
    more = [("HELLO", "हैलो"), ("Hello!", "नमस्कार")]
    with pytest.warns(CorpusWarning, match="1 of 2 pairs") as record:
        assert drop_overlap(more, [HELLO], key=str) == more[:1]
    assert record[0].filename == __file__


def test_an_overlap_that_leaves_nothing_is_named():
    assert drop_overlap([], [HELLO]) == []
    with pytest.raises(CorpusError, match="Received: 2 rows, all of them"):
        drop_overlap([HELLO, HELLO], [HELLO])


def test_long_pairs_are_dropped_by_either_side():
    pairs = [("a b", "x"), ("a", "x y z"), ("a b c", "x"), ("", "x y")]
    assert drop_long(pairs, most_words=2) == [pairs[0], pairs[3]]
    assert drop_long(pairs, most_words=3) == pairs
    assert drop_long(pairs, most_words=None) == pairs
    for given in (pairs[1:3], []):
        with pytest.raises(CorpusError, match=f"left of {len(given)}.*most 1"):
            drop_long(given, most_words=1)


@pytest.mark.parametrize(
    ("count", "dev_size", "expected"), [(40, 500, 4), (40, 3, 3), (5, 500, 1)]
)
def test_at_most_a_tenth_is_held_out(count, dev_size, expected):
    pairs = [(f"{number} apples", "x") for number in range(count)]
    train, dev = hold_out_pairs(pairs, dev_size, seed=13)
    assert len(dev) == expected
    assert sorted(train + dev) == sorted(pairs)
