import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.decoding import BeamSearch
from tests.decoding.steps import END
from tests.decoding.steps import PAD
from tests.decoding.steps import START
from tests.decoding.steps import A
from tests.decoding.steps import B
from tests.decoding.steps import as_arrays
from tests.decoding.steps import random_tables
from tests.decoding.steps import random_trees
from tests.decoding.steps import run
from tests.decoding.steps import search_trees
from tests.decoding.steps import table_step
from tests.decoding.steps import tokens
from tests.decoding.steps import tree_functions
from tests.helpers import slow_on_jax
from tests.reference import search as reference


@pytest.mark.parametrize(
    ("beam_width", "length_penalty", "count"),
    [(5, 1.0, 1), (1, 1.0, 1), (2, 0.6, 2), (5, 0.0, 3), (3, 2.0, 3)],
)
def test_equals_the_plain_list_beam_search(beam_width, length_penalty, count):
    """All that it returns, so it also stops at the same step."""
    trees = random_trees(60, 4, 7)
    search = BeamSearch(
        -1,
        0,
        -1,
        7,
        beam_width=beam_width,
        length_penalty=length_penalty,
        num_hypotheses=count,
    )
    found = search_trees(search, trees)
    for i, tree in enumerate(zip(*trees, strict=True)):
        log_probs, _ = tree_functions(*tree)
        best = reference.beam_search(
            log_probs, -1, 0, 7, beam_width, length_penalty, count
        )
        written = [tuple(x for x in ids if x >= 0) for ids in found.ids[i]]
        assert written == [tokens for tokens, _ in best]
        scores = [score for _, score in best]
        np.testing.assert_allclose(found.scores[i], scores, rtol=1e-4)


def test_it_goes_on_while_a_longer_hypothesis_may_be_better():
    """The end is likelier than `a`, but six tokens cost little more."""
    table = np.full((5, 5), -np.inf)
    table[START, [END, A]] = np.log([0.55, 0.45])
    table[A, A] = 0.0

    def step(ids, states, memory):
        logits, _, weights = table_step(ids, (), memory)
        ending = ops.where(ops.arange(5) == END, 0.0, -np.inf)
        logits = ops.where(states >= 5, ending, logits)
        return logits, states + 1, weights

    found = run(
        BeamSearch(START, END, PAD, 6, beam_width=2, length_penalty=2.0),
        [table],
        step,
    )
    assert tokens(found.ids[0, 0]) == (A,) * 5 + (END,)
    score = np.log(0.45) / reference.length_penalty(6, 2.0)
    np.testing.assert_allclose(found.scores, [[score]], rtol=1e-4)


# Words, steps, length penalty, coverage penalty, hypotheses; of each 25 models.
EXHAUSTIVE = [
    (3, 4, 1.0, 0.4, 3),
    (3, 5, 0.0, 0.0, 6),
    (3, 1, 1.0, 0.3, 6),  # there are three
    (4, 5, 0.6, 0.0, 5),
    (4, 3, 1.4, 0.2, 2),
    (5, 5, 1.0, 0.2, 6),
    (5, 4, 0.0, 0.5, 1),
    (5, 2, 0.6, 0.0, 4),
]


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("seed", range(len(EXHAUSTIVE)))
def test_a_wide_beam_finds_what_exhaustive_search_finds(seed):
    size, length, alpha, beta, count = EXHAUSTIVE[seed]
    trees = random_trees(25, size, length, seed=seed)
    width = max(count, size * (size - 1) ** (length - 1))
    search = BeamSearch(
        start_id=-1,
        end_id=0,
        pad_id=-1,
        max_length=length,
        beam_width=width,
        length_penalty=alpha,
        coverage_penalty=beta,
        num_hypotheses=count,
    )
    found = search_trees(search, trees, source_mask=np.ones((25, 3), bool))
    for i, tree in enumerate(zip(*trees, strict=True)):
        log_probs, looks = tree_functions(*tree)
        score = reference.by_length_and_coverage(alpha, beta, looks, -1)
        best = reference.exhaustive(log_probs, -1, 0, length, score)[:count]
        missing = [((), -np.inf)] * (count - len(best))
        for ids, found_score, (expected, expected_score) in zip(
            found.ids[i], found.scores[i], best + missing, strict=True
        ):
            padding = [-1] * (length - len(expected))
            assert ids.tolist() == [*expected, *padding]
            np.testing.assert_allclose(found_score, expected_score, rtol=1e-4)


def test_what_does_not_exist_is_padding_and_scores_minus_infinity():
    """Of one token and the end there are three hypotheses up to length 2."""
    logits = np.log([[0.6, 0.4]])

    def step(ids, states, memory):
        rows = ops.zeros_like(ids)
        return ops.take(logits, rows, axis=0), states, ops.ones((len(ids), 1))

    search = BeamSearch(
        -1, 0, -1, 2, beam_width=5, length_penalty=0.0, num_hypotheses=5
    )
    found = as_arrays(
        search(step, np.zeros((1, 1)), source_mask=np.ones((1, 1), bool))
    )
    written = [[0, -1], [1, 0], [1, 1], [-1, -1], [-1, -1]]
    assert found.ids[0].tolist() == written
    probabilities = [0.6, 0.24, 0.16, 0.0, 0.0]
    np.testing.assert_allclose(np.exp(found.scores[0]), probabilities, 1e-5)
    exists = np.array(written) >= 0
    np.testing.assert_array_equal(found.alignments[0, ..., 0], exists)


def test_a_hypothesis_that_ended_comes_before_a_better_one_that_was_cut():
    """The end is unlikely, but without it no sentence is whole."""
    logits = np.log([[0.1, 0.9]])

    def step(ids, states, memory):
        return ops.take(logits, ops.zeros_like(ids), axis=0), states, None

    search = BeamSearch(
        -1, 0, -1, 3, beam_width=4, length_penalty=0.0, num_hypotheses=4
    )
    found = as_arrays(search(step, np.zeros((1, 1))))
    assert found.ids[0].tolist() == [
        [0, -1, -1],
        [1, 0, -1],
        [1, 1, 0],
        [1] * 3,
    ]
    probabilities = [0.1, 0.09, 0.081, 0.729]
    np.testing.assert_allclose(np.exp(found.scores[0]), probabilities, 1e-5)


# Coverage: `a` is likelier than `b`, but looks where the start looked.

LOOKS = {START: [0.9, 0.1, 0.0], A: [0.8, 0.2, 0.0], B: [0.1, 0.8, 0.1]}


def looking_step(ids, states, memory):
    logits, states, _ = table_step(ids, states, memory)
    looks = np.zeros((5, 3), "float32")
    for token, weights in LOOKS.items():
        looks[token] = weights
    return logits, states, ops.take(looks, ids, axis=0)


def run_looking(penalty, mask):
    table = np.full((5, 5), 1e-9)
    table[START, [A, B]] = [0.6, 0.4]
    table[[A, B], END] = 1.0
    search = BeamSearch(
        START,
        END,
        PAD,
        6,
        beam_width=3,
        coverage_penalty=penalty,
        num_hypotheses=2,
    )
    return run(search, np.log(table)[None], looking_step, source_mask=mask)


@pytest.mark.parametrize(
    ("penalty", "mask", "first"),
    [
        (0.0, [True, True, False], A),
        (0.1, [True, True, False], A),
        (0.6, [True, True, False], B),
        (0.6, [True, False, False], A),
    ],
)
def test_coverage_penalty(penalty, mask, first):
    found = run_looking(penalty, np.array([mask]))
    others = {A: B, B: A}
    ranked = [(first, END), (others[first], END)]
    assert [tokens(ids) for ids in found.ids[0]] == ranked
    log_prob = {A: np.log(0.6), B: np.log(0.4)}
    for score, (token, _) in zip(found.scores[0], ranked, strict=True):
        weights = [LOOKS[START], LOOKS[token]]
        expected = log_prob[token] / reference.length_penalty(2, 1.0)
        expected += reference.coverage_penalty(weights, mask, penalty)
        np.testing.assert_allclose(score, expected, rtol=1e-4)


def test_an_unattended_place_has_a_finite_penalty():
    found = run_looking(0.6, np.array([[True, True, True]]))
    assert tokens(found.ids[0, 0]) == (B, END)
    assert np.isfinite(found.scores).all()
    assert found.scores[0, 1] < found.scores[0, 0] - 5


def test_coverage_needs_a_source_mask():
    search = BeamSearch(START, END, PAD, 6, coverage_penalty=0.2)
    with pytest.raises(ValueError, match="needs `source_mask`.*=0.2, source"):
        run(search, random_tables(1, 5))


@slow_on_jax
def test_unfinished_hypotheses_are_ranked_by_coverage_too():
    """`b` is a little less likely, and looks where nobody looked."""

    def step(ids, states, memory):
        none = 0.0 * states[:, 0]
        logits = ops.stack([none - 20, none + 0.3, none, none - 20], -1)
        after_two = ops.expand_dims(ids, 1) == 2
        looks = ops.where(after_two, *np.eye(2, dtype="float32")[::-1, None])
        return logits, states, looks

    options = {"beam_width": 3, "coverage_penalty": 1.0}
    mask = np.ones((1, 2), bool)
    one, three = (
        run(
            BeamSearch(-1, 3, -1, 2, num_hypotheses=n, **options),
            np.zeros((1, 1, 1)),
            step,
            source_mask=mask,
        )
        for n in (1, 3)
    )
    assert one.ids.tolist() == [[[2, 1]]]
    assert three.ids[0, 0].tolist() == [2, 1]
    assert (np.diff(three.scores[0]) <= 0).all()


@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="graphs of TensorFlow"
)
def test_a_step_takes_few_operations():
    """TensorFlow takes some time for each, which is most of a search."""
    import tensorflow as tf

    def search(tables):
        states = ops.zeros((ops.shape(tables)[0], 1))
        return BeamSearch(START, END, PAD, 8)(table_step, states, tables).ids

    spec = tf.TensorSpec((None, 5, 5), "float32")
    graph = tf.function(search).get_concrete_function(spec).graph
    loops = graph.as_graph_def().library.function
    assert max(len(loop.node_def) for loop in loops) < 700  # 776 were too many
