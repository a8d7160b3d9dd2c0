"""A beginning, required and forbidden phrases, against all sequences."""

import numpy as np
import pytest
from keras import ops

from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding import GreedySearch
from kerasrnn.decoding import SamplingSearch
from kerasrnn.decoding.phrases import arranged
from tests.decoding.steps import random_trees
from tests.decoding.steps import search_trees
from tests.decoding.steps import tree_functions
from tests.reference import search as reference

START, END, PAD = -1, 0, -1
IDS = {"start_id": START, "end_id": END, "pad_id": PAD}
SIZE, LENGTH = 4, 4
COUNT = 200


def random_phrases(generator, count, most_tokens):
    """So many phrases for each sentence, some of them empty, as tuples."""
    lengths = generator.integers(most_tokens + 1, size=(COUNT, count))
    return [
        [tuple(generator.integers(1, SIZE, length)) for length in row]
        for row in lengths
    ]


def padded(phrases, most_tokens):
    """Phrases as an array, with -1 behind them."""
    return ops.convert_to_tensor(
        [
            [[*phrase, *[-1] * (most_tokens - len(phrase))] for phrase in row]
            for row in phrases
        ],
        "int32",
    )


def draw(seed, required=2, forbidden=2):
    """Random phrases: for each sentence, and as arguments of a search."""
    generator = np.random.default_rng(seed)
    prefixes = random_phrases(generator, 1, 2)
    required = random_phrases(generator, required, 2)
    forbidden = random_phrases(generator, forbidden, 3)
    given = [
        {"prefix": prefix, "required": x, "forbidden": y}
        for [prefix], x, y in zip(prefixes, required, forbidden, strict=True)
    ]
    return given, {
        "prefix": padded(prefixes, 2)[:, 0],
        "required": padded(required, 2),
        "forbidden": padded(forbidden, 3),
    }


def written(ids):
    return tuple(int(i) for i in ids if i != PAD)


def satisfies(tokens, prefix, required, forbidden):
    behind = [tokens[: i + 1] for i in range(len(prefix), len(tokens))]
    return (
        tokens[: len(prefix)] == prefix
        and all(reference.contains(tokens, x) for x in required)
        and not any(x and y[-len(x) :] == x for x in forbidden for y in behind)
    )


@pytest.mark.slow_on_jax
def test_a_wide_beam_finds_the_best_that_have_their_phrases():
    trees = random_trees(COUNT, SIZE, LENGTH, seed=1)
    given, arguments = draw(seed=2)
    search = BeamSearch(
        **IDS, max_length=LENGTH, beam_width=27, num_hypotheses=5
    )
    found = search_trees(search, trees, **arguments)
    none = several = 0
    for i, phrases in enumerate(given):
        log_probs, _ = tree_functions(*(x[i] for x in trees))
        allowed = reference.with_phrases(
            log_probs, phrases["prefix"], phrases["forbidden"]
        )
        expected = reference.exhaustive(
            allowed, START, END, LENGTH, reference.by_length(1.0)
        )
        expected = [
            pair
            for pair in expected
            if all(reference.contains(pair[0], x) for x in phrases["required"])
        ][:5]
        exist = np.isfinite(found.scores[i])
        ids = [written(ids) for ids in found.ids[i][exist]]
        assert ids == [best for best, _ in expected]
        np.testing.assert_allclose(
            found.scores[i][exist], [score for _, score in expected], rtol=1e-4
        )
        assert (found.ids[i][~exist] == PAD).all()
        none += not ids
        several += len(ids) == 5
    assert none > 5 and several > 50


@pytest.mark.slow_on_jax
@pytest.mark.parametrize(
    "search",
    [
        GreedySearch(**IDS, max_length=9),
        SamplingSearch(**IDS, max_length=9, num_samples=3, top_p=0.9, seed=1),
        BeamSearch(**IDS, max_length=9, beam_width=2, num_hypotheses=2),
    ],
    ids=lambda x: type(x).__name__,
)
def test_whatever_is_found_has_its_phrases(search):
    """In sequences with room for them, whose model would end far earlier."""
    trees = random_trees(COUNT, SIZE, 5, seed=3)
    given, arguments = draw(seed=4, forbidden=1)
    found = search_trees(search, trees, **arguments)
    plain = search_trees(search, trees)
    hypotheses = changed = 0
    for i, phrases in enumerate(given):
        for ids, score in zip(found.ids[i], found.scores[i], strict=True):
            if np.isfinite(score):
                assert satisfies(written(ids), **phrases)
                hypotheses += 1
        changed += (found.ids[i] != plain.ids[i]).any()
    # What is both required and forbidden is not found.
    assert hypotheses > 0.75 * np.prod(found.scores.shape)
    assert changed > 100


def test_where_a_phrase_begins_again_inside_itself():
    phrases = np.random.default_rng(6).integers(1, 3, size=(3, 40, 7))
    found = arranged(None, ops.convert_to_tensor(phrases, "int32"), None)
    borders = ops.convert_to_numpy(found["required"]["borders"])
    for phrase, border in zip(
        phrases.reshape(-1, 7).tolist(), borders.reshape(-1, 8, 8), strict=True
    ):
        for p in range(8):
            expected = [
                n <= p and phrase[:n] == phrase[p - n : p] for n in range(8)
            ]
            assert border[p].tolist() == expected


@pytest.mark.parametrize(
    "search",
    [GreedySearch(**IDS, max_length=2), BeamSearch(**IDS, max_length=2)],
    ids=lambda x: type(x).__name__,
)
def test_a_token_outside_the_vocabulary_concerns_no_other_sentence(search):
    def step(ids, states, memory):
        row = ops.arange(SIZE, dtype="float32")
        return ops.tile(row, (ids.shape[0], 1)), states, None

    none = -np.ones((3, 1, 1), "int32")
    outside = np.array([[[SIZE + 3]], [[-1]], [[SIZE]]], "int32")
    plain = search(step, np.zeros((3, 1)))
    found = search(step, np.zeros((3, 1)), forbidden=outside)
    np.testing.assert_array_equal(found.ids, plain.ids)
    found = search(step, np.zeros((3, 1)), required=outside, forbidden=none)
    # What the model cannot write is not found.
    assert np.isfinite(found.scores)[:, 0].tolist() == [False, True, False]
    np.testing.assert_array_equal(found.ids[1], plain.ids[1])


def by_time(*rows):
    """A step whose logits depend on the time alone, and its first states."""
    table = ops.convert_to_tensor(np.array(rows, "float32"))

    def step(ids, states, memory):
        logits = ops.take(table, ops.cast(states[:, 0], "int32"), axis=0)
        return logits, states + 1, None

    return step, np.zeros((1, 1))


@pytest.mark.parametrize(
    "required",
    [[[0]], [[0], [5]], [[5], [0]], [[-1], [0]]],
    ids=str,
)
def test_the_order_of_phrases_does_not_matter(required):
    """Nor do empty ones; the token 0 is a token as any other."""
    row = np.zeros(12)
    row[3:9], row[11] = 5, 2
    search = BeamSearch(1, 11, -1, max_length=6, beam_width=2)
    found = search(*by_time(*6 * [row]), required=np.array([required]))
    ids = [x for [x] in required if x >= 0]
    assert set(ids) <= set(ops.convert_to_numpy(found.ids).ravel().tolist())
    assert np.isfinite(found.scores).all()


@pytest.mark.parametrize("limit", range(3, 10))
def test_a_search_in_one_go_keeps_room_for_a_phrase_it_has_begun(limit):
    """The likeliest tokens begin it again and again, and never end it."""
    rows = [9 * np.eye(7)[i] for i in [3, 4, 6, 3, 4, 6, 3, 4, 6]]
    search = GreedySearch(1, 2, 0, max_length=limit)
    found = search(*by_time(*rows), required=np.array([[[3, 4, 5]]]))
    assert np.isfinite(found.scores).all()
    ids = ops.convert_to_numpy(found.ids)[0, 0].tolist()
    # And for the end after it, if there can be any.
    last = max(limit - 4, 0)
    assert [3, 4, 5] in [ids[i : i + 3] for i in range(last + 1)]


@pytest.mark.parametrize("limit", [7, 8, 11])
def test_phrases_that_overlap_do_not_undo_each_other(limit):
    row = np.zeros(10)
    row[3:5] = 5
    search = GreedySearch(1, 2, 0, max_length=limit)
    required = np.array([[[3, 4, 5], [4, 3, 9]]])
    found = search(*by_time(*limit * [row]), required=required)
    assert np.isfinite(found.scores).all()


@pytest.mark.parametrize("kind", [GreedySearch, SamplingSearch, BeamSearch])
@pytest.mark.parametrize("limit", [0, 2, 3])
def test_a_prefix_that_is_too_long_has_none(kind, limit):
    search, rows = kind(1, 2, 0, max_length=4), 4 * [np.zeros(7)]
    long, right = np.array([[3, 4, 5, 6]]), np.array([[3, 4, -1, -1]])
    limits = np.array([limit])
    found = search(*by_time(*rows), prefix=long, max_lengths=limits)
    assert (ops.convert_to_numpy(found.ids) == 0).all()
    assert np.isneginf(found.scores).all()
    if limit:
        found = search(*by_time(*rows), prefix=right, max_lengths=limits)
        assert np.isfinite(found.scores).all()


@pytest.mark.parametrize("kind", [GreedySearch, SamplingSearch, BeamSearch])
def test_a_prefix_comes_before_a_phrase_that_lacks_room(kind):
    """After the first 3, the phrase wants 2 next and the prefix 3."""
    search = kind(1, 6, 0, max_length=4)
    prefix, required = np.array([[3, 3, 2]]), np.array([[[3, 2]]])
    rows = 4 * [np.eye(7)[5]]
    found = search(*by_time(*rows), prefix=prefix, required=required)
    assert ops.convert_to_numpy(found.ids)[0, 0, :3].tolist() == [3, 3, 2]
    assert np.isfinite(found.scores).all()


@pytest.mark.parametrize("kind", [GreedySearch, BeamSearch])
def test_the_axes_of_phrases_are_checked(kind):
    for name, axes in (
        ("prefix", "batch, tokens"),
        ("required", "batch, phrases, tokens"),
        ("forbidden", "batch, phrases, tokens"),
    ):
        with pytest.raises(
            ValueError, match=rf"`{name}` .*\({axes}\).*Received: .*\(2,\)"
        ):
            kind(1, 2)(*by_time(np.zeros(7)), **{name: np.array([3, 4])})


@pytest.mark.parametrize("kind", [GreedySearch, SamplingSearch, BeamSearch])
def test_a_hypothesis_without_an_allowed_token_may_end(kind):
    search = kind(1, 2, -1, max_length=4, min_length=2)
    forbidden = np.array([[[0], [1], [3]]])
    found = search(*by_time(*4 * [np.zeros(4)]), forbidden=forbidden)
    assert ops.convert_to_numpy(found.ids)[0, 0].tolist() == [2, -1, -1, -1]
