"""Splits of labelled corpora without common texts or groups."""

import collections
from collections.abc import Sequence

from kerasrnn.data.labelled_corpus import LabelledCorpus
from kerasrnn.data.labelled_corpus import LabelledTexts
from kerasrnn.data.labelled_corpus import select
from kerasrnn.data.splits import has_several
from kerasrnn.data.splits import say_removed
from kerasrnn.data.splits import source_key
from kerasrnn.data.splits import stratified
from kerasrnn.data.splits import unequal


def hold_out(
    texts: LabelledTexts,
    size: int,
    seed: int,
    groups: Sequence[str] | None = None,
) -> tuple[LabelledTexts, LabelledTexts]:
    """Splits labelled texts at random, stratified by label.

    It uses `sklearn.model_selection.train_test_split`, so both parts have about
    the same proportions of classes. The order of the texts is kept. A class
    with a single text stays in the training part.

    With `groups`, whole groups are held out. They are tried in random order,
    and a group is held out if this brings the counts of the classes closer to
    the target. Multi-label texts are held out in the same way. Texts without a
    label count as an additional class.

    Args:
        texts: `LabelledTexts` to split.
        size: Integer, the number of texts to hold out: 0, or at least the
            number of classes with several texts. With `groups` or multi-label
            texts, any number below that of the texts.
        seed: Non-negative integer. The same texts and seed give the same
            split.
        groups: List with the group of each text, such as its author. Defaults
            to `None`, no groups.

    Returns:
        A tuple `(train, validation)` of `LabelledTexts`. The second has `size`
        texts; with `groups` or multi-label texts, approximately.

    Raises:
        CorpusError: If no class has two texts, or no group can be held out,
            because each has all texts of a class. It is a `ValueError`.
        ValueError: If `size` is invalid, or would leave a class without
            training texts.

    Example:

    >>> texts = LabelledTexts(["good", "bad", "great", "dull"], [1, 0, 1, 0])
    >>> train, validation = hold_out(texts, size=2, seed=0)
    >>> sorted(validation.labels)
    [0, 1]
    """
    train, held_out = stratified(texts.labels, size, seed, groups)
    return select(texts, train), select(texts, held_out)


def split_labelled_corpus(
    corpus: LabelledCorpus, size: int, seed: int
) -> tuple[LabelledCorpus, LabelledTexts]:
    """Splits a validation set from the training set.

    Copies of validation and test texts (compared by `source_key`) are removed
    from the training set and the unlabelled texts, and counted in a
    `CorpusWarning`. If the corpus has groups, such as the reviews of a film,
    whole groups are held out, and their unlabelled texts are removed, too.
    Without groups, texts are held out individually. If texts belong together,
    such as those of an author, scores are then higher than on texts of new
    authors.

    Args:
        corpus: `LabelledCorpus`.
        size: Positive integer, number of texts to hold out; see `hold_out`. It
            is limited to a fifth of the texts of classes with several texts,
            but at least the number of these classes. With groups or multi-label
            texts, it is approximate.
        seed: Non-negative integer. The same corpus and seed give the same
            split.

    Returns:
        A tuple `(corpus, validation)`: a `LabelledCorpus` of the remaining
        texts, and the `LabelledTexts` of the validation set.

    Raises:
        CorpusError: If no training texts are left, or there are too few to hold
            any out. It is a `ValueError`.

    Example:

    >>> texts = LabelledTexts(["good", "bad", "great", "dull"], [1, 0, 1, 0])
    >>> corpus = LabelledCorpus(texts, None, ["dull", "so-so"], ["neg", "pos"])
    >>> corpus, validation = split_labelled_corpus(corpus, size=2, seed=0)
    >>> len(corpus.train.texts), len(validation.texts)
    (2, 2)
    """
    texts, groups = corpus.train, None
    if corpus.groups is not None:
        groups = corpus.groups_of(texts.texts)
    elif has_several(texts.labels):
        groups = list(map(source_key, texts.texts))
    counts = collections.Counter(texts.labels)
    several = [count for count in counts.values() if count > 1]
    if has_several(texts.labels):
        size = max(1, min(size, len(texts.texts) // 5))
    else:
        # At least 1, so that `hold_out` refuses a corpus without such classes.
        size = max(1, len(several), min(size, sum(several) // 5))
    train, validation = hold_out(texts, size, seed, groups)
    left, gone = _without(corpus._replace(train=train), validation)
    if groups is None and set(left.train.labels) < counts.keys():
        # All texts of a class were copies of held-out texts.
        groups = list(map(source_key, texts.texts))
        train, validation = hold_out(texts, size, seed, groups)
        left, gone = _without(corpus._replace(train=train), validation)
    _say_removed(gone, train, corpus.unlabelled)
    return left, validation


def without_texts(
    corpus: LabelledCorpus, held_out: LabelledTexts
) -> LabelledCorpus:
    """Removes copies of held-out and test texts from the training set.

    A `CorpusWarning` tells how many.

    Args:
        corpus: `LabelledCorpus`.
        held_out: `LabelledTexts` to remove with their groups, in addition to
            those of the test set.

    Returns:
        A `LabelledCorpus` without these texts in its training set and
        unlabelled texts.

    Raises:
        CorpusError: If no training texts are left. It is a `ValueError`.
    """
    left, gone = _without(corpus, held_out)
    _say_removed(gone, corpus.train, corpus.unlabelled)
    return left


def how_held_out(
    corpus: LabelledCorpus, held_out: LabelledTexts, advise: bool = True
) -> dict[str, str | int]:
    """Returns whether whole groups were held out, and prints it.

    Without groups, it prints how to name a group column, if `advise` is set.

    Args:
        corpus: `LabelledCorpus` to train on.
        held_out: `LabelledTexts` of the validation set.
        advise: Whether to print how to name a group column; generated corpora
            have none.

    Returns:
        A dictionary for a card: `"by"`, which is `"text"` or `"group"`, and for
        the latter the number of `"groups"`.

    Example:

    >>> texts = LabelledTexts(["good", "bad"], [1, 0])
    >>> corpus = LabelledCorpus(texts, None, [], ["neg", "pos"])
    >>> corpus = corpus._replace(groups={"good": "Up", "fine": "Heat"})
    >>> how_held_out(corpus, LabelledTexts(["fine"], [1]))["by"]
    Groups whose texts are held out, such as films: 1.
    'group'
    """
    groups, learnt = (
        set(corpus.groups_of(part.texts)) for part in (held_out, corpus.train)
    )
    if corpus.groups is None or groups & learnt:
        if advise:
            print(
                "Note: texts were split at random. If several share an author, "
                "a product or a\nfilm, name that column to avoid leakage: "
                "`group_column`, in a recipe\n--group-column COLUMN."
            )
        return {"by": "text"}
    print(f"Groups whose texts are held out, such as films: {len(groups)}.")
    return {"by": "group", "groups": len(groups)}


def _without(corpus, held_out):
    """Returns the corpus without held-out texts, and removed counts."""
    tested = corpus.test.texts if corpus.test else ()
    taken = set(map(source_key, (*held_out.texts, *tested)))
    taken_groups = set(corpus.groups_of(held_out.texts))

    def are_taken(texts):
        return [
            source_key(text) in taken or group in taken_groups
            for text, group in zip(texts, corpus.groups_of(texts), strict=True)
        ]

    train, unlabelled = map(are_taken, (corpus.train.texts, corpus.unlabelled))
    indices, gone = unequal(train, range(len(train)), {True})
    more = zip(corpus.unlabelled, unlabelled, strict=True)
    left = corpus._replace(
        train=select(corpus.train, indices),
        unlabelled=[text for text, is_taken in more if not is_taken],
    )
    return left, (gone, sum(unlabelled))


def _say_removed(gone, train, unlabelled):
    why = "they, or their groups, are held out or in the test set"
    say_removed("training texts", gone[0], len(train.texts), why)
    say_removed("texts without a label", gone[1], len(unlabelled), why)
