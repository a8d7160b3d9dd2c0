import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.data import translation_batches
from kerasrnn.tokenizers import WordTokenizer
from tests.helpers import one_now

PAD, START, END = 0, 1, 2


def numbered_pairs(count=203, longest=30, seed=0):
    """Pairs of widely spread lengths, each begun by its own number."""
    lengths = np.random.default_rng(seed).integers(0, longest, size=(count, 2))
    return [
        (f"s{n}" + " x" * source, f"t{n}" + " y" * target)
        for n, (source, target) in enumerate(lengths)
    ]


@pytest.fixture(scope="module")
def tokenizers():
    return [
        WordTokenizer.train(side)
        for side in zip(*numbered_pairs(), strict=True)
    ]


def batches_of(pairs, tokenizers, batch_size=8, **kwargs):
    return translation_batches(pairs, *tokenizers, batch_size, **kwargs)


def as_lists(dataset):
    return [
        [inputs["source"].tolist(), inputs["target"].tolist(), labels.tolist()]
        for inputs, labels in dataset.as_numpy_iterator()
    ]


def pairs_in(batches, tokenizers):
    """The pairs of batches, read back from source and labels."""

    def text(tokenizer, ids):
        return " ".join(tokenizer.vocabulary[i] for i in ids if i > END)

    source, target = tokenizers
    return [
        (text(source, source_ids), text(target, target_ids))
        for sources, _, labels in batches
        for source_ids, target_ids in zip(sources, labels, strict=True)
    ]


@pytest.mark.parametrize("aligned", [False, True])
def test_weights_stay_with_their_pairs(tokenizers, aligned):
    pairs = [
        (*pair, *["0-0" * (n % 2)] * aligned)
        for n, pair in enumerate(numbered_pairs())
    ]
    given = range(len(pairs))
    batches = batches_of(pairs, tokenizers, sample_weight=given, seed=1)
    for inputs, labels, weights in batches.as_numpy_iterator():
        batch = [(inputs["source"], None, labels)]
        expected = [pairs[int(weight)][:2] for weight in weights]
        assert pairs_in(batch, tokenizers) == expected
        links = [weight % 2 for weight in weights]
        assert not aligned or [*inputs["alignment"][:, 0, 0]] == links


def test_inputs_follow_the_start_and_labels_precede_the_end():
    pairs = [("the book", "vah kitab"), ("who", "kaun")]
    tokenizers = [
        WordTokenizer(["<pad>", "<s>", "</s>", "<unk>", *words])
        for words in (("the", "book", "who"), ("vah", "kitab", "kaun"))
    ]
    [(inputs, labels)] = batches_of(pairs, tokenizers).as_numpy_iterator()
    # The shorter pair comes first.
    assert inputs["source"].tolist() == [[6, END, PAD], [4, 5, END]]
    assert inputs["target"].tolist() == [[START, 6, PAD], [START, 4, 5]]
    assert labels.tolist() == [[6, END, PAD], [4, 5, END]]
    for ids in (*inputs.values(), labels):
        assert ids.dtype == np.int32


def test_a_source_vocabulary_without_special_tokens():
    pairs = [("the book", "a b"), ("book the book", "b"), ("the", "a")]
    source = WordTokenizer.train([s for s, _ in pairs], specials=())
    target = WordTokenizer.train(
        [t for _, t in pairs], specials=("<s>", "</s>", "<pad>")
    )
    assert (source.pad_id, target.pad_id) == (-1, 2)
    [(inputs, labels)] = batches_of(pairs, [source, target]).as_numpy_iterator()
    assert inputs["source"].tolist() == [[0, -1, -1], [1, 0, 1], [0, 1, -1]]
    assert inputs["target"].tolist() == [[0, 3, 2], [0, 4, 2], [0, 3, 4]]
    assert labels.tolist() == [[3, 1, 2], [4, 1, 2], [3, 4, 1]]


@pytest.mark.parametrize("count", one_now([203, 1, 2, 3]))
@pytest.mark.parametrize("seed", [None, 0])
def test_every_pair_comes_once_an_epoch(tokenizers, count, seed):
    # 203 pairs are two pools of 50 batches and a rest that fills no batch.
    pairs = numbered_pairs()[:count]
    dataset = batches_of(pairs, tokenizers, batch_size=2, seed=seed)
    for _ in range(2):
        batches = as_lists(dataset)
        assert len(dataset) == len(batches) == -(-count // 2)
        assert sorted(pairs_in(batches, tokenizers)) == sorted(pairs)


def test_long_sentences_are_cut(tokenizers):
    pairs = [(*pair, "0-0") for pair in numbered_pairs()]
    batches = as_lists(batches_of(pairs, tokenizers, max_length=5))
    for sources, targets, labels in batches:
        assert max(len(sources[0]), len(targets[0]), len(labels[0])) <= 6
        assert all(END in row for row in sources + labels)
    cut = [tuple(" ".join(side.split()[:5]) for side in p[:2]) for p in pairs]
    assert sorted(pairs_in(batches, tokenizers)) == sorted(cut)


class Sampler(WordTokenizer):
    """Says whether its words were split at random: then there are twice."""

    def sample(self, texts):
        return tf.concat([self.tokenize(texts)] * 2, axis=1)


@pytest.mark.parametrize("seed", [None, 0])
def test_words_are_split_at_random_in_training_only(tokenizers, seed):
    source, target = tokenizers
    sampler = Sampler(source.vocabulary)
    [(inputs, _)] = batches_of(
        [("s1 x", "t1")], [sampler, target], max_length=3, seed=seed
    ).as_numpy_iterator()
    [row] = inputs["source"]
    assert (len(row), row[-1]) == (3 if seed is None else 4, END)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: batches_of([], x), r"at least one pair. Received: \[\]"),
        (
            lambda x: batches_of(numbered_pairs(), x, sample_weight=[1.0]),
            "for each pair. Received.*203 pairs",
        ),
        *(
            (
                lambda x, specials=specials: batches_of(
                    [("s1", "a")],
                    [x[0], WordTokenizer.train(["a"], specials=specials)],
                ),
                "needs a start and an end.*=-1",
            )
            for specials in [(), ("<s>",), ("</s>",)]
        ),
    ],
)
def test_what_is_wrong_is_said(tokenizers, call, message):
    with pytest.raises(ValueError, match=message):
        call(tokenizers)
