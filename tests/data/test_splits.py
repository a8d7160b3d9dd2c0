import numpy as np
import pytest

from kerasrnn.data import CorpusWarning
from kerasrnn.data import LabelledCorpus
from kerasrnn.data import LabelledTexts
from kerasrnn.data import Rows
from kerasrnn.data import source_key
from kerasrnn.data import split_labelled_corpus
from kerasrnn.data import split_rows

ROW_COUNT = 90
ROWS = Rows(
    {
        "text": [f"text {n % 60}" for n in range(ROW_COUNT)],
        "label": ["ab"[n % 3 == 0] for n in range(ROW_COUNT)],
        "group": [f"film {n % 12}" for n in range(ROW_COUNT)],
        "year": [2000 + n // 60 for n in range(ROW_COUNT)],
    }
)


def sides(*parts, column):
    train, held_out = ({*part[column]} for part in parts)
    return train & held_out


@pytest.mark.parametrize("name", ["by", "group", "stratify"])
def test_an_unknown_column_is_refused(name):
    with pytest.raises(KeyError, match="author"):
        split_rows(ROWS, 20, seed=1, **{name: "author"})


def test_equal_rows_stay_together():
    train, held_out = split_rows(ROWS, 20, seed=1, by="text")
    assert (len(train), len(held_out)) == (70, 20)
    assert not sides(train, held_out, column="text")
    assert split_rows(ROWS, 20, seed=1, by="text")[1] == held_out
    assert split_rows(ROWS, 20, seed=2, by="text")[1] != held_out


def test_groups_stay_together():
    train, held_out = split_rows(ROWS, 20, seed=1, group="group")
    assert not sides(train, held_out, column="group")
    assert 12 < len(held_out) <= 20 and len(train) + len(held_out) == ROW_COUNT
    assert train["year"] == sorted(train["year"])
    options = {"group": "group", "stratify": "label"}
    parts = split_rows(Rows(ROWS.columns), 30, seed=1, **options)
    assert not sides(*parts, column="group")
    assert sum(map(len, parts)) == ROW_COUNT


def test_labels_are_held_out_alike_and_copies_are_counted():
    with pytest.warns(CorpusWarning, match="of 60 rows are not trained on: th"):
        train, held_out = split_rows(ROWS, 30, 1, by="text", stratify="label")
    assert not sides(train, held_out, column="text")
    assert held_out["label"].count("b") == 10


# Rows by label.


COUNT, SHARES = 1000, (0.4, 0.2, 0.05, 0.01)


@pytest.fixture(scope="module")
def labels():
    rng = np.random.default_rng(1)
    has = rng.random((COUNT, len(SHARES))) < SHARES
    has[0, 3] = True
    return [tuple(map(int, np.flatnonzero(row))) for row in has]


def corpus_of(texts, labels):
    train = LabelledTexts(list(texts), list(labels))
    return LabelledCorpus(train, None, [], [*"abcd"])


def counted(labels):
    """How many texts have each label, and how many have none."""
    flat = [n for of_text in labels for n in of_text or (4,)]
    return np.bincount(flat, minlength=5)


def test_every_label_is_held_out_in_its_share(labels):
    texts = [f"text {n}" for n in range(COUNT)]
    corpus, held_out = split_labelled_corpus(corpus_of(texts, labels), 200, 1)
    expected = counted(labels) / 5
    assert (abs(counted(held_out.labels) - expected) <= 1.5).all()
    assert abs(len(held_out.texts) - 200) <= 8
    pairs = dict(zip(texts, labels, strict=True))
    for part in corpus.train, held_out:
        assert [pairs[text] for text in part.texts] == part.labels
    assert {*corpus.train.texts}.isdisjoint(held_out.texts)
    again = split_labelled_corpus(corpus_of(texts, labels), 200, 1)[1]
    assert again == held_out


@pytest.mark.parametrize("seed", range(5))
def test_a_label_of_one_text_is_trained_on(seed):
    few = [(0, 1)] + [(0,)] * 8 + [()] * 6
    texts = [f"text {n}" for n in range(15)]
    corpus, held_out = split_labelled_corpus(corpus_of(texts, few), 4, seed)
    assert (0, 1) in corpus.train.labels
    assert sorted(held_out.labels) == [(), (0,), (0,)]
    # Copies of a text stay together.
    texts = [f"text {n // 2}" for n in range(16)]
    parts = split_labelled_corpus(corpus_of(texts, 16 * [(0,)]), 4, seed)
    assert sorted(parts[0].train.texts + parts[1].texts) == sorted(texts)


def test_of_labels_that_few_texts_have_enough_are_held_out():
    labels = [(f"a{i % 300}", f"b{7 * i % 331}") for i in range(1000)]
    texts = [f"text {i}" for i in range(1000)]
    rows = Rows({"text": texts, "labels": labels})
    _, held_out = split_rows(rows, 100, 1, stratify="labels")
    assert len(held_out) == 100
    found = [x for row in held_out["labels"] for x in row]
    assert len(found) == len({*found})  # none is taken twice


# The same text.


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Hello!", "hello"),
        ("  I don't\tknow.\n", "i dont know"),
        ("STRASSE – Straße", "strasse strasse"),
        ("क्या?  हाँ।", "क्या हाँ"),
        ("cafe\u0301", "caf\u00e9"),
        ("\ufeffa\u200b\u2800 क्\u200dष\u00ad", "a क्ष"),
        ("\u200b\ufe0f", ""),
        ("?!", "?!"),
        ("", ""),
    ],
)
def test_source_key(text, key):
    assert source_key(text) == key
