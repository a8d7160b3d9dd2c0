"""Texts with labels, and a stratified split."""

import collections
import numbers
import random
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kerasrnn.data.errors import CorpusError


class LabelledTexts(NamedTuple):
    """Texts and their labels.

    Args:
        texts: List of strings.
        labels: List with one label for each text: integers from 0, the
            classes; or, for two classes, the probabilities of class 1.
    """

    texts: list[str]
    labels: list[int] | list[float]


def hold_out(
    texts: LabelledTexts,
    size: int,
    seed: int,
    groups: Sequence[str] | None = None,
) -> tuple[LabelledTexts, LabelledTexts]:
    """Splits labelled texts at random, stratified by label.

    It uses `sklearn.model_selection.train_test_split`: both sides have the
    classes in about the same proportions. Both keep the order of the texts. A
    class with a single text stays in the training side.

    With `groups`, whole groups are held out: in random order, each one that
    brings the numbers of texts of the classes nearer to those wanted.

    Args:
        texts: `LabelledTexts` to split.
        size: Integer, the number of texts to hold out: 0, or at least the
            number of classes that have several texts. With `groups`, any
            number below that of the texts.
        seed: Non-negative integer. The same texts and seed give the same
            split.
        groups: List with the group of each text, such as its author. Defaults
            to `None`: each text is held out by itself.

    Returns:
        A tuple `(train, validation)` of `LabelledTexts`. The second has
        `size` texts; with `groups` about as many, as whole groups allow.

    Raises:
        CorpusError: If no class has two texts; or if no group can be held
            out, because each has all texts of a class. It is a `ValueError`.
        ValueError: If `size` is not such an integer, or leaves a class
            without a text to train on.

    Example:

    >>> texts = LabelledTexts(["good", "bad", "great", "dull"], [1, 0, 1, 0])
    >>> train, validation = hold_out(texts, size=2, seed=0)
    >>> sorted(validation.labels)
    [0, 1]
    """
    if size == 0:
        return texts, LabelledTexts([], [])
    if groups is None:
        held_out = _single_texts(texts, size, seed)
    else:
        held_out = _whole_groups(texts, size, seed, groups)
    rest = sorted(set(range(len(texts.texts))) - set(held_out))
    return select(texts, rest), select(texts, sorted(held_out))


def _single_texts(texts, size, seed):
    """The places of texts to hold out."""
    from sklearn.model_selection import train_test_split

    counts = collections.Counter(texts.labels)
    several = {label for label, count in counts.items() if count > 1}
    places = [n for n, label in enumerate(texts.labels) if label in several]
    least, most = len(several), len(places) - len(several)
    received = f"{len(texts.texts)} texts of {len(counts)} classes"
    if not several:
        raise CorpusError(
            "Holding out texts needs a class with at least two: no class has "
            f"two. Received: {received}, size={size!r}"
        )
    if not (isinstance(size, numbers.Integral) and least <= size <= most):
        raise ValueError(
            "`size` must be an integer that leaves each class a text to train "
            f"on and one to hold out: 0, or from {least} to {most} of these "
            f"{received}. Received: size={size!r}"
        )
    labels = [texts.labels[place] for place in places]
    _, held_out = train_test_split(
        places, test_size=size, stratify=labels, random_state=seed
    )
    taken = collections.Counter(texts.labels[place] for place in held_out)
    for label, count in taken.items():
        if count == counts[label]:
            raise ValueError(
                "`size` must leave each class a text to train on, but it takes "
                f"all {count} of class {label!r}. Received: size={size}"
            )
    return held_out


def _whole_groups(texts, size, seed, groups):
    """The places of texts to hold out, all those of some groups.

    One pass over the groups. `sklearn.model_selection.StratifiedGroupKFold`
    would make one for every `size` texts.
    """
    if not (isinstance(size, numbers.Integral) and 0 < size < len(texts.texts)):
        raise ValueError(
            "`size` must be an integer, at least 0 and less than the number of "
            f"texts, {len(texts.texts)}. Received: size={size!r}"
        )
    if len(groups) != len(texts.texts):
        raise ValueError(
            "`groups` must have the group of each text. "
            f"Received: {len(groups)} groups of {len(texts.texts)} texts"
        )
    places = {}
    for place, group in enumerate(groups):
        places.setdefault(group, []).append(place)
    members = list(places.values())
    random.Random(seed).shuffle(members)
    classes, labels = np.unique(texts.labels, return_inverse=True)
    counts = [np.bincount(labels[m], minlength=len(classes)) for m in members]
    left = np.bincount(labels)
    missing = left * (size / len(texts.texts))

    def may_leave(count):  # each class keeps a text to train on
        return np.all((count == 0) | (count < left))

    held_out = []
    for group, count in zip(members, counts, strict=True):
        nearer = np.sum((missing - count) ** 2) < np.sum(missing**2)
        if nearer and may_leave(count):
            held_out += group
            left, missing = left - count, missing - count
    if not held_out:  # all are too large
        pairs = zip(members, counts, strict=True)
        small = [group for group, count in pairs if may_leave(count)]
        held_out = min(small, key=len, default=None)
    if held_out is None:
        raise CorpusError(
            "Holding out whole groups needs one that leaves each class a text "
            f"to train on. Received: {len(texts.texts)} texts of "
            f"{len(classes)} classes in {len(members)} groups"
        )
    return held_out


def select(texts, places):
    """Returns the texts at the given places, with their labels."""
    return LabelledTexts(
        [texts.texts[place] for place in places],
        [texts.labels[place] for place in places],
    )
