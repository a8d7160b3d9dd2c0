"""Texts with labels."""

from typing import Any
from typing import NamedTuple

from kerasrnn.data.stratified_splits import has_several
from kerasrnn.typing import Strings


class LabelledTexts(NamedTuple):
    """Texts and their labels.

    Args:
        texts: List of strings.
        labels: List with one label for each text: non-negative integers, the
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
