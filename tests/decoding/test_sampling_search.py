import collections
import warnings

import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.decoding import SamplingSearch
from kerasrnn.decoding.independent_search import draw
from tests import helpers
from tests.decoding.steps import random_trees
from tests.decoding.steps import search_trees
from tests.decoding.steps import tree_functions
from tests.reference import search as reference

IDS = {"start_id": -1, "end_id": 0, "pad_id": -1}
TREES = random_trees(2, 3, 3, seed=5)


def assert_drawn(samples, probabilities):
    """Chi-square: by chance it fails less than once in a thousand times."""
    counts = collections.Counter(samples)
    assert set(counts) <= set(probabilities)
    expected = len(samples) * np.array(list(probabilities.values()))
    observed = np.array([counts[x] for x in probabilities])
    rare = expected < 5
    expected, observed = (
        np.append(x[~rare], x[rare].sum()) for x in (expected, observed)
    )
    chi_square = ((observed - expected) ** 2 / np.maximum(expected, 1)).sum()
    degrees = len(expected)
    assert chi_square < degrees + 4 * np.sqrt(2 * degrees)


@pytest.mark.slow_on_jax
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"temperature": 0.5},
        {"top_k": 2},
        {"top_p": 0.7},
        {"temperature": 2.0, "top_k": 2, "top_p": 0.6},
    ],
    ids=str,
)
def test_samples_are_as_frequent_as_they_are_likely(options):
    search = SamplingSearch(
        **IDS, max_length=3, num_samples=3000, seed=1, **options
    )
    found = search_trees(search, TREES)
    for i, tree in enumerate(zip(*TREES, strict=True)):
        log_probs, _ = tree_functions(*tree)
        drawn = reference.sampled(log_probs, **options)
        hypotheses = reference.exhaustive(
            drawn, -1, 0, 3, lambda tokens, total: np.exp(total)
        )
        samples = [tuple(x for x in ids if x >= 0) for ids in found.ids[i]]
        assert_drawn(samples, dict(hypotheses))
        expected = [
            reference.log_prob_of(tokens, log_probs, -1)
            for tokens in samples[:50]
        ]
        np.testing.assert_allclose(found.scores[i, :50], expected, rtol=1e-4)


def coin(ids, states, memory):
    """Heads, tails and the end, each with a probability of a third."""
    return ops.zeros((ops.shape(ids)[0], 3)), states, None


@pytest.mark.slow_on_jax
def test_samples_are_independent():
    search = SamplingSearch(
        **IDS, max_length=2, num_samples=2, seed=2, min_length=2
    )
    found = helpers.as_numpy(search(coin, ops.zeros((2000, 1))).ids)
    # Two sentences, two samples of one, and two tokens of a sample.
    for pair in (found[:1000, 0, 0], found[1000:, 0, 0]), found[..., 0].T:
        pairs = [tuple(map(int, x)) for x in zip(*pair, strict=True)]
        assert_drawn(pairs, {(i, j): 0.25 for i in (1, 2) for j in (1, 2)})
    assert_drawn(
        [tuple(map(int, x)) for x in found[:, 0]],
        {(i, j): 0.25 for i in (1, 2) for j in (1, 2)},
    )


def compiled(function):
    if keras.backend.backend() == "jax":
        import jax

        return jax.jit(function)
    if keras.backend.backend() == "torch":
        return function  # Nothing compiles it.
    import tensorflow as tf

    return tf.function(function)


def sample(search, states):
    return search(coin, states).ids


@pytest.mark.slow
def test_with_a_seed_the_same_is_drawn_in_a_graph():
    search = SamplingSearch(**IDS, max_length=5, num_samples=4, seed=7)
    graph = compiled(lambda states: sample(search, states))
    states = ops.zeros((5, 1))
    expected = helpers.as_numpy(sample(search, states))
    for _ in range(2):
        np.testing.assert_array_equal(helpers.as_numpy(graph(states)), expected)


def test_without_a_seed_each_call_draws_anew():
    states = ops.zeros((5, 1))
    drawn = {
        seed: [helpers.as_numpy(sample(search, states)) for _ in "ab"]
        for seed in (None, 7, 8)
        for search in [
            SamplingSearch(**IDS, max_length=9, num_samples=4, seed=seed)
        ]
    }
    assert [(x != y).any() for x, y in drawn.values()] == [True, False, False]
    assert (drawn[7][0] != drawn[8][0]).any()


@pytest.mark.slow
@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="exports of TensorFlow"
)
def test_without_a_seed_each_call_of_an_export_draws_anew(tmp_path):
    import tensorflow as tf

    search = SamplingSearch(**IDS, max_length=9, num_samples=4)
    archive = keras.export.ExportArchive()
    archive.track(keras.layers.Identity())
    archive.add_endpoint(
        "sample",
        lambda states: sample(search, states),
        [tf.TensorSpec([None, 1])],
    )
    archive.write_out(tmp_path / "sampler", verbose=False)
    served = tf.saved_model.load(tmp_path / "sampler")
    states = tf.zeros((5, 1))
    first, second = (served.sample(states).numpy() for _ in "ab")
    assert (first != second).any()


@pytest.mark.skipif(keras.backend.backend() != "jax", reason="jit of JAX")
def test_on_jax_a_scope_seeds_the_samples():
    import jax

    search = SamplingSearch(**IDS, max_length=9, num_samples=4)
    state = search.seed_generator.state

    @jax.jit
    def graph(states, seed):
        with keras.StatelessScope(state_mapping=[(state, seed)]) as scope:
            found = sample(search, states)
        return found, scope.get_current_value(state)

    states = ops.zeros((5, 1))
    first, seed = graph(states, state.value)
    second, _ = graph(states, seed)
    assert (first != second).any()


def test_what_has_no_probability_is_never_drawn():
    probabilities = np.array([[0.0, 0.5, 0.0, 0.25, 0.0]] * 5, "float32")
    noise = np.array([0.0, 0.66, 0.67, 1 - 2.0**-24, 1.0], "float32")
    drawn = draw(ops.array(probabilities), ops.array(noise))
    # The last one cannot come, but rounding may have it so.
    assert helpers.as_numpy(drawn).tolist() == [1, 1, 3, 3, 1]


@pytest.mark.parametrize("options", [{}, {"top_k": 2}], ids=str)
def test_the_least_temperature_takes_the_most_likely(options):
    search = SamplingSearch(temperature=1e-38, seed=1, **options)
    logits = np.array([[-1.0, 2.0, 30.0, 30.01]], "float32")
    noise = ops.convert_to_tensor(np.array([0.1], "float32"))
    found = search.choose(ops.convert_to_tensor(logits), noise)
    assert helpers.as_numpy(found).tolist() == [3]


def test_of_a_single_token_the_most_likely_is_drawn():
    logits = ops.convert_to_tensor(np.array([[0.0, 2.0, 1.0]], "float32"))
    noise = ops.convert_to_tensor(np.array([0.9], "float32"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = SamplingSearch(top_k=1).choose(logits, noise)
    assert helpers.as_numpy(found).tolist() == [1]


def test_the_fewest_that_sum_to_top_p_and_no_more():
    """Two of four that are equally likely are a half."""
    search = SamplingSearch(top_p=0.5, seed=1)
    noise = ops.convert_to_tensor(np.array([0.1, 0.9, 0.999], "float32"))
    found = search.choose(ops.zeros((3, 4)), noise)
    assert helpers.as_numpy(found).tolist() == [0, 1, 1]
