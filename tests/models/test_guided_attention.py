import keras
import numpy as np
import pytest

from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Translator
from kerasrnn.models.translator import alignment_cost
from kerasrnn.training import TokenCrossentropy


def test_the_cost_is_the_mean_cross_entropy_of_aligned_tokens():
    weights = np.array([[[0.5, 0.25, 0.25], [0.1, 0.9, 0.0], [1.0, 0.0, 0.0]]])
    alignment = np.array([[[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]])
    expected = -(0.5 * np.log(0.5) + 0.5 * np.log(0.25) + np.log(0.9)) / 2
    found = alignment_cost(weights, alignment)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert alignment_cost(weights, 0 * alignment) == 0
    # Attention that is nowhere near costs much, but not without end.
    assert 10 < alignment_cost(weights[:, 2:], alignment[:, 1:2]) < 20


def test_aligned_tokens_are_those_of_all_replicas(monkeypatch):
    """The others have one, whose cost is 2."""
    others = iter([2.0, 1.0])
    monkeypatch.setattr(
        "kerasrnn.models.translator.sum_over_replicas",
        lambda x: x + next(others),
    )
    found = alignment_cost(np.full((1, 3, 4), 0.25), np.ones((1, 3, 4)) / 4)
    np.testing.assert_allclose(found, (3 * np.log(4) + 2) / 4, rtol=1e-6)


def translator(**decoder):
    keras.utils.set_random_seed(1)
    cell = keras.layers.GRUCell(8)
    return Translator(
        Encoder(9, cell, 8),
        Decoder(9, cell, 8, **decoder),
        alignment_weight=2.0,
    )


def reversed_sequences(count, length=5):
    """Sources, the same reversed as targets, and where each token is from."""
    source = np.random.default_rng(0).integers(3, 9, (count, length))
    labels = source[:, ::-1]
    target = np.concatenate([np.ones((count, 1), int), labels[:, :-1]], axis=1)
    alignment = np.tile(np.eye(length)[::-1], (count, 1, 1))
    return {"source": source, "target": target}, labels, alignment


def test_the_loss_has_the_weighted_cost(monkeypatch):
    """Each of two replicas adds its share."""
    monkeypatch.setattr(
        "kerasrnn.models.translator.share_of_added_loss", lambda loss: loss / 2
    )
    model = translator()
    inputs, labels, alignment = reversed_sequences(4)
    memory = model.encoder(inputs["source"])
    _, weights = model.decoder(
        inputs["target"], *memory, return_attention_scores=True
    )
    model.compile("sgd", TokenCrossentropy(), run_eagerly=True)
    plain = model.train_on_batch(inputs, labels)
    model = translator()
    model.compile("sgd", TokenCrossentropy(), run_eagerly=True)
    guided = model.train_on_batch(inputs | {"alignment": alignment}, labels)
    cost = float(alignment_cost(weights, alignment))
    assert guided == pytest.approx(plain + 2.0 / 2 * cost, rel=1e-5)
    # It is of training only.
    model(inputs | {"alignment": alignment})
    assert not model.losses


def test_without_attention_there_is_nothing_to_guide():
    model = translator(attention=None)
    inputs, labels, alignment = reversed_sequences(2)
    model.compile("sgd", TokenCrossentropy(), run_eagerly=True)
    with pytest.raises(ValueError, match="Received: attention=None"):
        model.train_on_batch(inputs | {"alignment": alignment}, labels)
