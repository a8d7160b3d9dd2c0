import collections

import pytest

from kerasrnn.data.labelled_corpus import LabelledTexts
from kerasrnn.data.labelled_splits import hold_out
from kerasrnn.data.report import CorpusError


def labelled(positive, negative):
    texts = [f"good {n}" for n in range(positive)]
    texts += [f"bad {n}" for n in range(negative)]
    return LabelledTexts(texts, [1] * positive + [0] * negative)


@pytest.mark.parametrize(
    ("positive", "negative", "size", "held_out"),
    [
        (50, 50, 20, (10, 10)),
        (75, 25, 20, (15, 5)),
        (50, 50, 0, (0, 0)),
        (50, 50, 98, (49, 49)),
        (66, 34, 10, (7, 3)),  # 6.6 and 3.4
        (34, 66, 10, (3, 7)),
    ],
)
def test_hold_out(positive, negative, size, held_out):
    texts = labelled(positive, negative)
    train, validation = hold_out(texts, size, seed=3)
    counts = collections.Counter(validation.labels)
    assert (counts[1], counts[0]) == held_out
    kept = set(zip(*train, strict=True))
    out = set(zip(*validation, strict=True))
    assert not kept & out
    assert kept | out == set(zip(*texts, strict=True))
    assert len(train.texts) + size == positive + negative


def test_hold_out_keeps_the_order():
    texts = LabelledTexts(list("abcdefghijkl"), [0, 1, 1] * 4)
    for part in hold_out(texts, 6, seed=0):
        assert part.texts == sorted(part.texts)
        assert isinstance(part, LabelledTexts)


def test_the_seed_decides_what_is_held_out():
    texts = labelled(50, 50)
    first, again, other = (hold_out(texts, 10, seed) for seed in (0, 0, 1))
    assert first == again
    assert first[1] != other[1]


def test_whole_groups_of_any_size():
    """The classes are held out alike, as far as whole groups allow."""
    texts = labelled(60, 30)
    groups = [f"group {n % 7 * (n % 5)}" for n in range(90)]
    train, validation = hold_out(texts, 30, 0, groups)
    group = dict(zip(texts.texts, groups, strict=True))
    found, rest = (
        {group[text] for text in part.texts} for part in (validation, train)
    )
    assert not found & rest
    counts = collections.Counter(validation.labels)
    assert abs(counts[1] - 20) <= 4 and abs(counts[0] - 10) <= 4
    # The smallest, where all are too large.
    groups = 40 * ["a"] + 30 * ["b"] + 20 * ["c"]
    texts = texts._replace(labels=45 * [0, 1])
    assert len(hold_out(texts, 1, 0, groups)[1].texts) == 20


def test_groups_that_cannot_be_held_out():
    texts = labelled(2, 2)
    with pytest.raises(CorpusError, match="4 texts of 2 classes in 2 groups"):
        hold_out(texts, 2, 0, ["a", "a", "b", "b"])
    with pytest.raises(ValueError, match="3 groups of 4 texts"):
        hold_out(texts, 2, 0, ["a", "a", "b"])
    with pytest.raises(ValueError, match="number of texts, 4. .*size=4"):
        hold_out(texts, 4, 0, ["a", "b", "a", "b"])


@pytest.mark.parametrize("size", [-1, 1, 9, 10, 11, 2.5, "3", None])
def test_sizes_that_do_not_fit(size):
    with pytest.raises(ValueError, match="0, or from 2 to 8 of .* 10 texts"):
        hold_out(labelled(5, 5), size, seed=0)


def test_a_class_keeps_a_text_to_train_on():
    train, validation = hold_out(labelled(9, 1), 8, seed=0)
    assert sorted(train.labels) == [0, 1]
    assert validation.labels == [1] * 8
    with pytest.raises(ValueError, match="takes all .* of class .*size=28$"):
        hold_out(LabelledTexts(["a"] * 30, [0] * 28 + [1] * 2), 28, seed=0)


@pytest.mark.parametrize("labels", [[0], [0, 1], []])
def test_texts_that_cannot_be_split(labels):
    texts = LabelledTexts(["a"] * len(labels), labels)
    with pytest.raises(CorpusError, match=f"no class has two.*{len(labels)} t"):
        hold_out(texts, 1, seed=0)
    assert hold_out(texts, 0, seed=0) == (texts, ([], []))


def test_several_classes_are_held_out_alike():
    labels = [2, 0, 1, 1, 2] * 20
    texts = LabelledTexts([str(n) for n in range(100)], labels)
    train, validation = hold_out(texts, 10, seed=0)
    assert collections.Counter(validation.labels) == {0: 2, 1: 4, 2: 4}
    assert train.labels == [labels[int(text)] for text in train.texts]
