"""Splits of rows that keep the proportions of their labels."""

import collections
import itertools
import random

import numpy as np

from kerasrnn.arguments import is_integer
from kerasrnn.data.errors import CorpusError
from kerasrnn.optional import needs


def stratified(labels, size, seed, groups=None):
    """The indices of rows to train on and to hold out, in order, by label.

    Args:
        labels: The label of each row; or a list or tuple of labels, which may
            be empty.
        size: Non-negative integer, how many rows to hold out. With groups, or
            several labels a row, it is about as many.
        seed: Non-negative integer.
        groups: The group of each row, whole ones of which are held out.
            Defaults to `None`: each row by itself.
    """
    chosen = []
    if groups is None and has_several(labels):
        groups = range(len(labels))
    if size != 0 and groups is None:
        chosen = _single_rows(labels, size, seed)
    elif size != 0:
        chosen = _groups_by_label(labels, size, seed, groups)
    held_out = set(chosen)
    rest = [index for index in range(len(labels)) if index not in held_out]
    return rest, sorted(held_out)


def _single_rows(labels, size, seed):
    with needs("scikit-learn", "recipes"):
        from sklearn.model_selection import train_test_split

    counts = collections.Counter(labels)
    several = {label for label, count in counts.items() if count > 1}
    indices = [n for n, label in enumerate(labels) if label in several]
    least, most = len(several), len(indices) - len(several)
    received = f"{len(labels)} texts of {len(counts)} classes"
    if not several:
        raise CorpusError(
            "Holding out texts needs a class with at least two: no class has "
            f"two. Received: {received}, size={size!r}"
        )
    if not (is_integer(size) and least <= size <= most):
        raise ValueError(
            "`size` must be an integer that leaves each class a text to train "
            f"on and one to hold out: 0, or from {least} to {most} of these "
            f"{received}. Received: size={size!r}"
        )
    kept = [labels[index] for index in indices]
    _, held_out = train_test_split(
        indices, test_size=size, stratify=kept, random_state=seed
    )
    taken = collections.Counter(labels[index] for index in held_out)
    for label, count in taken.items():
        if count == counts[label]:
            raise ValueError(
                "`size` must leave each class a text to train on, but it takes "
                f"all {count} of class {label!r}. Received: size={size}"
            )
    return held_out


def has_several(labels):
    """Whether rows have lists or tuples of labels."""
    return len(labels) > 0 and isinstance(labels[0], list | tuple)


def _groups_by_label(labels, size, seed, groups):
    """The indices of whole groups, chosen in two passes in random order.

    In the first, each is held out that brings the numbers of rows of the labels
    nearer to those wanted. Of a label that few rows have, less than half a row
    may be wanted: the second pass takes one of it, until there are enough rows.
    `sklearn.model_selection.StratifiedGroupKFold` would make one pass for every
    `size` rows, and takes one label a row.
    """
    count = len(labels)
    if not (is_integer(size) and 0 < size < count):
        raise ValueError(
            "`size` must be a non-negative integer, less than the number of "
            f"texts, {count}. Received: size={size!r}"
        )
    if len(groups) != count:
        raise ValueError(
            "`groups` must have the group of each text. "
            f"Received: {len(groups)} groups of {count} texts"
        )
    indices = {}
    for index, group in enumerate(groups):
        indices.setdefault(group, []).append(index)
    members = list(indices.values())
    random.Random(seed).shuffle(members)
    held_out, others = _HeldOut(_class_numbers(labels), size), []
    for group in members:
        if not held_out.add_if_nearer(group):
            others.append(group)
    for group in others:
        held_out.add_if_room(group)
    if held_out.rows:
        return held_out.rows
    # All are too large.
    possible = [group for group in members if held_out.leaves_all(group)]
    if not possible:
        raise CorpusError(
            "Holding out whole groups, or texts with several labels, needs one "
            "that leaves each class a text to train on. Received: "
            f"{count} texts of {np.count_nonzero(held_out.left)} classes in "
            f"{len(members)} groups"
        )
    return min(possible, key=len)


class _HeldOut:
    """Groups of rows that are held out, in about the shares of all classes.

    Args:
        classes: For each row a tuple of the numbers of its classes.
        size: Integer, how many rows to hold out.

    Attributes:
        rows: List of the indices of the rows that are held out.
        left: Array, the numbers of rows of each class to train on.
    """

    def __init__(self, classes, size):
        self.rows, self._classes, self._size = [], classes, size
        self.left = np.bincount(list(itertools.chain.from_iterable(classes)))
        self._missing = self.left * (size / len(classes))

    def add_if_nearer(self, group):
        """Holds out a group that brings the numbers nearer to those wanted.

        Returns whether it did.
        """
        if (self._missing <= 0.5).all():
            return False  # no group does, and none need be counted
        missing = self._missing - self._counts(group)
        is_nearer = np.sum(missing**2) < np.sum(self._missing**2)
        return is_nearer and self._add(group)

    def add_if_room(self, group):
        """Holds out a group that has at most one row of a class too many."""
        if len(self.rows) + len(group) > self._size:
            return
        counts = self._counts(group)
        has_room = (counts == 0) | (self._missing - counts > -1)
        if has_room.all():
            self._add(group)

    def leaves_all(self, group):
        """Whether each class keeps a row to train on without a group."""
        counts = self._counts(group)
        return np.all((counts == 0) | (counts < self.left))

    def _add(self, group):
        if not self.leaves_all(group):
            return False
        counts = self._counts(group)
        self.rows += group
        self.left, self._missing = self.left - counts, self._missing - counts
        return True

    def _counts(self, group):
        """The numbers of rows of each class in a group."""
        numbers = itertools.chain.from_iterable(
            self._classes[row] for row in group
        )
        return np.bincount(list(numbers), minlength=len(self.left))


def _class_numbers(labels):
    """For each row a tuple of the numbers of its classes.

    Rows that may have several labels, but have none, are one more class.
    """
    if not has_several(labels):
        labels = [(label,) for label in labels]
    names = sorted({name for row in labels for name in row})
    numbers = {name: number for number, name in enumerate(names)}
    return [tuple(numbers[x] for x in row) or (len(names),) for row in labels]
