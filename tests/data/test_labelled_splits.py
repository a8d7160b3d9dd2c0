import pytest

from kerasrnn.data import CorpusError
from kerasrnn.data import LabelledCorpus
from kerasrnn.data import LabelledTexts
from kerasrnn.data import split_labelled_corpus
from kerasrnn.data import without_texts

NAMES = ["negative", "positive"]


def corpus_of(texts, test=None, unlabelled=()):
    return LabelledCorpus(texts, test, list(unlabelled), NAMES)


def test_scored_texts_are_never_trained_on():
    texts = LabelledTexts(["c", "b", "d", "a", "c"], [1, 0, 0, 1, 1])
    test = LabelledTexts(["d"], [0])
    held_out = LabelledTexts(["a", "b"], [1, 0])
    found = without_texts(corpus_of(texts, test, ["b", "e", "d"]), held_out)
    assert found == corpus_of(LabelledTexts(["c", "c"], [1, 1]), test, ["e"])
    test = LabelledTexts([*"abcd"], [1, 0, 0, 1])
    with pytest.raises(CorpusError, match="5 texts, all of them"):
        without_texts(corpus_of(texts, test), held_out)


def test_a_part_is_held_out():
    texts = LabelledTexts([f"{n}" for n in range(20)], 10 * [0, 1])
    corpus, validation = split_labelled_corpus(corpus_of(texts), 100, seed=1)
    assert sorted(validation.labels) == [0, 0, 1, 1]  # a fifth
    assert {*corpus.train.texts, *validation.texts} == {*texts.texts}
    assert len(corpus.train.texts) == 16
    few = LabelledTexts(["a", "b", "c", "d"], [0, 0, 1, 1])
    _, validation = split_labelled_corpus(corpus_of(few), 100, seed=1)
    assert sorted(validation.labels) == [0, 1]  # one of each class
