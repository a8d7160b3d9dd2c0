import argparse

import keras
import numpy as np
import pytest

if keras.backend.backend() != "jax":
    pytest.skip("the benchmark needs JAX", allow_module_level=True)

import packed_reviews
import review_classifiers
import reviews as benchmark

from kerasrnn.layers import FastLSTMCell
from kerasrnn.models import LanguageModel

PAD, END, GOOD, BAD = 0, 2, 7, 8


@pytest.fixture
def found(monkeypatch):
    """Reviews of up to 20 words; the label says which of two is in them."""
    monkeypatch.setattr(packed_reviews, "LENGTHS", np.array([8, 20]))
    monkeypatch.setattr(review_classifiers, "ANSWERED", 16)
    monkeypatch.setattr(review_classifiers.Classifiers, "batch_size", 8)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 64)
    ids = [rng.integers(3, 7, n) for n in rng.integers(1, 23, 64)]
    for row, label in zip(ids, labels, strict=True):
        row[rng.integers(min(20, len(row)))] = GOOD if label else BAD
    ids = [row.astype("uint16") for row in ids]
    counts = np.array([32, 16])
    labels = np.concatenate([labels[:32], labels[48:]])
    sizes = 9, PAD, END, 20
    return packed_reviews.Reviews(ids, labels, counts, *sizes, "mine")


@pytest.fixture
def pair(found):
    languages = [LanguageModel(9, FastLSTMCell(8)) for _ in range(2)]
    for model in languages:
        model.build()
    return review_classifiers.Classifiers(found, languages, 320, 1)


def test_a_batch_has_both_ways_and_a_known_length(found):
    rows = [i for i, ids in enumerate(found.ids) if len(ids) < 8][:3]
    batch = found.batch(rows)
    assert batch.shape == (2, 3, 8)
    for row, forwards, backwards in zip(rows, *batch, strict=True):
        ids = found.ids[row].tolist()
        rest = [PAD] * (8 - len(ids))
        assert forwards.tolist() == ids + rest
        assert backwards.tolist() == ids[::-1] + rest
    longest = np.argmax([len(ids) for ids in found.ids])
    assert found.batch([longest])[0, 0].tolist() == (
        found.ids[longest][:20].tolist()
    )


def test_a_text_is_read_in_both_directions(found):
    a, b = (found.ids[i].tolist() for i in (3, 5))
    assert found.text([3, 5], False).tolist() == [*a, END, *b, END]
    assert found.text([3, 5], True).tolist() == [*a[::-1], END, *b[::-1], END]


def test_answers_are_those_of_the_models(found, pair):
    indices = np.arange(20, 55)
    answers = pair.answers(indices)
    for way, model in enumerate(pair.group.models):
        for index, answer in zip(indices, answers[way], strict=True):
            ids = found.ids[index][:20][:: -1 if way else 1]
            logit = model(ids[None].astype("int32"))
            expected = keras.ops.sigmoid(logit)[0, 0]
            assert answer == pytest.approx(float(expected), rel=1e-4)


def test_a_pair_learns(found, pair):
    rng = np.random.default_rng(0)
    labels = found.labels[:32].astype("float32")
    losses = [pair.train_epoch(labels, rng) for _ in range(80)]
    assert (np.mean(losses[-20:], axis=0) < np.mean(losses[:20], axis=0)).all()


@pytest.mark.slow
def test_all_is_trained_and_written(found, tmp_path, monkeypatch):
    monkeypatch.setattr(packed_reviews.Reviews, "read", lambda _: found)
    policy = keras.config.dtype_policy()
    args = argparse.Namespace(
        folder=tmp_path,
        units=8,
        embedding_dim=4,
        dropout=0.0,
        language_epochs=1,
        epochs=1,
    )
    try:
        benchmark.fit(args)
    finally:
        keras.config.set_dtype_policy(policy)
    written = np.load(tmp_path / "answers.npz")
    assert written["fingerprint"] == "mine"
    answers = written["answers"]
    assert answers.shape == (16,)
    assert ((answers > 0) & (answers < 1)).all()
    models = [
        keras.saving.load_model(tmp_path / f"{name}.keras")
        for name in benchmark.NAMES
    ]
    rows = np.arange(32, 48)
    both = zip(models, found.batch(rows), strict=True)
    expected = np.mean(
        [keras.ops.sigmoid(model(ids)[:, 0]) for model, ids in both], axis=0
    )
    np.testing.assert_allclose(answers, expected, atol=2e-2)
