import math

import keras
import numpy as np
import pytest
from scipy.special import log_softmax
from scipy.special import softmax

from kerasrnn.layers import RHNCell
from kerasrnn.models import LanguageModel
from kerasrnn.models.language_model import augmented_loss
from kerasrnn.training import TokenCrossentropy
from tests import helpers

EMBEDDINGS = helpers.random(7, 3, seed=1)
LOGITS = helpers.random(2, 4, 7, seed=2)
WORDS = np.array([[3, 0, 6, -1], [2, -1, -1, -1]])
TEMPERATURE = 0.7


def loss_of(word, logits):
    """The equation, word by word."""
    targets = softmax(EMBEDDINGS @ EMBEDDINGS[word] / TEMPERATURE)
    predicted = log_softmax(logits / TEMPERATURE)
    return -TEMPERATURE * np.sum(targets * (np.log(7) + predicted))


def test_it_is_the_equation_without_padding():
    expected = np.mean(
        [
            loss_of(WORDS[place], LOGITS[place])
            for place in np.ndindex(WORDS.shape)
            if WORDS[place] >= 0
        ]
    )
    found = augmented_loss(EMBEDDINGS, WORDS, LOGITS, TEMPERATURE)
    assert float(found) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("weights", [[2.0, 0.0], [[2, 0, 1, 9], [1, 9, 9, 9]]])
def test_losses_are_weighted(weights):
    of_words = np.broadcast_to(np.reshape(weights, (2, -1)), WORDS.shape)
    expected = sum(
        of_words[place] * loss_of(WORDS[place], LOGITS[place]) / 4
        for place in np.ndindex(WORDS.shape)
        if WORDS[place] >= 0
    )
    found = augmented_loss(EMBEDDINGS, WORDS, LOGITS, TEMPERATURE, weights)
    assert float(found) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("logit", [np.inf, np.nan])
def test_padding_may_be_predicted_as_no_number(logit):
    logits = np.where((WORDS < 0)[..., None], logit, LOGITS)
    found, expected = (
        augmented_loss(EMBEDDINGS, WORDS, x, TEMPERATURE)
        for x in (logits, LOGITS)
    )
    assert float(found) == float(expected)


def test_a_uniform_prediction_costs_nothing():
    found = augmented_loss(EMBEDDINGS, WORDS, 3 * np.ones_like(LOGITS), 5.0)
    assert float(found) == pytest.approx(0, abs=1e-5)


def test_padding_alone_costs_nothing():
    padding = np.full_like(WORDS, -1)
    assert float(augmented_loss(EMBEDDINGS, padding, LOGITS, 5.0)) == 0


def language_model(dtype="float32", **options):
    model = LanguageModel(7, RHNCell(3, dtype=dtype), dtype=dtype, **options)
    model.build()
    helpers.randomize(model)
    model.compile(keras.optimizers.SGD(1.0), TokenCrossentropy(-1))
    return model


def test_fit_adds_it_and_evaluation_does_not():
    ids, words = np.maximum(WORDS, 0), WORDS
    plain = language_model()
    with_it = language_model(augmented_loss=0.3, loss_temperature=TEMPERATURE)
    loss = plain.evaluate(ids, words, verbose=0)
    assert with_it.evaluate(ids, words, verbose=0) == pytest.approx(loss)
    embeddings = helpers.as_numpy(plain.embedding.embeddings.value)
    added = augmented_loss(embeddings, words, plain(ids), TEMPERATURE)
    with_it.reset_metrics()  # Keras 3.12 goes on with the mean.
    found = with_it.train_on_batch(ids, words)
    assert float(found) == pytest.approx(loss + 0.3 * float(added), rel=1e-5)


@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "float16"])
def test_any_precision_and_any_integers(dtype):
    model = language_model(dtype, augmented_loss=0.3)
    ids = np.maximum(WORDS, 0)
    assert np.isfinite(model.train_on_batch(ids, WORDS.astype("int8")))


def test_labels_are_ids():
    model = language_model(augmented_loss=0.3)
    loss = keras.losses.CategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss)
    with pytest.raises(ValueError, match=r"labels of shape \(2, 4, 7\)"):
        model.train_on_batch(np.maximum(WORDS, 0), LOGITS)


def test_embeddings_are_not_quantized():
    model = language_model(augmented_loss=0.3)
    model.embedding.quantize("int8")
    with pytest.raises(ValueError, match="embeddings in 'int8'"):
        model.compute_loss(None, WORDS, LOGITS)


def test_targets_do_not_move_the_embeddings():
    """An input of zeros leaves no other way to the untied embeddings."""
    options = {"tie_embeddings": False, "embedding_scale": 0.0}
    model = language_model(augmented_loss=5.0, **options)
    before = helpers.as_numpy(model.embedding.embeddings.value)
    model.train_on_batch(np.maximum(WORDS, 0), WORDS)
    after = helpers.as_numpy(model.embedding.embeddings.value)
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize(
    "options",
    [
        {"augmented_loss": -0.1},
        {"augmented_loss": math.inf},
        {"loss_temperature": 0.0},
        {"loss_temperature": math.inf},
    ],
)
def test_weight_and_temperature_are_checked(options):
    ((name, bad),) = options.items()
    with pytest.raises(ValueError, match=f"`{name}`.*{name}={bad}"):
        LanguageModel(7, RHNCell(3), **options)


def test_words_are_those_of_all_replicas(monkeypatch):
    alone = float(augmented_loss(EMBEDDINGS, WORDS, LOGITS, TEMPERATURE))
    monkeypatch.setattr(
        "kerasrnn.models.language_model.sum_over_replicas", lambda x: x + 2
    )
    found = float(augmented_loss(EMBEDDINGS, WORDS, LOGITS, TEMPERATURE))
    assert found == pytest.approx((4 * alone + 2) / (4 + 2), rel=1e-5)


def test_each_replica_adds_its_share(monkeypatch):
    """Keras sums the losses of the replicas."""
    model = LanguageModel(7, RHNCell(3), augmented_loss=0.5)
    model.build()
    model.compile(loss=TokenCrossentropy(-1))
    losses = [
        float(model.compute_loss(None, WORDS, LOGITS, training=training))
        for training in (False, True)
    ]
    monkeypatch.setattr(
        "kerasrnn.models.language_model.replica_count",
        lambda model: 4,
    )
    shared = float(model.compute_loss(None, WORDS, LOGITS, training=True))
    plain, whole = losses
    assert abs(whole - plain) > 0.01
    assert shared - plain == pytest.approx((whole - plain) / 4, rel=1e-3)
