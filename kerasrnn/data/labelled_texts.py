"""Texts with labels, and a stratified split."""

import collections
from typing import NamedTuple

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
    texts: LabelledTexts, size: int, seed: int
) -> tuple[LabelledTexts, LabelledTexts]:
    """Splits labelled texts at random, stratified by label.

    It uses `sklearn.model_selection.train_test_split`: both sides have the
    classes in about the same proportions. Both keep the order of the texts. A
    class with a single text stays in the training side.

    Args:
        texts: `LabelledTexts` to split.
        size: Integer, the number of texts to hold out: 0, or at least the
            number of classes that have several texts.
        seed: Non-negative integer. The same texts and seed give the same
            split.

    Returns:
        A tuple `(train, validation)` of `LabelledTexts`. The second has
        `size` texts.

    Raises:
        CorpusError: If no class has two texts. It is a `ValueError`.
        ValueError: If `size` is not such an integer, or leaves a class
            without a text to train on.

    Example:

    >>> texts = LabelledTexts(["good", "bad", "great", "dull"], [1, 0, 1, 0])
    >>> train, validation = hold_out(texts, size=2, seed=0)
    >>> sorted(validation.labels)
    [0, 1]
    """
    from sklearn.model_selection import train_test_split

    if size == 0:
        return texts, LabelledTexts([], [])
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
    if not (isinstance(size, int) and least <= size <= most):
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
    rest = sorted(set(range(len(texts.texts))) - set(held_out))
    return select(texts, rest), select(texts, sorted(held_out))


def select(texts, places):
    """Returns the texts at the given places, with their labels."""
    return LabelledTexts(
        [texts.texts[place] for place in places],
        [texts.labels[place] for place in places],
    )
