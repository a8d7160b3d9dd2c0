import collections

import numpy as np
import pytest

from kerasrnn.data import labelled_batches
from kerasrnn.tokenizers import ReviewTokenizer

UNKNOWN, PAD = 0, 1
COUNT = 203


def numbered_texts(count=COUNT, longest=30, seed=0):
    """Texts of widely spread lengths, each begun by its own number."""
    lengths = np.random.default_rng(seed).integers(0, longest, count)
    return [f"n{n}" + " x" * length for n, length in enumerate(lengths)]


TEXTS = numbered_texts()
# No two texts have the same: a label tells which text it belongs to.
LABELS = list(range(COUNT))
TOKENIZER = ReviewTokenizer.train(TEXTS)


def batches_of(texts=TEXTS, labels=LABELS, batch_size=8, **kwargs):
    return labelled_batches(texts, labels, TOKENIZER, batch_size, **kwargs)


def arrays(dataset):
    return list(dataset.as_numpy_iterator())


def pairs_in(batches):
    """The texts of batches and their labels, in order."""
    return [
        (" ".join(TOKENIZER.vocabulary[i] for i in row if i != PAD), label)
        for ids, labels in batches
        for row, [label] in zip(ids, labels, strict=True)
    ]


def test_a_batch_is_padded_ids_and_labels():
    [(ids, labels)] = arrays(batches_of(["x x", "n3 zzz x", "n4"], [1, 0, 1]))
    x, n3, n4 = (TOKENIZER.vocabulary.index(word) for word in ("x", "n3", "n4"))
    # The shortest comes first.
    assert ids.tolist() == [[n4, PAD, PAD], [x, x, PAD], [n3, UNKNOWN, x]]
    assert labels.tolist() == [[1], [1], [0]]
    assert ids.dtype == np.int32
    assert labels.dtype == np.int32


def test_labels_may_be_probabilities():
    [(_, labels)] = arrays(batches_of(["x", "x x"], [1, 0.25]))
    assert labels.tolist() == [[1], [0.25]]
    assert labels.dtype == np.float32


@pytest.mark.parametrize("count", [1, 2, 3, 203])
@pytest.mark.parametrize("seed", [None, 0])
def test_every_text_comes_once_an_epoch_with_its_label(count, seed):
    # 203 texts are two pools of 50 batches and a rest that fills no batch.
    texts, labels = TEXTS[:count], LABELS[:count]
    dataset = batches_of(texts, labels, batch_size=2, seed=seed)
    for _ in range(2):
        batches = arrays(dataset)
        assert len(dataset) == len(batches) == -(-count // 2)
        found = sorted(pairs_in(batches), key=lambda pair: pair[1])
        assert found == list(zip(texts, labels, strict=True))


@pytest.mark.parametrize("texts", [[""], ["", "<br />", "?!"]])
def test_texts_without_a_word_have_a_column(texts):
    [(ids, labels)] = arrays(batches_of(texts, [1] * len(texts)))
    assert ids.tolist() == [[PAD]] * len(texts)
    assert len(labels) == len(texts)


def test_long_texts_are_cut():
    found = pairs_in(arrays(batches_of(max_length=5)))
    expected = [" ".join(text.split()[:5]) for text in TEXTS]
    assert sorted(found) == sorted(zip(expected, LABELS, strict=True))


def fill(batches):
    """The part of the batches that is not padding."""
    filled = collections.Counter()
    for ids, _ in batches:
        filled["tokens"] += np.count_nonzero(ids != PAD)
        filled["places"] += ids.size
    return filled["tokens"] / filled["places"]


@pytest.mark.parametrize("seed", [None, 0])
def test_texts_of_like_length_share_a_batch(seed):
    lengths = np.array([len(text.split()) for text in TEXTS])
    padded = sum(8 * lengths[i : i + 8].max() for i in range(0, COUNT, 8))
    assert lengths.sum() / padded < 0.65
    batches = arrays(batches_of(seed=seed))
    assert fill(batches) > 0.9
    widths = [ids.shape[1] for ids, _ in batches]
    assert (widths == sorted(widths)) == (seed is None)


def test_every_epoch_has_another_order():
    # More texts than one pool sorts: batches mix anew as well.
    dataset = batches_of(batch_size=2, seed=1)
    first, second = (pairs_in(arrays(dataset)) for _ in range(2))
    assert first != second
    groups = [
        {frozenset(pairs[i : i + 2]) for i in range(0, COUNT, 2)}
        for pairs in (first, second)
    ]
    assert len(groups[0] & groups[1]) < len(groups[0]) / 4


def test_without_a_seed_nothing_is_shuffled():
    dataset = batches_of()
    first, second = (arrays(dataset) for _ in range(2))
    assert pairs_in(first) == pairs_in(second)
    lengths = [len(text.split()) for text, _ in pairs_in(first)]
    assert lengths == sorted(lengths)


NO_PADDING = ReviewTokenizer.train(["x"], specials=("<unk>",))
NO_LABEL = "`labels` must have a non-negative"


@pytest.mark.parametrize(
    "given, message",
    [
        (([], []), "same length.*0 texts and 0 labels"),
        ((["x"], []), "same length.*1 texts and 0 labels"),
        (([], [1]), "same length.*0 texts and 1 labels"),
        ((["x"], [1], TOKENIZER, 0), "Received: batch_size=0"),
        ((["x"], [1], TOKENIZER, 1.5), "Received: batch_size=1.5"),
        ((["x"], [1], TOKENIZER, None), "Received: batch_size=None"),
        ((["x"], [1], NO_PADDING), "needs a padding token.*pad_id=-1"),
        ((["x", "y"], [(1, 2), (0, 1)]), NO_LABEL),
        ((["x", "y"], [(0,), (1,)]), NO_LABEL),
        ((["x", "y"], [(0,), (1, 2)]), NO_LABEL),
        ((["x", "y"], ["a", "b"]), NO_LABEL),
        ((["x", "y"], [np.nan, 1.0]), NO_LABEL),
        ((["x", "y"], [-1, 0]), NO_LABEL),
        ((["x", "y"], [[0, 1], [2, 0]]), NO_LABEL),
    ],
)
def test_what_makes_no_batches_is_refused(given, message):
    given = (*given, *(TOKENIZER, 8)[len(given) - 2 :])
    with pytest.raises(ValueError, match=message):
        labelled_batches(*given)
