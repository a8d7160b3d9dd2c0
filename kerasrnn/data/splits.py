"""Splits of rows in which no training row equals a held-out row."""

import array
import collections
import functools
import itertools
import random
import sys
import unicodedata
from collections.abc import Hashable
from collections.abc import Iterable
from collections.abc import Sequence

import numpy as np

from kerasrnn.arguments import integer
from kerasrnn.data.reading.rows import Rows
from kerasrnn.data.report import CorpusError
from kerasrnn.data.report import CorpusWarning
from kerasrnn.optional import needs
from kerasrnn.tokenizers.invisible import appearance
from kerasrnn.warning import warn


def split_rows(
    rows: Rows,
    size: int,
    seed: int,
    by: str | None = None,
    group: str | None = None,
    stratify: str | None = None,
) -> tuple[Rows, Rows]:
    """Holds out random rows that equal no training row.

    Args:
        rows: `Rows` to split.
        size: Positive integer, number of rows to hold out; approximate with
            groups.
        seed: Non-negative integer. The same rows and seed give the same split.
        by: String, the column by which rows are compared. Defaults to `None`:
            all columns together.
        group: String, the column of groups, such as authors, whose rows stay
            together. Defaults to `None`: equal rows stay together.
        stratify: String, a column such as the label, whose values are held out
            in the same proportions. Equal rows may then be separated; training
            rows that equal held-out rows are removed and counted in a
            `CorpusWarning`.

    Returns:
        A tuple `(train, held_out)` of `Rows`, in their order.

    Raises:
        CorpusError: If no rows can be held out, or no training rows are left.
        KeyError: If a column is unknown.
        ValueError: If `size` is invalid for the number of rows.

    Example:

    >>> rows = read_rows(
    ...     [{"text": text, "by": by} for text, by in zip("abcd", "xyxz")],
    ...     text=None, group="by",
    ... )
    >>> train, held_out = split_rows(rows, 2, seed=1, group="group")
    >>> set(train["group"]) & set(held_out["group"])
    set()
    """
    columns = [rows[by]] if by else list(rows.columns.values())
    keys = list(map(repr, zip(*columns, strict=True)))
    groups = rows[group] if group else None
    if stratify is None:
        train, held_out = whole_groups(groups or keys, size, seed, "size")
        train, held_out = sorted(train), sorted(held_out)
    else:
        train, held_out = stratified(rows[stratify], size, seed, groups)
    taken = {keys[index] for index in held_out}
    indices, gone = unequal([keys[index] for index in train], train, taken)
    say_removed("rows", gone, len(train), "they equal rows that are held out")
    return rows.select(indices), rows.select(held_out)


def whole_groups(
    groups: Iterable[Hashable], size: int, seed: int, name: str
) -> tuple[Sequence[int], Sequence[int]]:
    """The indices of groups to train on and to hold out, in random order.

    The groups are shuffled. A group is held out if it still fits; otherwise it
    is used for training. If no group fits, the smallest one is held out.

    Args:
        groups: The group of each row.
        size: Non-negative integer, number of rows to hold out.
        seed: Integer.
        name: String, the name of `size` in messages.
    """
    # The number of the group of each row, in the order of their first rows.
    hashes = np.fromiter(map(hash, groups), "int64")
    _, first, ranks, sizes = np.unique(hashes, True, True, True)
    by_first = np.argsort(first)
    numbers, sizes = np.argsort(by_first)[ranks], sizes[by_first]
    count = len(numbers)
    if size and len(sizes) < 2:
        raise CorpusError(
            "All rows have the same source or group. Expected: at least two "
            f"different ones, to hold out rows. Received: {count} rows, "
            f"{name}={size}"
        )
    integer(name, size, 0, count - 1)
    # Arrays: lists of a large corpus take five times as much memory.
    order = array.array("q", range(len(sizes)))
    rng = random.Random(seed)
    rng.shuffle(order)
    if size:
        size = max(size, int(min(sizes)))
    indices = np.argsort(numbers, kind="stable")
    ends = np.cumsum(sizes)
    train, held_out = array.array("q"), array.array("q")
    for group in order:
        members = indices[ends[group] - sizes[group] : ends[group]]
        fits = len(held_out) + len(members) <= size
        (held_out if fits else train).extend(members.tolist())
    # Separate the rows of one group, which are contiguous so far.
    rng.shuffle(train)
    rng.shuffle(held_out)
    return train, held_out


def unequal(keys, indices, taken):
    """Returns indices of rows whose keys are not taken, and the other count.

    Args:
        keys: The keys of the rows to choose from.
        indices: Their indices.
        taken: Set of the keys of rows that are not to be trained on.

    Raises:
        CorpusError: If all rows are taken.
    """
    rows = zip(indices, keys, strict=True)
    left = array.array("q", (index for index, x in rows if x not in taken))
    if indices and not left:
        raise CorpusError(
            "No training rows are left. Expected: rows that are not held out "
            f"or in the test set. Received: {len(indices)} rows, all of them "
            "held out or in the test set"
        )
    return left, len(indices) - len(left)


def say_removed(what, gone, count, why):
    """Warns about rows that were removed from training, if any."""
    if gone:
        warn(
            f"{gone:,} of {count:,} {what} are not trained on: {why}",
            CorpusWarning,
        )


# Stratified splits.


def stratified(labels, size, seed, groups=None):
    """Returns sorted indices of training and held-out rows, by label.

    Args:
        labels: The label of each row, or a list or tuple of labels.
        size: Non-negative integer, number of rows to hold out. With groups, or
            several labels a row, it is about as many.
        seed: Non-negative integer.
        groups: The group of each row; whole groups are held out. Defaults to
            `None`, no groups.
    """
    if groups is None and has_several(labels):
        groups = range(len(labels))
    choose = _single_rows if groups is None else _groups_by_label
    held_out = set(choose(labels, size, seed, groups)) if size != 0 else set()
    rest = [index for index in range(len(labels)) if index not in held_out]
    return rest, sorted(held_out)


def _single_rows(labels, size, seed, groups):
    """Returns the indices of a stratified split by scikit-learn."""
    with needs("scikit-learn", "recipes"):
        from sklearn.model_selection import train_test_split

    counts = collections.Counter(labels)
    several = {label for label, count in counts.items() if count > 1}
    indices = [n for n, label in enumerate(labels) if label in several]
    if not several:
        raise CorpusError(
            "No class has two texts, so none can be held out. Expected: a "
            f"class with at least two texts. Received: {len(labels)} texts of "
            f"{len(counts)} classes, size={size!r}"
        )
    integer("size", size)
    kept = [labels[index] for index in indices]
    _, held_out = train_test_split(
        indices, test_size=size, stratify=kept, random_state=seed
    )
    taken = collections.Counter(labels[index] for index in held_out)
    for label, count in taken.items():
        if count == counts[label]:
            raise ValueError(
                "`size` must leave a training text in each class, but it takes "
                f"all {count} of class {label!r}. Received: size={size}"
            )
    return held_out


def has_several(labels):
    """Whether rows have lists or tuples of labels."""
    return len(labels) > 0 and isinstance(labels[0], list | tuple)


def _groups_by_label(labels, size, seed, groups):
    """Chooses whole groups by label, in two passes in random order.

    In the first pass, a group is held out if this brings the counts of the
    labels closer to the target. For a rare label, the target may be less than
    half a row, so the second pass adds one row of such labels, until there are
    enough rows. `sklearn.model_selection.StratifiedGroupKFold` would make one
    pass for every `size` rows, and supports only one label per row.
    """
    count = len(labels)
    integer("size", size, 0, count - 1)
    if len(groups) != count:
        raise ValueError(
            "`groups` must have the group of each text. "
            f"Received: {len(groups)} groups of {count} texts"
        )
    indices = collections.defaultdict(list)
    for index, group in enumerate(groups):
        indices[group].append(index)
    members = list(indices.values())
    random.Random(seed).shuffle(members)
    several = labels if has_several(labels) else [(x,) for x in labels]
    names = sorted(set(itertools.chain(*several)))
    numbers = {name: number for number, name in enumerate(names)}
    # Rows without labels are a class of their own.
    classes = [[numbers[x] for x in row] or [len(names)] for row in several]
    left = np.bincount(list(itertools.chain(*classes)))
    missing, held_out = left * (size / count), []

    def counted(group):
        """Returns the number of rows of each class in a group."""
        numbers = itertools.chain(*(classes[row] for row in group))
        return np.bincount(list(numbers), minlength=len(left))

    def is_nearer(group, counts):
        return np.sum((missing - counts) ** 2) < np.sum(missing**2)

    def has_room(group, counts):
        has_of_each = np.all((counts == 0) | (missing - counts > -1))
        return len(held_out) + len(group) <= size and has_of_each

    for is_wanted in (is_nearer, has_room):
        others = []
        for group in members:
            counts = counted(group)
            leaves_all = np.all((counts == 0) | (counts < left))
            if is_wanted(group, counts) and leaves_all:
                held_out += group
                left, missing = left - counts, missing - counts
            else:
                others.append(group)
        members = others
    if held_out:
        return held_out
    # All groups are too large.
    possible = [
        group
        for group in members
        if np.all((counted(group) == 0) | (counted(group) < left))
    ]
    if not possible:
        raise CorpusError(
            "No group can be held out, because each has all texts of a class. "
            "Expected: a group that leaves a training text in each class. "
            f"Received: {count} texts of {np.count_nonzero(left)} classes in "
            f"{len(members)} groups"
        )
    return min(possible, key=len)


# Texts that count as the same.


@functools.cache
def _no_punctuation():
    """Returns a table for `str.translate` that removes punctuation."""
    characters = map(chr, range(sys.maxunicode + 1))
    marks = (x for x in characters if unicodedata.category(x)[0] == "P")
    return str.maketrans("", "", "".join(marks))


def source_key(text: str) -> str:
    """Returns a key that is equal for near-identical sentences.

    The key ignores case, punctuation (Unicode category P), the Unicode
    normalization form, the amount of white space, and invisible characters
    including joiners. A sentence with only punctuation keeps it.

    Args:
        text: String, a sentence.

    Returns:
        A string that is equal for sentences that count as the same.

    Example:

    >>> source_key("Hello!") == source_key("hello")
    True
    >>> source_key("  I don't   know.")
    'i dont know'
    """
    text = unicodedata.normalize("NFC", appearance(text).casefold())
    kept = text.translate(_no_punctuation())
    return " ".join((kept.strip() or text).split())
