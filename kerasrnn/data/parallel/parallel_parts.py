"""The parts of a parallel corpus: to train on, to validate on, to test on."""

import itertools
import random
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple

from kerasrnn.arguments import optional_positive_integer
from kerasrnn.data.errors import CorpusError
from kerasrnn.data.parallel.parallel_corpus import read_parallel_corpus
from kerasrnn.data.parallel.parallel_splits import drop_overlap
from kerasrnn.data.parallel.parallel_splits import hold_out_pairs
from kerasrnn.data.same_text import source_key
from kerasrnn.data.splits import say_removed
from kerasrnn.data.splits import unequal
from kerasrnn.typing import Pairs
from kerasrnn.typing import PathLike


class ParallelParts(NamedTuple):
    """The parts of a parallel corpus, no source of one in another.

    Args:
        train: List of `(source, target)` strings to train on.
        dev: List of pairs to validate on.
        test: List of pairs to test on, which may be empty, or a dictionary
            from names to such lists.
    """

    train: list[tuple[str, str]]
    dev: list[tuple[str, str]]
    test: Any


def read_parallel_parts(
    train: Sequence[PathLike],
    dev: Sequence[PathLike] = (),
    test: Sequence[PathLike] = (),
    columns: tuple[str | int | None, str | int | None] = (None, None),
    limit: int | None = None,
    dev_size: int = 500,
    seed: int = 13,
    alignments: PathLike | None = None,
    arguments: tuple[str, str] = ("source", "target"),
) -> ParallelParts:
    r"""Reads the parts of a corpus, and holds pairs out if there is no `dev`.

    Pairs to train on whose source is held out or tested are removed, with a
    `CorpusWarning`.

    Args:
        train: List of a path, of a file of pairs; or of two paths, of a file
            of sources and one of targets.
        dev: The same of the pairs to validate on; empty to hold out pairs of
            `train`.
        test: The same of the pairs to test on.
        columns: Tuple, the columns of sources and of targets in each file; see
            `read_parallel_corpus`.
        limit: Positive integer, how many pairs to keep of each file: the
            first; `None` for all.
        dev_size: Positive integer, how many pairs to hold out: at most a tenth
            of them, but one at least.
        seed: Integer. The same pairs, size and seed give the same parts.
        alignments: String or path of the word alignments of `train`; see
            `read_parallel_corpus`.
        arguments: Tuple, what the caller calls both columns, for messages.

    Returns:
        `ParallelParts`.

    Raises:
        CorpusError: As `read_parallel_corpus` and `drop_overlap` do.

    Example:

    >>> lines = ["Hello!\tनमस्ते!", "Help!\tबचाओ!", "Jump!\tउछलो!"]
    >>> pathlib.Path("corpus.tsv").write_text("\n".join(lines), "utf-8")
    >>> parts = read_parallel_parts(["corpus.tsv"])
    >>> len(parts.train), len(parts.dev), len(parts.test)
    (2, 1, 0)
    """

    def read(paths, *alignments):
        path = paths[0] if len(paths) == 1 else tuple(paths)
        return read_parallel_corpus(
            path, *columns, limit, *alignments, arguments=arguments
        ).pairs

    pairs = read(train, alignments)
    held_out, tested = (read(paths) if paths else [] for paths in (dev, test))
    if not held_out:
        pairs = drop_overlap(pairs, tested)
        pairs, held_out = hold_out_pairs(pairs, dev_size, seed)
        held_out = [pair[:2] for pair in held_out]  # without an alignment
    return ParallelParts(
        drop_overlap(pairs, [*held_out, *tested]), held_out, tested
    )


def mix_parts(
    new: ParallelParts,
    old: ParallelParts,
    oversample: int | None = None,
    seed: int = 13,
) -> ParallelParts:
    """Mixes new and old pairs, to fine-tune a translator (Chu et al. 2017).

    Trained on new pairs alone, a translator forgets the old ones. If there are
    fewer of the new, each occurs several times, so that both weigh the same.

    Args:
        new: `ParallelParts` of the new corpus.
        old: `ParallelParts` of the corpus that the translator was trained on.
        oversample: Positive integer, how often each new pair occurs; `None`
            for as often as makes them about as many as the old pairs.
        seed: Integer, the seed of the order of the pairs to validate on.

    Returns:
        `ParallelParts` of both: those to validate on in random order, and for
        the test a dictionary of the held-out pairs, `"new"` and `"old"`, and
        of `"test"` and `"old test"`, or by their names, if there are such.

    Raises:
        CorpusError: When no new or no old pair is left to train on.

    Example:

    >>> old = ParallelParts([("a", "A"), ("b", "B")], [("c", "C")], ())
    >>> new = ParallelParts([("x", "X")], [("y", "Y")], ())
    >>> parts = mix_parts(new, old)
    Training uses 2 old pairs once, and 1 new pairs 2 times.
    >>> len(parts.train), len(parts.dev), sorted(parts.test)
    (4, 2, ['new', 'old'])

    Reference:
        [Chu et al., 2017](https://aclanthology.org/P17-2061).
    """
    fresh = drop_overlap(new.train, _held_out(old))
    known = drop_overlap(old.train, _held_out(new))
    dev = [*new.dev, *old.dev]
    # The first are scored after every epoch: some of each.
    random.Random(seed).shuffle(dev)
    test: dict[str, Pairs] = {"new": new.dev, "old": old.dev}
    for name, parts in (("test", new), ("old test", old)):
        if parts.test:
            named = isinstance(parts.test, dict)
            test |= parts.test if named else {name: parts.test}
    train = _balanced(fresh, known, oversample, "new", "old")
    return ParallelParts(train, dev, test)


def add_synthetic(
    parts: ParallelParts,
    synthetic: Pairs,
    oversample: int | None = None,
) -> ParallelParts:
    """Adds pairs whose sources are translations to those to train on.

    Pairs whose target is held out are removed, with a `CorpusWarning`.

    Args:
        parts: `ParallelParts`, of true pairs.
        synthetic: List of pairs, as `kerasrnn.pipelines.back_translate` makes
            them.
        oversample: Positive integer, how often each true pair occurs; `None`
            for as often as makes them about as many as the others.

    Returns:
        `ParallelParts`.

    Raises:
        CorpusError: When the targets of all synthetic pairs are held out, or
            there are no true pairs.

    Example:

    >>> parts = ParallelParts([("a", "A")], [("b", "B")], [])
    >>> add_synthetic(parts, [("<BT> x", "X"), ("<BT> y", "Y")]).train
    Training uses 2 synthetic pairs once, and 1 true pairs 2 times.
    [('<BT> x', 'X'), ('<BT> y', 'Y'), ('a', 'A'), ('a', 'A')]
    """
    taken = {source_key(pair[1]) for pair in _held_out(parts)}
    keys = [source_key(target) for _, target in synthetic]
    indices, gone = unequal(keys, range(len(keys)), taken)
    say_removed("pairs", gone, len(keys), "their targets are held out")
    kept = [synthetic[index] for index in indices]
    train = _balanced(parts.train, kept, oversample, "true", "synthetic")
    return parts._replace(train=train)


def _balanced(pairs, others, oversample, kind, other_kind):
    """Joins pairs and others, the former so often that they are as many."""
    optional_positive_integer("oversample", oversample)
    if not pairs:
        raise CorpusError(
            f"There must be {kind} pairs to train on. Received: none, and "
            f"{len(others):,} {other_kind} pairs"
        )
    times = oversample or max(1, round(len(others) / len(pairs)))
    print(
        f"Training uses {len(others):,} {other_kind} pairs once, and "
        f"{len(pairs):,} {kind} pairs {times:,} times."
    )
    return [*others, *times * pairs]


def _held_out(parts):
    """The pairs of a corpus that must not be trained on."""
    test = parts.test
    tests = test.values() if isinstance(test, dict) else [test]
    return [*parts.dev, *itertools.chain.from_iterable(tests)]
