"""Constraints, against plain searches of models that obey them."""

import numpy as np
import pytest
from keras import ops

from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding import GreedySearch
from kerasrnn.decoding import SamplingSearch
from tests import helpers
from tests.decoding.steps import random_tables
from tests.decoding.steps import random_trees
from tests.decoding.steps import run
from tests.decoding.steps import search_trees
from tests.decoding.steps import sharpening_function
from tests.decoding.steps import sharpening_step
from tests.decoding.steps import table_step
from tests.decoding.steps import tokens
from tests.decoding.steps import tree_functions
from tests.helpers import slow_on_jax
from tests.reference import search as reference

START, END, PAD = -1, 0, -1
IDS = {"start_id": START, "end_id": END, "pad_id": PAD}
CONSTRAINTS = [
    # Only the end is left at the second step, and too early.
    {"min_length": 4, "forbidden_ids": [1], "no_repeat_ngram": 1},
    {"min_length": 2},
    {"forbidden_ids": [1, 7]},
    {"no_repeat_ngram": 1},
    {"no_repeat_ngram": 2},
    {"no_repeat_ngram": 1, "repeatable_ids": [2, 3]},
    {"no_repeat_ngram": 2, "repeatable_ids": [1]},
]
some_constraints = pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)


def functions(trees, constraints):
    """What each model says of a prefix, without and with the constraints."""
    for tree in zip(*trees, strict=True):
        log_probs, _ = tree_functions(*tree)
        yield (
            log_probs,
            reference.constrained(log_probs, END, **constraints),
        )


def written(ids):
    return tuple(int(i) for i in ids if i != PAD)


@pytest.mark.slow_on_jax
@some_constraints
def test_a_wide_beam_finds_the_best_that_is_allowed(constraints):
    trees = random_trees(12, 3, 4, seed=1)
    options = {**IDS, **constraints, "max_length": 4}
    search = BeamSearch(**options, beam_width=24, num_hypotheses=5)
    found = search_trees(search, trees)
    for i, (_, allowed) in enumerate(functions(trees, constraints)):
        expected = reference.exhaustive(
            allowed, START, END, 4, reference.by_length(1.0)
        )[:5]
        exist = np.isfinite(found.scores[i])
        ids = [written(ids) for ids in found.ids[i][exist]]
        assert ids == [best for best, _ in expected]
        np.testing.assert_allclose(
            found.scores[i][exist], [score for _, score in expected], rtol=1e-4
        )
        assert (found.ids[i][~exist] == PAD).all()


@slow_on_jax
@some_constraints
def test_greedy_search_takes_the_most_likely_allowed_token(constraints):
    trees = random_trees(20, 4, 5, seed=2)
    options = {**IDS, **constraints, "max_length": 5}
    found = search_trees(GreedySearch(**options), trees)
    beam = BeamSearch(**options, beam_width=1, length_penalty=0)
    beam = search_trees(beam, trees)
    np.testing.assert_array_equal(beam.ids, found.ids)
    np.testing.assert_allclose(beam.scores, found.scores, rtol=1e-4)
    changed = 0
    for i, (log_probs, allowed) in enumerate(functions(trees, constraints)):
        best, total = reference.greedy(allowed, START, END, 5)
        assert written(found.ids[i, 0]) == best
        np.testing.assert_allclose(found.scores[i, 0], total, rtol=1e-4)
        changed += best != reference.greedy(log_probs, START, END, 5)[0]
    assert changed


@some_constraints
def test_samples_are_what_is_allowed(constraints):
    trees = random_trees(6, 4, 5, seed=3)
    options = {**IDS, **constraints, "max_length": 5}
    search = SamplingSearch(**options, num_samples=20, seed=1)
    found = search_trees(search, trees)
    for i, (log_probs, allowed) in enumerate(functions(trees, constraints)):
        for ids, score in zip(found.ids[i], found.scores[i], strict=True):
            drawn = written(ids)
            assert np.isfinite(reference.log_prob_of(drawn, allowed, START))
            total = reference.log_prob_of(drawn, log_probs, START)
            np.testing.assert_allclose(score, total, rtol=1e-4)


@slow_on_jax
@pytest.mark.parametrize("n, repeatable_ids", [(2, [2]), (3, [2, 3])])
def test_an_ngram_with_a_repeatable_id_may_come_again(n, repeatable_ids):
    """In texts long enough for one, which seldom end by themselves."""
    start, end, length = 4, 1, 12
    tables = random_tables(20, 5, seed=4)
    tables[..., end] = -12.0
    constraints = {"no_repeat_ngram": n, "repeatable_ids": repeatable_ids}
    options = {"start_id": start, "end_id": end, "max_length": length}
    greedy, beam = (
        run(search, tables, sharpening_step).ids[:, 0]
        for search in (
            GreedySearch(**options, **constraints),
            BeamSearch(**options, **constraints, beam_width=3),
        )
    )
    again = 0
    for i, table in enumerate(tables):
        log_probs = sharpening_function(table)
        allowed = reference.constrained(log_probs, end, **constraints)
        expected, _ = reference.greedy(allowed, start, end, length)
        assert tokens(greedy[i]) == expected
        best = reference.beam_search(allowed, start, end, length, 3, 1.0)
        assert tokens(beam[i]) == best[0][0]
        ngrams = [expected[t : t + n] for t in range(length - n + 1)]
        again += any(ngrams.count(x) > 1 for x in ngrams if len(x) == n)
    assert again > 10


def test_ids_are_found_in_the_vocabulary_of_each_sentence():
    search = GreedySearch(-1, 9, -1, 5, min_length=1, forbidden_ids=[7, 8])
    vocabulary = ops.array([[5, 7, 9], [9, 8, 7], [1, 2, 9]])
    allowed = search.allowed(ops.ones((3, 2, 3)), 0, vocabulary, ())
    expected = [[1, 0, 0], [0, 0, 0], [1, 1, 0]]
    # Where nothing is left, the end is.
    expected[1] = [1, 0, 0]
    found = np.isfinite(helpers.as_numpy(allowed))
    np.testing.assert_array_equal(found[:, 0], expected)
    np.testing.assert_array_equal(found[:, 1], expected)


def test_ids_that_no_column_has_forbid_nothing():
    search = GreedySearch(-1, 1, 5, 5, forbidden_ids=[-1, 4])
    logits = ops.ones((2, 3, 4))
    helpers.assert_close(search.allowed(logits, 0, None, ()), logits, 0, 0)


@pytest.mark.parametrize(
    "search",
    [
        GreedySearch(4, 1, 0, 6),
        BeamSearch(4, 1, 0, 6, beam_width=4, num_hypotheses=4),
        SamplingSearch(4, 1, 0, 6, num_samples=4, seed=1),
    ],
    ids=lambda search: type(search).__name__,
)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"static_sizes": True},
        {"vocabulary": np.array([[5, 4, 1, 0, 3, 2, 6, 7]] * 6)},
        {"prefix": [[2]] * 6, "required": [[[5, 3]]] * 6},
    ],
    ids=lambda options: "".join(options)[:9],
)
def test_padding_and_the_start_are_in_no_text(search, options):
    """However likely they are, and the score is that of the model."""
    tables = random_tables(6, 8, seed=2)
    tables[:, :, [0, 4]] = 2.0
    step = table_step
    if "vocabulary" in options:
        columns = options["vocabulary"][0]

        def step(*args):
            logits, *others = table_step(*args)
            return ops.take(logits, columns, axis=1), *others

    found = run(search, tables, step, **options)
    log_probs = tables - np.log(np.exp(tables).sum(-1, keepdims=True))
    for table, rows, scores in zip(log_probs, *found[:2], strict=True):
        exist = np.isfinite(scores)
        rows, scores = rows[exist], scores[exist]
        assert len(rows)
        texts = [tuple(ids[ids != 0].tolist()) for ids in rows]
        assert not any(4 in text for text in texts)
        if isinstance(search, BeamSearch):
            assert len(set(texts)) == len(texts)
        for text, ids, score in zip(texts, rows, scores, strict=True):
            assert text == tokens(ids)
            total = table[(4, *text[:-1]), text].sum()
            if isinstance(search, BeamSearch):
                total /= reference.length_penalty(len(text), 1.0)
            np.testing.assert_allclose(score, total, rtol=1e-4)


def test_a_start_that_is_the_end_may_end():
    logits = ops.zeros((1, 1, 3))
    for pad_id, first in ((0, -np.inf), (2, 0)):
        search = GreedySearch(2, 2, pad_id, 5)
        allowed = helpers.as_numpy(search.allowed(logits, 0, None, ()))
        assert allowed.tolist() == [[[first, 0, 0]]]
