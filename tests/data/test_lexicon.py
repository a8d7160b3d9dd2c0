import numpy as np
import pytest

from kerasrnn.data import lexicon
from kerasrnn.data import translation_lexicon
from kerasrnn.tokenizers import WordTokenizer

PAIRS = [
    ("the book", "किताब"),
    ("the red book", "लाल किताब"),
    ("red water", "लाल पानी"),
    ("the water", "पानी"),
]


@pytest.fixture(scope="module")
def tokenizers():
    english, hindi = zip(*PAIRS, strict=True)
    return WordTokenizer.train(english), WordTokenizer.train(hindi)


def plain_model_1(pairs, iterations):
    """IBM Model 1 over lists of ids, by loops and dictionaries.

    Returns the probabilities, and the expected counts of the last iteration.
    """
    table = {}
    for _ in range(iterations):
        counts, totals = {}, {}
        for source, target in pairs:
            for t in target:
                scale = sum(table.get((s, t), 1.0) for s in source)
                for s in source:
                    share = table.get((s, t), 1.0) / scale
                    counts[s, t] = counts.get((s, t), 0.0) + share
                    totals[s] = totals.get(s, 0.0) + share
        table = {(s, t): c / totals[s] for (s, t), c in counts.items()}
    return table, counts


def id_pairs(source, target):
    """The pairs as lists of ids with end tokens."""
    return [
        (
            source.tokenize([english]).to_list()[0] + [source.end_id],
            target.tokenize([hindi]).to_list()[0] + [target.end_id],
        )
        for english, hindi in PAIRS
    ]


def dense(ids, probabilities, width):
    """The whole table `(source vocabulary, width)`."""
    table = np.zeros((len(ids), width), "float32")
    np.add.at(table, (np.arange(len(ids))[:, None], ids), probabilities)
    return table


@pytest.mark.parametrize("iterations", [1, 2, 7])
def test_equals_a_plain_model_1(tokenizers, iterations):
    source, target = tokenizers
    ids = id_pairs(source, target)
    expected = np.zeros((source.vocabulary_size, target.vocabulary_size))
    for (s, t), probability in plain_model_1(ids, iterations)[0].items():
        expected[s, t] = probability
    found = translation_lexicon(PAIRS, source, target, 9, iterations)
    table = dense(*found, target.vocabulary_size)
    np.testing.assert_allclose(table, expected, atol=1e-6)
    # The likeliest first, and all that are kept.
    few = translation_lexicon(PAIRS, source, target, 2, iterations)
    for whole, kept in zip(found, few, strict=True):
        assert kept.shape == (source.vocabulary_size, 2)
        np.testing.assert_array_equal(kept, whole[:, :2])
    assert (np.diff(found[1]) <= 0).all()


@pytest.mark.parametrize("discount", [0.1, 1.0])
def test_counts_are_discounted(tokenizers, discount):
    source, target = tokenizers
    _, counts = plain_model_1(id_pairs(source, target), 5)
    expected = np.zeros((source.vocabulary_size, target.vocabulary_size))
    for (s, t), count in counts.items():
        expected[s, t] = max(count - discount, 0)
    totals = np.zeros(source.vocabulary_size)
    for (s, _), count in counts.items():
        totals[s] += count
    expected /= np.maximum(totals, 1)[:, None]
    found = translation_lexicon(PAIRS, source, target, discount=discount)
    found = dense(*found, target.vocabulary_size)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert expected.any()


def test_long_sentences_are_cut(tokenizers):
    source, target = tokenizers
    cut = translation_lexicon(PAIRS, source, target, max_length=1)
    short = [(english.split()[0], hindi.split()[0]) for english, hindi in PAIRS]
    whole = translation_lexicon(short, source, target)
    np.testing.assert_array_equal(cut[0], whole[0])
    np.testing.assert_array_equal(cut[1], whole[1])


def test_a_pair_without_source_tokens_is_passed_over():
    english = WordTokenizer.train(["red", "book"], specials=())
    hindi = WordTokenizer.train(["लाल", "किताब"])
    pairs = [("red", "लाल"), ("unknown", "किताब"), ("book", "किताब")]
    found = translation_lexicon(pairs, english, hindi)
    table = dense(*found, hindi.vocabulary_size)
    row = table[english.vocabulary.index("book")]
    np.testing.assert_allclose(row[hindi.vocabulary.index("किताब")], 0.5)


def test_a_corpus_of_unknown_words_has_an_empty_lexicon():
    tokenizer = WordTokenizer(["red"])
    ids, probabilities = translation_lexicon(
        [("zzz", "zzz")], tokenizer, tokenizer, translations=2
    )
    assert ids.shape == probabilities.shape == (1, 2)
    assert not probabilities.any()


def test_a_large_corpus_is_counted_in_chunks(tokenizers, monkeypatch):
    """Of any size, with places kept or not, the result is the same."""
    whole = translation_lexicon(PAIRS * 3, *tokenizers)
    monkeypatch.setattr(lexicon, "_CELLS", 7)
    for kept in (2**20, 0):
        monkeypatch.setattr(lexicon, "_KEPT", kept)
        for expected, found in zip(
            whole, translation_lexicon(PAIRS * 3, *tokenizers), strict=True
        ):
            np.testing.assert_allclose(found, expected, rtol=1e-6)
    largest = []
    real = np.searchsorted
    monkeypatch.setattr(
        np, "searchsorted", lambda *x: largest.append(np.size(x[1])) or real(*x)
    )
    translation_lexicon(PAIRS * 50, *tokenizers)
    assert max(largest) < 40  # and not 2,000


def test_the_least_entries_are_left_out_if_there_are_too_many(
    tokenizers, monkeypatch
):
    source, target = tokenizers
    monkeypatch.setattr(lexicon, "_ENTRIES", 12)
    monkeypatch.setattr(lexicon, "_CELLS", 7)
    ids, probabilities = translation_lexicon(PAIRS * 9, source, target)
    assert 0 < (probabilities > 0).sum() <= 12
    red = ids[source.vocabulary.index("red"), 0]
    assert target.vocabulary[red] == "लाल"


@pytest.mark.parametrize(
    "name, value", [("translations", 0), ("iterations", 0), ("discount", -1)]
)
def test_numbers_are_checked(tokenizers, name, value):
    with pytest.raises(ValueError, match=f"Received: {name}={value}"):
        translation_lexicon([("a", "b")], *tokenizers, **{name: value})
