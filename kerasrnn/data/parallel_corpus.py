"""Parallel corpora: sentences and their translations, and their parts."""

import array
import itertools
import os
import random
from collections.abc import Callable
from collections.abc import Hashable
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple

from kerasrnn.arguments import optional_positive_integer
from kerasrnn.data.alignments import alignments_of
from kerasrnn.data.reading.files import column_names
from kerasrnn.data.reading.files import file_format
from kerasrnn.data.reading.files import shards_in
from kerasrnn.data.reading.formats import RECORDS
from kerasrnn.data.reading.rows import finish
from kerasrnn.data.reading.rows import read_values
from kerasrnn.data.reading.table import is_number
from kerasrnn.data.reading.text_files import existing_path
from kerasrnn.data.report import CorpusError
from kerasrnn.data.splits import say_removed
from kerasrnn.data.splits import source_key
from kerasrnn.data.splits import unequal
from kerasrnn.data.splits import whole_groups
from kerasrnn.data.stored_rows import select_rows
from kerasrnn.data.stored_rows import store_rows
from kerasrnn.typing import Pairs
from kerasrnn.typing import PathLike


class ParallelCorpus(NamedTuple):
    """The content of a parallel corpus.

    Args:
        pairs: List of `(source, target)` strings, in the order of the file;
            of `(source, target, alignment)` if there are alignments. Many are
            `StoredRows`, which are read like a list.
        malformed: List of `(number, reason)`, the lines or rows, counted from
            1, that are neither blank nor a pair.
    """

    pairs: Pairs
    malformed: list[tuple[int, str]]


def read_parallel_corpus(
    path: PathLike | tuple[PathLike, PathLike] | list[PathLike],
    source: str | int | None = None,
    target: str | int | None = None,
    limit: int | None = None,
    alignments: PathLike | None = None,
    arguments: tuple[str, str] = ("source", "target"),
) -> ParallelCorpus:
    r"""Reads a parallel corpus, in a format that its name determines.

    | `path`                           | format        | `source`, `target` |
    |----------------------------------|---------------|--------------------|
    | a pair, `("a.en", "a.de")`       | line by line  | file extensions    |
    | `.csv`                           | with a header | names of columns   |
    | `.jsonl`, `.ndjson`, `.json`     | JSON lines    | keys               |
    | `.parquet`                       | parquet       | names of columns   |
    | a folder                         | `datasets`    | names of columns   |
    | a folder of files of one format  | theirs        | as there           |
    | any other, names given           | with a header | names of columns   |
    | any other, numbers or none given | tabs          | numbers from 1     |

    All but the folder and parquet may be gzipped, as `.csv.gz`. Swap `source`
    and `target` for the other direction. By default they are the first and
    the second file or column; in a table with more columns, those named
    `source` and `target` or `src` and `tgt`. A folder was written by
    `save_to_disk` of Hugging Face `datasets`, with one split; or its files are
    read in the order of their names. In a record
    `{"translation": {"en": ..., "de": ...}}`, the languages are the columns.

    Text is UTF-8, with or without a byte order mark, with LF or CRLF line
    ends; only a line feed ends a line, and U+2028 stays part of the sentence.
    White space around a sentence is removed; nothing else is changed. Blank
    lines are ignored, and so are further columns, such as the attribution in
    files for Anki, which some rows may lack. Markup, as in test sets of WMT,
    is not read.

    In a file that is read without names, the first line is a pair, not a
    header. A line is malformed if a side is empty, it has more columns than
    most (with a header: more or fewer than that), it contains a carriage
    return, or it is not UTF-8. Malformed lines are left out, recorded, and
    reported in one `CorpusWarning`.

    Args:
        path: String or path, or a pair of them.
        source: String or positive integer, the side to translate from, as in
            the table.
        target: String or positive integer, the side to translate to.
        limit: Positive integer, number of pairs to keep, from the first on.
            Defaults to `None`, which keeps all.
        alignments: String or path of a file of word alignments, a line for
            each of the corpus, such as `0-0 1-2`, which links the first words
            and the second to the third. Each pair then has the line as a third
            string, for `translation_batches`.
        arguments: Tuple, what the caller calls `source` and `target`, for
            messages.

    Returns:
        A `ParallelCorpus`, a named tuple of `pairs` and `malformed`.

    Raises:
        CorpusError: If no pair is usable, or most would be left out, as in
            `read_rows`; if the file is damaged or not UTF-8, a column is
            missing, two files differ in their number of lines, or the
            alignments do not fit. It is a `ValueError`.
        FileNotFoundError: If there is no such file.
        IsADirectoryError: If a folder is not a data set, or is one of two
            files.
        ImportError: If parquet or `datasets` need a library that is missing.
        ValueError: If `limit` is not a positive integer, or only one of
            `source` and `target` is given.

    Example:

    >>> lines = ["Hello!\tनमस्ते!", "Who knows?\tकिसे पता?"]
    >>> pathlib.Path("corpus.tsv").write_text("\n".join(lines), "utf-8")
    >>> read_parallel_corpus("corpus.tsv").pairs
    [('Hello!', 'नमस्ते!'), ('Who knows?', 'किसे पता?')]
    >>> read_parallel_corpus("corpus.tsv", source=2, target=1, limit=1).pairs
    [('नमस्ते!', 'Hello!')]
    >>> row = {"de": "Guten Tag!", "en": "Hello!"}
    >>> pathlib.Path("opus.jsonl").write_text(json.dumps(row))
    >>> read_parallel_corpus("opus.jsonl", source="de", target="en").pairs
    [('Guten Tag!', 'Hello!')]
    """
    optional_positive_integer("limit", limit)
    if (source is None) != (target is None):
        raise ValueError(
            "`source` and `target` must be given both or neither. "
            f"Received: source={source!r}, target={target!r}"
        )
    columns = {"source": source, "target": target}
    delimiter = None
    if _is_of_lines(path, source, target):
        delimiter = "\t"
        columns = {"source": source or 1, "target": target or 2}
    named = dict(zip(columns, arguments, strict=True))
    rows, report = read_values(path, columns, limit, named, delimiter=delimiter)
    pairs: Sequence[Any] = store_rows(tuple(row.values()) for row in rows)
    expected = "lines of `source TAB target`, or the format of the file's name"
    finish(report, report.unit, expected)
    if alignments is not None:
        links = alignments_of(alignments, pairs, report, limit)
        both = zip(pairs, links, strict=True)
        pairs = store_rows((*pair, line) for pair, line in both)
    return ParallelCorpus(pairs, report.malformed)


def language_names(
    train: Sequence[PathLike], source: str | None, target: str | None
) -> list[str]:
    """Returns the names of the columns of a parallel corpus.

    Usually, these are its languages.

    Args:
        train: List of one path, a file of pairs; or of two paths, a file of
            sources and a file of targets.
        source: String, the column to translate from; or `None`.
        target: String, the column to translate to; or `None`.

    Returns:
        List of the names of source and target; empty if they have none.

    Example:

    >>> language_names(["pairs.csv"], "german", "english")
    ['german', 'english']
    >>> language_names(["a.de", "a.en"], None, None)
    ['de', 'en']
    >>> language_names(["pairs.tsv"], "2", "1")
    []
    """
    names = [source, target]
    if source is None and len(train) == 2:
        names = column_names(train)
    found = [name for name in names if name and not is_number(name)]
    return found if len(found) == 2 else []


def _is_of_lines(path, source, target):
    """Whether a file has `source TAB target` lines without a header."""
    if not isinstance(path, str | os.PathLike):
        return False
    numbers = source is None or is_number(source) and is_number(target)
    path = existing_path(path)
    [file, *_] = (shards_in(path) if path.is_dir() else []) or [path]
    named = file_format(file) in (".csv", *RECORDS)
    return numbers and not named and not file.is_dir()


def split_by_source(
    pairs: Pairs,
    dev_size: int,
    seed: int,
    key: Callable[[str], Hashable] = source_key,
) -> tuple[Pairs, Pairs]:
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
    sources = (key(pair[0]) for pair in pairs)
    train, dev = whole_groups(sources, dev_size, seed, "dev_size")
    return select_rows(pairs, train), select_rows(pairs, dev)


def hold_out_pairs(
    pairs: Pairs, dev_size: int, seed: int
) -> tuple[Pairs, Pairs]:
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
    return split_by_source(pairs, min(dev_size, max(1, len(pairs) // 10)), seed)


def drop_overlap(
    pairs: Pairs,
    held_out: Pairs,
    key: Callable[[str], Hashable] = source_key,
) -> Pairs:
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
    keys = (key(pair[0]) for pair in pairs)
    indices, gone = unequal(keys, range(len(pairs)), taken)
    say_removed("pairs", gone, len(pairs), "their sources are held out")
    return select_rows(pairs, indices)


def drop_long(pairs: Pairs, most_words: int | None) -> Pairs:
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
        return pairs
    short = array.array(
        "q",
        (
            index
            for index, pair in enumerate(pairs)
            if all(len(text.split()) <= most_words for text in pair[:2])
        ),
    )
    if not short:
        raise CorpusError(
            f"No pair is left of {len(pairs)}. Expected: pairs with at most "
            f"{most_words} words on each side."
        )
    return select_rows(pairs, short)


class ParallelParts(NamedTuple):
    """The parts of a parallel corpus. No source is in two parts.

    Args:
        train: List of `(source, target)` strings, the training pairs.
        dev: List of validation pairs.
        test: List of test pairs, which may be empty, or a dictionary from names
            to such lists.
    """

    train: Pairs
    dev: Pairs
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

    Training pairs whose source is also a validation or test source are removed,
    with a `CorpusWarning`.

    Args:
        train: List of one path, a file of pairs; or of two paths, a file of
            sources and a file of targets.
        dev: The same for the validation pairs; empty to hold out pairs of
            `train`.
        test: The same for the test pairs.
        columns: Tuple, the columns of sources and of targets in each file; see
            `read_parallel_corpus`.
        limit: Positive integer, number of pairs to keep of each file, from the
            first on; `None` for all.
        dev_size: Positive integer, number of pairs to hold out: at most a tenth
            of them, but at least one.
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
    if held_out or tested:
        pairs = drop_overlap(pairs, [*held_out, *tested])
    if not held_out:
        pairs, held_out = hold_out_pairs(pairs, dev_size, seed)
        held_out = [pair[:2] for pair in held_out]  # without an alignment
    return ParallelParts(pairs, held_out, tested)


def mix_parts(
    new: ParallelParts,
    old: ParallelParts,
    oversample: int | None = None,
    seed: int = 13,
) -> ParallelParts:
    """Mixes new and old pairs, to fine-tune a translator (Chu et al. 2017).

    Trained on new pairs alone, a translator forgets the old ones. If there are
    fewer new pairs, they are repeated, so that both kinds have the same weight.

    Args:
        new: `ParallelParts` of the new corpus.
        old: `ParallelParts` of the corpus that the translator was trained on.
        oversample: Positive integer, copies of each new pair; `None` for about
            as many new pairs as old ones.
        seed: Integer, the seed of the order of the validation pairs.

    Returns:
        `ParallelParts` of both. The validation pairs are in random order. The
        test is a dictionary of the validation pairs `"new"` and `"old"` and,
        if there are test pairs, of `"test"` and `"old test"`, or their names.

    Raises:
        CorpusError: When no new or no old training pair is left.

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
    """Adds synthetic pairs, whose sources are translations, for training.

    Pairs whose target is held out are removed, with a `CorpusWarning`.

    Args:
        parts: `ParallelParts`, of true pairs.
        synthetic: List of pairs, as `kerasrnn.pipelines.back_translate` makes
            them.
        oversample: Positive integer, copies of each true pair; `None` for about
            as many true pairs as synthetic ones.

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
    count = len(synthetic)
    keys = (source_key(target) for _, target in synthetic)
    indices, gone = unequal(keys, range(count), taken)
    say_removed("pairs", gone, count, "their targets are held out")
    kept = select_rows(synthetic, indices)
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
    return store_rows(itertools.chain(others, *times * [pairs]))


def _held_out(parts):
    """The pairs of a corpus that must not be trained on."""
    test = parts.test
    tests = test.values() if isinstance(test, dict) else [test]
    return [*parts.dev, *itertools.chain.from_iterable(tests)]
