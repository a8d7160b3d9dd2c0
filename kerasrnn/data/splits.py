"""Splits of rows: no row to train on equals one that is held out."""

import random
from collections.abc import Hashable
from collections.abc import Sequence

from kerasrnn.arguments import is_integer
from kerasrnn.data.errors import CorpusError
from kerasrnn.data.errors import CorpusWarning
from kerasrnn.data.stratified_splits import stratified
from kerasrnn.data.tables.rows import Rows
from kerasrnn.warning import warn


def split_rows(
    rows: Rows,
    size: int,
    seed: int,
    by: str | None = None,
    group: str | None = None,
    stratify: str | None = None,
) -> tuple[Rows, Rows]:
    """Holds out rows at random: no row to train on equals one of them.

    Args:
        rows: `Rows` to split.
        size: Positive integer, how many rows to hold out. Whole groups are
            about as many.
        seed: Non-negative integer. The same rows and seed give the same split.
        by: String, the column in which rows must not be equal. Defaults to
            `None`: all columns together.
        group: String, a column of what rows belong to, such as an author.
            Rows of one stay together. Defaults to `None`: rows that are equal
            stay together.
        stratify: String, a column such as the label, whose values are held
            out in the same proportions. Then rows that are equal may be
            separated, and those to train on that equal one held out are
            removed, which a `CorpusWarning` counts.

    Returns:
        A tuple `(train, held_out)` of `Rows`, in their order.

    Raises:
        CorpusError: If no rows can be held out, or none is left.
        ValueError: If `size` does not fit the number of rows, or a column is
            unknown.

    Example:

    >>> rows = read_rows(
    ...     [{"text": text, "by": by} for text, by in zip("abcd", "xyxz")],
    ...     text=None, group="by",
    ... )
    >>> train, held_out = split_rows(rows, 2, seed=1, group="group")
    >>> set(train["group"]) & set(held_out["group"])
    set()
    """
    for name in filter(None, (by, group, stratify)):
        if name not in rows.columns:
            raise ValueError(
                "`by`, `group` and `stratify` must be columns of the rows, of "
                f"{', '.join(map(repr, rows.columns))}. Received: {name!r}"
            )
    columns = [rows[by]] if by else list(rows.columns.values())
    keys = list(map(repr, zip(*columns, strict=True)))
    groups = rows[group] if group else None
    if stratify is None:
        train, held_out = whole_groups(groups or keys, size, seed, "size")
        train, held_out = sorted(train), sorted(held_out)
    else:
        train, held_out = stratified(rows[stratify], size, seed, groups)
    indices, gone = unequal(keys, train, {keys[index] for index in held_out})
    say_removed("rows", gone, len(train), "they equal rows that are held out")
    return rows.select(indices), rows.select(held_out)


def whole_groups(
    groups: Sequence[Hashable], size: int, seed: int, name: str
) -> tuple[list[int], list[int]]:
    """The indices of groups to train on and to hold out, in random order.

    The groups are shuffled. Each is held out if it still fits, and trained on
    otherwise. If none fits, the smallest is held out nevertheless.

    Args:
        groups: The group of each row.
        size: Non-negative integer, how many rows to hold out.
        seed: Integer.
        name: String, the name of `size` in messages.
    """
    indices: dict[Hashable, list[int]] = {}
    for index, group in enumerate(groups):
        indices.setdefault(group, []).append(index)
    members, count = list(indices.values()), len(groups)
    if size and len(members) < 2:
        raise CorpusError(
            "Holding out rows needs at least two that differ, but all have the "
            f"same source or group. Received: {count} rows, {name}={size}"
        )
    if not (is_integer(size) and 0 <= size < count):
        raise ValueError(
            f"`{name}` must be a non-negative integer, less than the number "
            f"of rows, {count}. Received: {name}={size!r}"
        )
    rng = random.Random(seed)
    rng.shuffle(members)
    if size:
        size = max(size, min(map(len, members)))
    train: list[int] = []
    held_out: list[int] = []
    for member in members:
        fits = len(held_out) + len(member) <= size
        (held_out if fits else train).extend(member)
    # Separate the rows of one group, which are contiguous so far.
    rng.shuffle(train)
    rng.shuffle(held_out)
    return train, held_out


def unequal(keys, indices, taken):
    """The indices of rows whose keys are not taken, and how many others.

    Args:
        keys: The key of each row.
        indices: The indices to choose from.
        taken: Set of the keys of rows that are not to be trained on.

    Raises:
        CorpusError: If all of one or more rows are taken.
    """
    left = [index for index in indices if keys[index] not in taken]
    if indices and not left:
        raise CorpusError(
            "No row is left to train on. Expected: some that are not held out "
            f"or in the test set. Received: {len(indices)} rows, all of them "
            "held out or in the test set"
        )
    return left, len(indices) - len(left)


def say_removed(what, gone, count, why):
    """Warns of rows that are not trained on, if there are any."""
    if gone:
        warn(
            f"{gone:,} of {count:,} {what} are not trained on: {why}",
            CorpusWarning,
        )
