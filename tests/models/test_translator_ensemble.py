import keras
import numpy as np
import pytest
from keras import ops
from keras.layers import GRUCell
from keras.layers import LSTMCell

from kerasrnn.decoding import BeamSearch
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Translator
from kerasrnn.models import TranslatorEnsemble
from tests import helpers
from tests.models.small import INPUTS
from tests.models.small import SOURCE
from tests.models.small import translator

IDS = np.array([1, 5, 3], "int32")


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


def first_step(model):
    states, memory = model.encode(SOURCE)
    logits, states, alignments = model.decode_step(
        ops.convert_to_tensor(IDS), states, memory
    )
    return helpers.as_numpy(logits), states, helpers.as_numpy(alignments)


@pytest.fixture(scope="module")
def members():
    first = translator()
    second = translator(LSTMCell(8), decoder={"attention": "multi_head"})
    second.set_weights([2 * w for w in second.get_weights()])
    return [first, second]


@pytest.mark.slow_on_jax
def test_its_probabilities_are_the_mean_of_its_members(members):
    logits, states, alignments = first_step(TranslatorEnsemble(members))
    each = [first_step(member) for member in members]
    mean = np.mean([softmax(found[0]) for found in each], axis=0)
    np.testing.assert_allclose(np.exp(logits), mean, rtol=1e-4)
    np.testing.assert_allclose(
        alignments, np.mean([found[2] for found in each], axis=0), rtol=1e-5
    )
    helpers.assert_close(states, [found[1] for found in each])
    assert np.abs(softmax(each[0][0]) - mean).max() > 0.01


def test_called_it_is_what_decoding_step_by_step_gives(members):
    ensemble = TranslatorEnsemble(members)
    logits = helpers.as_numpy(ensemble(INPUTS))
    states, memory = ensemble.encode(SOURCE)
    for t in range(4):
        ids = ops.convert_to_tensor(INPUTS["target"][:, t])
        step, states, _ = ensemble.decode_step(ids, states, memory)
        helpers.assert_close(step, logits[:, t], rtol=1e-4, atol=1e-5)


def test_it_has_a_configuration(members):
    ensemble = TranslatorEnsemble(members)
    copy = TranslatorEnsemble.from_config(ensemble.get_config())
    copy.set_weights(ensemble.get_weights())
    helpers.assert_close(copy(INPUTS), ensemble(INPUTS))


def test_members_predict_the_same_few_words(members):
    words = np.array([[9, 2, 4, 5], [1, 2, 3, 4], [5, 2, 7, 0]])
    of_each, mean = (
        [
            softmax(helpers.as_numpy(model.decode_step(IDS, states, memory)[0]))
            for model in models
            for states, memory in [model.encode(SOURCE, words)]
        ]
        for models in (members, [TranslatorEnsemble(members)])
    )
    assert mean[0].shape == (3, 4)
    helpers.assert_close(mean[0], np.mean(of_each, axis=0))


@helpers.slow_on_jax
def test_of_one_it_is_that_one(members):
    search = BeamSearch(max_length=6, beam_width=3)
    alone, ensemble = (
        search(model.decode_step, *model.encode(SOURCE))
        for model in (members[1], TranslatorEnsemble(members[1:]))
    )
    np.testing.assert_array_equal(
        helpers.as_numpy(ensemble.ids), helpers.as_numpy(alone.ids)
    )
    helpers.assert_close(ensemble.scores, alone.scores)


def test_members_share_their_vocabulary(members):
    cell = GRUCell(4)
    other = Translator(Encoder(9, cell, 3), Decoder(11, cell, 3))
    with pytest.raises(ValueError, match=r"2 models, with \[10, 11\] logits"):
        TranslatorEnsemble([members[0], other])
    with pytest.raises(ValueError, match="0 models"):
        TranslatorEnsemble([])


@helpers.slow_on_jax
def test_it_is_exact_where_its_members_are_not():
    model = translator(cell=keras.layers.GRUCell(4, dtype="mixed_bfloat16"))
    alone, of_two = (
        x.decode_step(np.array([3, 4]), *x.encode(SOURCE[:2]))[0]
        for x in (model, TranslatorEnsemble([model, model]))
    )
    alone = ops.log_softmax(ops.cast(alone, "float32"))
    helpers.assert_close(of_two, alone)
