"""Parts of a labelled corpus that share no text and no group."""

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


def split_labelled_corpus(
    corpus: LabelledCorpus, size: int, seed: int
) -> tuple[LabelledCorpus, LabelledTexts]:
    """Holds out texts of the training set for validation.

    Texts that also occur in the validation or test set, as `source_key` tells,
    are removed from the training set and from the texts without a label, and
    a `CorpusWarning` counts them. If the corpus has groups, such as the reviews
    of a film, whole groups are held out, and their texts without a label are
    removed, too. Otherwise texts are held out one by one: if some belong
    together, such as those of one author, a score on them is higher than on
    those of new authors.

    Args:
        corpus: `LabelledCorpus`.
        size: Positive integer, how many texts of the training set to hold
            out; see `hold_out`. At most a fifth of those whose class has
            several are held out, but at least as many as there are such
            classes: about one of each, fewer of small classes if others are
            much larger. With groups, or several labels a text, it is about
            as many.
        seed: Non-negative integer. The same corpus and seed give the same
            split.

    Returns:
        A tuple `(corpus, validation)`: a `LabelledCorpus` of the remaining
        texts, and `LabelledTexts` to validate on.

    Raises:
        CorpusError: If no text is left to train on, or there are too few to
            hold any out. It is a `ValueError`.

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
        groups = _copies(texts)
    counts = collections.Counter(texts.labels)
    several = [count for count in counts.values() if count > 1]
    if has_several(texts.labels):
        size = max(1, min(size, len(texts.texts) // 5))
    else:
        # At least 1, so that `hold_out` refuses a corpus without such a class.
        size = max(1, len(several), min(size, sum(several) // 5))
    train, validation = hold_out(texts, size, seed, groups)
    left, gone = _without(corpus._replace(train=train), validation)
    if groups is None and set(left.train.labels) < counts.keys():
        # A class consisted of copies of a held-out text.
        train, validation = hold_out(texts, size, seed, _copies(texts))
        left, gone = _without(corpus._replace(train=train), validation)
    _say_removed(gone, train, corpus.unlabelled)
    return left, validation


def without_texts(
    corpus: LabelledCorpus, held_out: LabelledTexts
) -> LabelledCorpus:
    """Removes held-out texts and those of the test set from the training.

    A `CorpusWarning` says how many, if any.

    Args:
        corpus: `LabelledCorpus`.
        held_out: `LabelledTexts` to remove with their groups, besides the
            texts of the test set.

    Returns:
        A `LabelledCorpus` whose training set and texts without a label have
        none of them.

    Raises:
        CorpusError: If no text is left to train on. It is a `ValueError`.
    """
    left, gone = _without(corpus, held_out)
    _say_removed(gone, corpus.train, corpus.unlabelled)
    return left


def how_held_out(
    corpus: LabelledCorpus, held_out: LabelledTexts, advise: bool = True
) -> dict[str, str | int]:
    """Says whether held-out texts have their groups for themselves.

    It prints it, too, unless there is nothing to advise.

    Args:
        corpus: `LabelledCorpus` to train on.
        held_out: `LabelledTexts` to validate on.
        advise: Whether to print how to name groups; a generated corpus has no
            columns.

    Returns:
        A dictionary for a card: `"by"`, `"text"` or `"group"`, and in the
        second case the number of `"groups"`.

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


def _copies(texts):
    """Groups that keep copies of a text together."""
    return list(map(source_key, texts.texts))


def _without(corpus, held_out):
    """The corpus without held-out texts, and how many of both parts went."""
    tested = corpus.test.texts if corpus.test else ()
    taken = set(map(source_key, (*held_out.texts, *tested)))
    taken_groups = set(corpus.groups_of(held_out.texts))

    def are_taken(texts):
        groups = corpus.groups_of(texts)
        return [
            source_key(text) in taken or group in taken_groups
            for text, group in zip(texts, groups, strict=True)
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
