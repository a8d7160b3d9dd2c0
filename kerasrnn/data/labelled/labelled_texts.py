"""Texts with labels, and a stratified split."""

from collections.abc import Sequence
from typing import Any
from typing import NamedTuple

from kerasrnn.data.stratified_splits import has_several
from kerasrnn.data.stratified_splits import stratified
from kerasrnn.typing import Strings


class LabelledTexts(NamedTuple):
    """Texts and their labels.

    Args:
        texts: List of strings.
        labels: List with one label for each text: integers from 0, the
            classes; or, for two classes, the probabilities of class 1. For
            texts with several labels, or none, tuples of integers.
    """

    texts: list[str]
    labels: list[Any]


class LabelledCorpus(NamedTuple):
    """The texts of a labelled corpus.

    Args:
        train: `LabelledTexts` of the training set.
        test: `LabelledTexts` of the test set; `None` if there is none.
        unlabelled: List of strings, texts without a label.
        label_names: List of strings, the names of the labels 0, 1, ...
        groups: Dict from texts, with or without a label, to what they belong
            to, such as the film that a review is about, or its author. `None`
            if that is unknown.
    """

    train: LabelledTexts
    test: LabelledTexts | None
    unlabelled: list[str]
    label_names: list[str]
    groups: dict[str, str] | None = None

    def groups_of(self, texts: Strings) -> list[str]:
        """The group of each text; one without a group is its own."""
        groups = self.groups or {}
        return [groups.get(text, text) for text in texts]


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
    brings the numbers of texts of the classes nearer to those wanted. So are
    texts with several labels; those without a label count as one more class.

    Args:
        texts: `LabelledTexts` to split.
        size: Integer, the number of texts to hold out: 0, or at least the
            number of classes that have several texts. With `groups`, or
            several labels a text, any number below that of the texts.
        seed: Non-negative integer. The same texts and seed give the same
            split.
        groups: List with the group of each text, such as its author. Defaults
            to `None`: each text is held out by itself.

    Returns:
        A tuple `(train, validation)` of `LabelledTexts`. The second has
        `size` texts; with `groups`, or several labels a text, about as many.

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
    train, held_out = stratified(texts.labels, size, seed, groups)
    return select(texts, train), select(texts, held_out)


def select(texts, indices):
    """Returns the texts at the given indices, with their labels."""
    return LabelledTexts(
        [texts.texts[index] for index in indices],
        [texts.labels[index] for index in indices],
    )


def renumbered(texts, numbers):
    """Returns the texts with other numbers of their labels.

    Args:
        texts: `LabelledTexts`, whose labels are classes.
        numbers: List, the new number of each class.
    """
    if has_several(texts.labels):
        labels = [tuple(sorted(numbers[n] for n in x)) for x in texts.labels]
    else:
        labels = [numbers[n] for n in texts.labels]
    return texts._replace(labels=labels)


def first_of_each(texts, limit, shares):
    """Returns the first texts of each class, in their order.

    Args:
        texts: `LabelledTexts`, whose labels are classes. With several labels
            a text, the first are kept whatever their labels.
        limit: Integer, how many texts to keep.
        shares: List, how many texts to keep of each class.
    """
    if has_several(texts.labels):
        return select(texts, range(min(limit, len(texts.texts))))
    left = list(shares)
    indices = []
    for index, label in enumerate(texts.labels):
        if left[label]:
            left[label] -= 1
            indices.append(index)
    return select(texts, indices)
