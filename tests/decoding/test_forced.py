import numpy as np
import pytest
from keras import ops

from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding import forced_decoding
from tests.decoding.steps import END
from tests.decoding.steps import PAD
from tests.decoding.steps import START
from tests.decoding.steps import as_arrays
from tests.decoding.steps import random_trees
from tests.decoding.steps import search_trees
from tests.decoding.steps import tree_functions
from tests.decoding.steps import tree_step
from tests.reference.search import log_prob_of


def along(trees, targets, **kwargs):
    states = ops.full((len(trees[0]), 1), -1, dtype="int32")
    memory = tuple(ops.convert_to_tensor(x) for x in trees)
    return as_arrays(
        forced_decoding(
            tree_step, states, targets, memory, start_id=START, **kwargs
        )
    )


def test_equals_the_sum_over_the_tokens():
    trees = random_trees(3, 5, 4)
    targets = np.array([[2, 3, 1], [3, 1, -1], [-1, -1, -1]])
    found = along(trees, targets).log_probabilities
    assert found.shape == (3, 3)
    for row, target, logits, looks in zip(found, targets, *trees, strict=True):
        log_probs, _ = tree_functions(logits, looks)
        tokens = tuple(target[target >= 0].tolist())
        expected = log_prob_of(tokens, log_probs, START)
        np.testing.assert_allclose(row.sum(), expected, rtol=1e-4, atol=1e-6)
        assert (row[target < 0] == 0).all()


@pytest.mark.parametrize("pad_id, end_id", [(-1, None), (PAD, END)])
def test_along_a_hypothesis_it_has_its_score_and_alignments(pad_id, end_id):
    trees = random_trees(6, 5, 5)
    mask = np.ones((6, 3), bool)
    search = BeamSearch(
        START, END, pad_id, max_length=5, beam_width=3, length_penalty=0
    )
    hypotheses = search_trees(search, trees, source_mask=mask)
    found = along(trees, hypotheses.ids[:, 0], source_mask=mask, end_id=end_id)
    np.testing.assert_allclose(
        found.log_probabilities.sum(axis=1), hypotheses.scores[:, 0], rtol=1e-4
    )
    np.testing.assert_allclose(
        found.alignments, hypotheses.alignments[:, 0], atol=1e-6
    )


@pytest.mark.parametrize("shape", [(0, 2), (2, 0)])
def test_of_nothing_there_is_nothing(shape):
    found = along(random_trees(shape[0], 5, 3), np.full(shape, PAD))
    assert found.log_probabilities.shape == shape
    assert found.alignments is None


def test_padding_has_a_score_of_0_whatever_the_logits():
    def step(ids, states, memory):
        logits = ops.tile(np.array([[-np.inf, 0, 0, 0]], "float32"), (1, 1))
        return logits, states, None

    targets = np.array([[2, 3, -1]])
    found = forced_decoding(step, np.zeros((1, 1)), targets)
    expected = [[-np.log(3), -np.log(3), 0]]
    np.testing.assert_allclose(
        as_arrays(found).log_probabilities, expected, rtol=1e-6
    )
    with pytest.raises(ValueError, match="requires alignments"):
        forced_decoding(
            step, np.zeros((1, 1)), targets, None, np.ones((1, 2), bool)
        )
