"""Encoders that start from language models of both directions."""

import numpy as np
import pytest

from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import RHNCell
from kerasrnn.models import Encoder
from kerasrnn.models import LanguageModel
from tests import helpers

IDS = np.random.default_rng(0).integers(1, 9, (3, 6))


def make(cell=None, embeddings_of=None, **kwargs):
    model = LanguageModel(9, cell or RHNCell(4, 2), 3, **kwargs)
    model.build()
    helpers.randomize(model)
    if embeddings_of:
        table = embeddings_of.embedding.get_weights()
        model.embedding.set_weights(table)
    return model


def outputs(model, ids):
    states = model.initial_states(len(ids))
    found, _ = model.run_rnns(model.embedding(ids), states)
    return helpers.as_numpy(found)


def test_each_direction_reads_as_its_language_model():
    forwards = make()
    backwards = make(embeddings_of=forwards)
    helpers.randomize(backwards.stack, seed=2)
    encoder = Encoder.from_language_model(forwards, backwards, pad_id=0)
    memory, _, _ = encoder(IDS)
    expected = [outputs(forwards, IDS)]
    expected.append(outputs(backwards, IDS[:, ::-1])[:, ::-1])
    helpers.assert_close(memory, np.concatenate(expected, -1))
    assert not np.allclose(*expected)


def test_models_that_make_no_encoder_are_refused():
    forwards = make()
    cases = {
        "depth=1 and depth=2": make(depth=2, embeddings_of=forwards),
        "FastGRUCell": make(FastGRUCell(4), embeddings_of=forwards),
        "'units': 5": make(RHNCell(5), embeddings_of=forwards),
        "'relu'": make(RHNCell(4, 2, activation="relu"), forwards),
        "scale=1.73205.* and .*scale=7": make(
            embeddings_of=forwards, embedding_scale=7.0
        ),
        "checksum": make(),
    }
    # That of `None`.
    equal = make(embeddings_of=forwards, embedding_scale=3**0.5)
    Encoder.from_language_model(forwards, equal)
    helpers.randomize(cases["checksum"].embedding, seed=2)
    for said, backwards in cases.items():
        with pytest.raises(ValueError, match=said):
            Encoder.from_language_model(forwards, backwards)


def test_an_encoder_is_trained_even_if_its_language_model_is_not():
    model = make()
    model.stack.trainable = False
    encoder = Encoder.from_language_model(model)
    assert all(weight.trainable for weight in encoder.weights)
