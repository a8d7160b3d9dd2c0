"""A decoder step by step, from what it has read."""

import keras
import numpy as np
import pytest
from keras import ops
from keras.layers import GRUCell
from keras.layers import LSTMCell

from kerasrnn.models import Decoder
from tests import helpers
from tests.models.small import DECODER_INPUTS as INPUTS
from tests.models.small import SOURCE
from tests.models.small import decoder as make
from tests.models.small import lexicon
from tests.models.small import translation_table

READ = [INPUTS[name] for name in ("memory", "memory_mask", "final")]


@pytest.mark.slow_on_jax
def test_a_deep_decoder_starts_from_the_bridge():
    decoder = make(LSTMCell(3), depth=2)
    states, _ = decoder.start(*READ)
    keras.tree.assert_same_structure(
        states, decoder.rnn.cell.get_initial_state(2)
    )
    helpers.assert_close(
        keras.tree.flatten(states), decoder.bridge(INPUTS["final"])
    )


@pytest.mark.slow_on_jax
def test_the_copy_bridge_starts_from_the_final_states():
    decoder = make(LSTMCell(2), bridge="copy", input_feeding=True)
    (fed, (h, c)), _ = decoder.start(*READ)
    helpers.assert_close(fed, np.zeros((2, 2)))
    helpers.assert_close(ops.concatenate([h, c], -1), INPUTS["final"])


STARTS = {
    "plain": {},
    "lexicon": {"lexicon": True},
    "tied": {"lexicon": True, "tie_embeddings": True, "attention_units": 6},
    "factorized": {"factorized": True, "input_feeding": True},
}


@pytest.mark.parametrize("name", STARTS)
def test_a_step_for_a_few_words_has_their_logits(name):
    """Three hypotheses of each of two sentences, and their shortlists."""
    options = dict(STARTS[name])
    if options.pop("lexicon", False):
        options["lexicon"] = lexicon(translation_table())
    decoder = Decoder(10, GRUCell(4), embedding_dim=3, **options)
    decoder(INPUTS["ids"], *READ, source=SOURCE[:2])
    helpers.randomize(decoder)
    words = np.array([[9, 2, 0, 5], [1, 2, 3, 4]])
    ids = np.array([1, 5, 8, 2, 2, 4])
    found = []
    for vocabulary in (None, words):
        states, memory = decoder.start(*READ, SOURCE[:2], vocabulary)
        states = keras.tree.map_structure(
            lambda x: ops.repeat(x, 3, axis=0), states
        )
        found.append(decoder.step(ids, states, memory))
    (logits, *rest), (few, *same) = found
    assert logits.shape == (6, 10)
    helpers.assert_close(
        few, np.take_along_axis(helpers.as_numpy(logits), words.repeat(3, 0), 1)
    )
    helpers.assert_close(same, rest)
