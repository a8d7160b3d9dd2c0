import numpy as np
import pytest
from keras.layers import GRUCell
from keras.layers import LSTMCell

from kerasrnn.models import ClassifierEnsemble
from kerasrnn.models import Encoder
from kerasrnn.models import TextClassifier
from tests import helpers
from tests.models.small import SOURCE

IDS = SOURCE.astype("int32")


def classifier(cell, summary, num_classes=3, **options):
    encoder = Encoder(9, cell, embedding_dim=3, **options)
    model = TextClassifier(encoder, summary, num_classes)
    model.build((None, None))
    helpers.randomize(model)
    return model


@pytest.fixture(scope="module")
def members():
    return [
        classifier(GRUCell(4), "attention"),
        classifier(LSTMCell(5), "pooled", bidirectional=False),
    ]


def logits_of_each(models):
    return [helpers.as_numpy(model(IDS)) for model in models]


def test_its_logits_are_the_mean_of_those_of_its_members(members):
    first, second = logits_of_each(members)
    helpers.assert_close(ClassifierEnsemble(members)(IDS), (first + second) / 2)
    helpers.assert_close(
        ClassifierEnsemble(members, [2, 0.5])(IDS), first / 4 + second
    )
    assert np.abs(first - second).max() > 0.1


def test_it_has_a_configuration(members):
    ensemble = ClassifierEnsemble(members, [1.5, 0.5])
    copy = ClassifierEnsemble.from_config(ensemble.get_config())
    assert copy.num_classes == 3
    copy(IDS)
    copy.set_weights(ensemble.get_weights())
    helpers.assert_close(copy(IDS), ensemble(IDS))


def test_embeddings_are_classified_as_their_tokens(members):
    ensemble = ClassifierEnsemble(members)
    for logits, weights in (
        ensemble.classify_ids(IDS),
        ensemble.classify_embedded(ensemble.embed(IDS), IDS),
    ):
        helpers.assert_close(logits, ensemble(IDS))
        assert weights is None


@helpers.slow_on_jax
def test_its_attention_is_the_mean_of_that_of_its_members(members):
    models = [members[0], classifier(GRUCell(3), "attention")]
    ensemble = ClassifierEnsemble(models)
    of_each = [helpers.as_numpy(model.classify_ids(IDS)[1]) for model in models]
    for _, weights in (
        ensemble.classify_ids(IDS),
        ensemble.classify_embedded(ensemble.embed(IDS), IDS),
    ):
        helpers.assert_close(weights, sum(of_each) / 2)
    assert np.abs(of_each[0] - of_each[1]).max() > 0.01


@helpers.slow_on_jax
def test_each_member_keeps_its_own_mask(members):
    careless = classifier(GRUCell(4), "last", mask_padding=False)
    models = [members[0], careless]
    ensemble = ClassifierEnsemble(models)
    logits, _ = ensemble.classify_embedded(ensemble.embed(IDS), IDS)
    first, second = logits_of_each(models)
    helpers.assert_close(logits, (first + second) / 2)
    for both in (models, models[::-1]):
        assert helpers.as_numpy(ClassifierEnsemble(both).mask(IDS)).all()
    alone = ClassifierEnsemble(members).mask(IDS)
    np.testing.assert_array_equal(helpers.as_numpy(alone), SOURCE != 0)


def test_its_hidden_states_are_those_of_all(members):
    states = helpers.as_numpy(ClassifierEnsemble(members).hidden_states(IDS))
    assert states.shape == (*IDS.shape, 8 + 5)
    helpers.assert_close(states[..., :8], members[0].encoder(IDS)[0])
    helpers.assert_close(states[..., 8:], members[1].encoder(IDS)[0])


def test_members_share_their_classes(members):
    other = classifier(GRUCell(4), "last", num_classes=1)
    with pytest.raises(ValueError, match=r"2 models, with \[1, 3\] logits"):
        ClassifierEnsemble([members[0], other])
    with pytest.raises(ValueError, match="0 models"):
        ClassifierEnsemble([])


def test_members_share_no_layer(members):
    """Keras would save them, but could not load them."""
    other = TextClassifier(members[0].encoder, "last", 3)
    other.build((None, None))
    with pytest.raises(ValueError, match="must not share layers.*embedding"):
        ClassifierEnsemble([members[0], other])
    assert len(ClassifierEnsemble([members[0]] * 2).models) == 2


@pytest.mark.parametrize("temperatures", [[1.0], [1.0, 0.0], [1, "2"], 2.0])
def test_each_member_has_a_temperature(members, temperatures):
    with pytest.raises(ValueError, match="`temperatures` must be"):
        ClassifierEnsemble(members, temperatures)
