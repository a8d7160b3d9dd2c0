import collections

import pytest

from kerasrnn.data import CorpusError
from kerasrnn.data import CorpusWarning
from kerasrnn.data import LabelledCorpus
from kerasrnn.data import LabelledTexts
from kerasrnn.data import how_held_out
from kerasrnn.data import split_labelled_corpus
from kerasrnn.data import without_texts
from kerasrnn.data.labelled_splits import hold_out

NAMES = ["negative", "positive"]


def corpus_of(texts, test=None, unlabelled=()):
    return LabelledCorpus(texts, test, list(unlabelled), NAMES)


def test_scored_texts_are_never_trained_on():
    texts = LabelledTexts(["c", "b", "d", "a", "c"], [1, 0, 0, 1, 1])
    test = LabelledTexts(["d"], [0])
    held_out = LabelledTexts(["A!", "b"], [1, 0])
    corpus = corpus_of(texts, test, ["b", "e", "d"])
    with pytest.warns(CorpusWarning, match="2 of 3 texts without a label"):
        with pytest.warns(CorpusWarning, match="3 of 5 training texts are"):
            found = without_texts(corpus, held_out)
    assert found == corpus_of(LabelledTexts(["c", "c"], [1, 1]), test, ["e"])
    test = LabelledTexts([*"abcd"], [1, 0, 0, 1])
    with pytest.raises(CorpusError, match="5 rows, all of them"):
        without_texts(corpus_of(texts, test), held_out)


def test_groups_are_held_out_as_a_whole():
    numbers = range(60)
    texts = LabelledTexts([f"{n}" for n in numbers], 30 * [0, 1])
    more = [f"more {n}" for n in numbers]
    groups = {f"{n}": f"film {n // 4}" for n in numbers}
    groups |= {f"more {n}": f"film {n}" for n in numbers}
    corpus = corpus_of(texts, None, more)._replace(groups=groups)
    with pytest.warns(CorpusWarning, match="2 of 60 texts without a label"):
        learnt, validation = split_labelled_corpus(corpus, 9, seed=1)
    held_out = {*learnt.groups_of(validation.texts)}
    assert len(held_out) == 2 and sorted(validation.labels) == 4 * [0] + 4 * [1]
    assert len(learnt.train.texts) == 52 and len(learnt.unlabelled) == 58
    rest = learnt.train.texts + learnt.unlabelled
    assert held_out.isdisjoint(learnt.groups_of(rest))
    corpus = corpus._replace(unlabelled=[])
    assert split_labelled_corpus(corpus, 9, seed=1)[1] == validation
    assert split_labelled_corpus(corpus, 9, seed=2)[1] != validation


def test_a_part_is_held_out():
    texts = LabelledTexts([f"{n}" for n in range(20)], 10 * [0, 1])
    corpus, validation = split_labelled_corpus(corpus_of(texts), 100, seed=1)
    assert sorted(validation.labels) == [0, 0, 1, 1]  # a fifth
    assert {*corpus.train.texts, *validation.texts} == {*texts.texts}
    assert len(corpus.train.texts) == 16
    few = LabelledTexts(["a", "b", "c", "d"], [0, 0, 1, 1])
    _, validation = split_labelled_corpus(corpus_of(few), 100, seed=1)
    assert sorted(validation.labels) == [0, 1]  # one of each class


def test_classes_of_one_text_stay_in_the_training_part():
    numbers = range(40)  # classes of eight texts, of two, and thirty of one
    labels = 8 * [0] + 2 * [1] + [*range(2, 32)]
    texts = LabelledTexts([f"{n}" for n in numbers], labels)
    _, validation = split_labelled_corpus(corpus_of(texts), 100, seed=1)
    assert len(validation.texts) == 2 and {*validation.labels} <= {0, 1}
    one_class = LabelledTexts(texts.texts[:15], 3 * [0] + [*range(1, 13)])
    _, validation = split_labelled_corpus(corpus_of(one_class), 100, seed=1)
    assert validation.labels == [0]
    few = corpus_of(LabelledTexts(["a", "b"], [0, 1]))
    for corpus in few, few._replace(groups={"a": "x", "b": "y"}):
        with pytest.raises(CorpusError, match="can be held out"):
            split_labelled_corpus(corpus, 100, seed=1)


@pytest.mark.parametrize("seed", range(4))
def test_copies_of_a_held_out_text_are_not_all_of_a_class(seed):
    texts = LabelledTexts(["buy now"] * 3 + ["a", "b", "c"], [1, 1, 1, 0, 0, 0])
    corpus = LabelledCorpus(texts, None, [], ["ham", "spam"])
    left, validation = split_labelled_corpus(corpus, 2, seed)
    assert set(left.train.labels) == {0, 1}
    assert validation.texts and "buy now" not in validation.texts


def test_it_is_said_whether_groups_are_held_out_whole(capsys):
    train, held_out = (LabelledTexts([x], [0]) for x in ("a", "b"))
    groups = {"a": "Alma", "b": "Boro"}
    corpus = corpus_of(train)
    assert how_held_out(corpus, held_out) == {"by": "text"}
    said = capsys.readouterr().out
    assert "at random" in said and "--group-column COLUMN" in said
    how_held_out(corpus, held_out, advise=False)
    assert not capsys.readouterr().out
    apart = corpus._replace(groups=groups)
    assert how_held_out(apart, held_out) == {"by": "group", "groups": 1}
    assert "such as films: 1." in capsys.readouterr().out
    shared = corpus._replace(groups=dict.fromkeys("ab", "Alma"))
    assert how_held_out(shared, held_out) == {"by": "text"}


# Texts by label.


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


def test_a_class_keeps_a_text_to_train_on():
    train, validation = hold_out(labelled(9, 1), 8, seed=0)
    assert sorted(train.labels) == [0, 1]
    assert validation.labels == [1] * 8


@pytest.mark.parametrize("labels", [[0], [0, 1], []])
def test_of_texts_that_cannot_be_split_none_is_held_out(labels):
    texts = LabelledTexts(["a"] * len(labels), labels)
    assert hold_out(texts, 0, seed=0) == (texts, ([], []))


@pytest.mark.parametrize(
    ("texts", "arguments", "error", "message"),
    [
        (
            labelled(2, 2),
            (2, 0, [*"aabb"]),
            CorpusError,
            "4 texts of 2 classes in 2 groups",
        ),
        (labelled(2, 2), (2, 0, [*"aab"]), ValueError, "3 groups of 4 texts"),
        (
            labelled(2, 2),
            (4, 0, [*"abab"]),
            ValueError,
            "an integer >= 0 and <= 3.*=4",
        ),
        *(
            (labelled(5, 5), (size, 0), ValueError, str(size))
            for size in (-1, 0.5, 1, 10)
        ),
        (
            LabelledTexts(["a"] * 30, [0] * 28 + [1] * 2),
            (28, 0),
            ValueError,
            "takes all .* of class .*size=28$",
        ),
        *(
            (
                LabelledTexts(["a"] * count, [*range(count)]),
                (1, 0),
                CorpusError,
                f"No class has two.*{count} t",
            )
            for count in (1, 2, 0)
        ),
    ],
)
def test_what_cannot_be_held_out(texts, arguments, error, message):
    with pytest.raises(error, match=message):
        hold_out(texts, *arguments)
