import collections

import keras
import numpy as np
import pytest

from kerasrnn.layers import FastGRUCell
from kerasrnn.models import Encoder
from kerasrnn.models import NgramEmbedding
from kerasrnn.models import TextClassifier
from kerasrnn.training import load_average
from tests import helpers

RNG = np.random.default_rng(3)
TEXTS = [RNG.integers(2, 7, size).tolist() for size in (30, 20, 1, 0, 40)]


def make(size=200, texts=TEXTS, min_count=3, **kwargs):
    layer = NgramEmbedding(size, 6, rank=4, **kwargs)
    layer.adapt(texts, min_count)
    helpers.randomize(layer)
    return layer


def vectors(layer, text, **kwargs):
    return helpers.as_numpy(layer(np.array([text], "int32"), **kwargs))[0]


def frequent(length, min_count=3):
    """The n-grams of a length that occur often, and how often."""
    counts = collections.Counter(
        tuple(text[i : i + length])
        for text in TEXTS
        for i in range(len(text) - length + 1)
    )
    return {x: count for x, count in counts.items() if count >= min_count}


def test_frequent_pairs_have_vectors_of_their_own():
    layer, found = make(longest=2), {}
    table, projection = layer.trainable_weights
    rows = helpers.as_numpy(table) @ helpers.as_numpy(projection) * 2
    for pair in np.ndindex(9, 9):
        first, x = vectors(layer, pair)
        np.testing.assert_array_equal(first, 0)
        if x.any():
            found[pair] = x
    assert set(found) == set(frequent(2))
    for x in found.values():  # sqrt(rank) P E, of one row
        assert np.abs(rows - x).max(axis=1).min() < 1e-5
    assert len(np.unique(np.stack([*found.values()]), axis=0)) == len(found)
    text = TEXTS[0]
    pairs = zip(text, text[1:], strict=False)
    expected = [found.get(pair, np.zeros(6)) for pair in pairs]
    helpers.assert_close(vectors(layer, text)[1:], np.stack(expected))


def test_the_n_grams_that_end_at_a_token_are_added_up():
    layer, triples = make(longest=3), frequent(3)
    assert 0 < len(triples) < 125
    for triple in np.ndindex(7, 7, 7):
        x, of_pair = vectors(layer, triple)[2], vectors(layer, triple[1:])[1]
        assert np.allclose(x, of_pair, atol=1e-6) == (triple not in triples)


def test_a_n_gram_is_known_by_ids_order_and_length():
    layer = make(texts=[[3, 1, 2]] * 3, longest=3)
    assert vectors(layer, [3, 1]).any()
    for text in ([1, 3], [2, 1], [3, 2], [0, 0], [-1, -1]):
        np.testing.assert_array_equal(vectors(layer, text), 0)


@pytest.mark.parametrize("size, rows", [(1, 8), (8, 8), (9, 16)])
def test_the_most_frequent_have_rows(size, rows):
    layer = NgramEmbedding(size, 6, longest=2)
    counts = frequent(2, min_count=1)
    assert len(counts) > rows
    kept = layer.adapt(TEXTS, 1)
    helpers.randomize(layer.embedding)
    found = [x for x in counts if vectors(layer, x)[1].any()]
    assert len(found) == kept <= rows
    if rows == 8:  # Otherwise some compete with each other only.
        least = sorted(counts.values())[-rows]
        assert kept == rows and all(counts[x] >= least for x in found)


def test_it_may_be_adapted_again():
    layer = make(longest=2)
    assert layer.adapt([[8, 8], [8, 8]], min_count=2) == 1
    assert not vectors(layer, [8, 8]).any()
    helpers.randomize(layer.embedding)
    assert vectors(layer, [8, 8]).any() and not vectors(layer, [3, 4]).any()
    assert layer.adapt([], min_count=2) == 0
    helpers.randomize(layer.embedding)
    assert not vectors(layer, [8, 8]).any()


def test_large_ids_do_not_overflow_differently():
    ids = [29_999, 29_998, 1_000_000, 2**31 - 1]
    layer = make(texts=[ids] * 3, longest=4)
    assert vectors(layer, ids)[1:].any(axis=1).all()


def test_an_encoder_adds_them_in_its_own_precision():
    cell = FastGRUCell(4, dtype="mixed_bfloat16")
    ngrams = NgramEmbedding(50, 6)
    encoder = Encoder(9, cell, embedding_dim=6, ngrams=ngrams)
    memory, _, _ = encoder(np.array([TEXTS[0]]))
    assert keras.backend.standardize_dtype(memory.dtype) == "bfloat16"


def test_weights_are_averaged_without_the_keys(tmp_path):
    model = keras.Sequential([keras.Input((None,), dtype="int32"), make()])
    ids, paths = np.array([TEXTS[0]]), []
    for name in "ab":
        paths.append(tmp_path / f"{name}.weights.h5")
        model.save_weights(paths[-1])
    expected = helpers.as_numpy(model(ids))
    load_average(model, paths)
    helpers.assert_close(model(ids), expected)


def test_dropout_drops_whole_n_grams_only_in_training():
    layer = make(longest=2, dropout=0.5)
    text = [x for pair in frequent(2) for x in pair] * 40
    plain, dropped = (
        vectors(layer, text, training=training) for training in (False, True)
    )
    real = plain.any(axis=1)
    kept = dropped.any(axis=1)
    assert 0.4 < kept[real].mean() < 0.6
    helpers.assert_close(dropped, np.where(kept[:, None], 2 * plain, 0))


def test_an_encoder_starts_as_without_n_grams():
    given = {"pad_id": 0, "embedding_dim": 6, "lexical": True}
    ids = np.array([TEXTS[0][:9], [*TEXTS[1][:5], 0, 0, 0, 0]])
    ngrams = NgramEmbedding(50, 6, dropout=0.5)
    ngrams.adapt(TEXTS)
    with_them = Encoder(9, FastGRUCell(4), ngrams=ngrams, **given)
    without = Encoder(9, FastGRUCell(4), **given)
    for encoder in (with_them, without):
        encoder.build((None, None))
    helpers.randomize(without)
    with_them.embedding.set_weights(without.embedding.get_weights())
    with_them.stack.set_weights(without.stack.get_weights())
    for expected, found in zip(without(ids), with_them(ids), strict=True):
        helpers.assert_close(found, expected)
    helpers.randomize(ngrams.embedding)
    memory, mask, _ = with_them(ids)
    read = with_them.embedding(ids) + ngrams(ids)
    dropped = helpers.as_numpy(with_them.embed(ids, training=True) - read)
    assert np.abs(dropped).max() > 1e-3
    real = helpers.as_numpy(mask)
    # The memory has what was read, and the outputs depend on it.
    helpers.assert_close(
        helpers.as_numpy(memory)[..., 8:][real], helpers.as_numpy(read)[real]
    )
    outputs = helpers.as_numpy(memory)[..., :8]
    before = helpers.as_numpy(without(ids)[0])[..., :8]
    assert not np.allclose(outputs[real], before[real], atol=1e-4)


def test_a_model_with_n_grams_is_saved(tmp_path):
    ngrams = NgramEmbedding(50, 6, rank=3, longest=4, dropout=0.2)
    ngrams.adapt(TEXTS)
    encoder = Encoder(9, FastGRUCell(4), embedding_dim=6, ngrams=ngrams)
    model = TextClassifier(encoder, "pooled")
    model.build((None, None))
    helpers.randomize(ngrams.embedding)
    ids = np.array([TEXTS[0]])
    copy = helpers.reloaded(model, tmp_path)
    helpers.assert_close(copy(ids), model(ids))
    again = copy.encoder.ngrams
    assert (again.rank, again.longest, again.dropout) == (3, 4, 0.2)
    np.testing.assert_array_equal(
        helpers.as_numpy(again.keys), helpers.as_numpy(ngrams.keys)
    )


def quantized():
    layer = make()
    layer.embedding.quantize("int8")
    return layer


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: NgramEmbedding(0, 4), "`size` must be an integer >= 1"),
        (lambda: NgramEmbedding(9, 0), "`embedding_dim` must be an integer"),
        (lambda: NgramEmbedding(9, 4, rank=1.5), "`rank` must be an integer"),
        (
            lambda: NgramEmbedding(9, 4, longest=1),
            "`longest` must be an integer >= 2",
        ),
        (
            lambda: NgramEmbedding(9, 4, dropout=1.0),
            r"`dropout` must be in \[0, 1\)",
        ),
        (
            lambda: NgramEmbedding(9, 4).adapt(TEXTS, min_count=0),
            "`min_count` must be an integer >= 1",
        ),
        (lambda: quantized().adapt(TEXTS), "`adapt` before `quantize`"),
        (
            lambda: Encoder(9, FastGRUCell(4), 5, ngrams=NgramEmbedding(9, 4)),
            "have the same `embedding_dim`",
        ),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
