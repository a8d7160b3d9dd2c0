import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding import GreedySearch
from tests.reference import search as reference

PAD, END, A, B = range(4)
START = 4


def table_step(log_probs):
    """A step function over a table `(tokens, tokens)` of transitions.

    Each sentence reads its own table, from the memory.
    """

    def step(ids, states, memory):
        rows = ops.arange(ops.shape(ids)[0])
        size = memory.shape[-1]
        flat = ops.reshape(memory, (-1, size))
        logits = ops.take(flat, rows * memory.shape[1] + ids, axis=0)
        return logits, states + 1, ops.softmax(logits[:, :3])

    return step


def run(search, tables, **kwargs):
    tables = ops.convert_to_tensor(np.asarray(tables, "float32"))
    states = ops.zeros((tables.shape[0], 1))
    found = search(table_step(tables), states, tables, **kwargs)
    return keras.tree.map_structure(ops.convert_to_numpy, found)


def random_tables(count, size, seed=0):
    logits = np.random.default_rng(seed).normal(size=(count, size, size)) * 2
    logits[:, :, PAD] = -60.0
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def as_function(table):
    return lambda prefix: table[prefix[-1]]


def tokens(ids):
    ids = list(map(int, ids))
    return tuple(ids[: ids.index(END) + 1] if END in ids else ids)


def planted():
    """p(end|a) = .6, p(a|a) = .39, and uniform behind the end."""
    probabilities = np.full((5, 5), 1e-9)
    probabilities[START, A] = 1.0
    probabilities[A, [END, A, B]] = [0.6, 0.39, 0.01]
    probabilities[B, :4] = probabilities[END, :4] = 0.25
    return np.log(probabilities)[None]


def test_a_finished_hypothesis_pays_for_nothing_behind_its_end():
    search = BeamSearch(START, END, PAD, max_length=6, beam_width=2)
    found = run(search, planted())
    assert tokens(found.ids[0, 0]) == (A, END)
    penalty = (7 / 6) ** 1.0
    np.testing.assert_allclose(found.scores, [[np.log(0.6) / penalty]], 1e-5)


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("beam_width", [1, 2, 5])
def test_equals_the_plain_list_beam_search(beam_width, length_penalty):
    tables = random_tables(40, 6)
    search = BeamSearch(
        START, END, PAD, 8, beam_width, length_penalty, num_hypotheses=1
    )
    found = run(search, tables)
    for i, table in enumerate(tables):
        best, score = reference.beam_search(
            as_function(table), START, END, 8, beam_width, length_penalty
        )[0]
        assert tokens(found.ids[i, 0]) == tuple(best)
        np.testing.assert_allclose(found.scores[i, 0], score, rtol=1e-4)


def test_a_wide_beam_finds_what_exhaustive_search_finds():
    tables = random_tables(10, 5, seed=1)
    found = run(BeamSearch(START, END, PAD, 4, 64, 1.0), tables)
    for i, table in enumerate(tables):
        best, score = reference.exhaustive(
            as_function(table), START, END, 4, 1.0, 5
        )[0]
        assert tokens(found.ids[i, 0]) == tuple(best)
        np.testing.assert_allclose(found.scores[i, 0], score, rtol=1e-4)


def test_a_width_of_one_is_greedy_search():
    tables = random_tables(50, 7, seed=2)
    beam = run(BeamSearch(START, END, PAD, 9, 1, 0.0), tables)
    greedy = run(GreedySearch(START, END, PAD, 9), tables)
    np.testing.assert_array_equal(beam.ids, greedy.ids)
    np.testing.assert_allclose(beam.scores, greedy.scores, rtol=1e-4)
