"""What both searches do."""

import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding import GreedySearch
from tests.decoding.steps import END
from tests.decoding.steps import PAD
from tests.decoding.steps import START
from tests.decoding.steps import A
from tests.decoding.steps import random_tables
from tests.decoding.steps import run
from tests.decoding.steps import table_step
from tests.decoding.steps import tokens

SEARCHES = [
    GreedySearch(START, END, PAD, 8),
    BeamSearch(START, END, PAD, 8, beam_width=1),
    BeamSearch(START, END, PAD, 8, beam_width=3, num_hypotheses=3),
    BeamSearch(START, END, PAD, 8, beam_width=4, coverage_penalty=0.3),
]


@pytest.fixture(params=SEARCHES, ids=["greedy", "beam 1", "3-best", "coverage"])
def search(request):
    return request.param


def mask_of(tables):
    return np.ones((len(tables), 3), bool)


LETTERS = "-$abcdefghijklmnopqrstuvwxyz^"  # padding, end, ..., start


@pytest.mark.parametrize("kind", [GreedySearch, BeamSearch])
@pytest.mark.parametrize("word", ["sequentially", "a", ""])
def test_spells_a_word(kind, word):
    """The state counts how many letters are written."""
    spelled = ops.convert_to_tensor([LETTERS.index(c) for c in word + "$"])

    def step(ids, states, memory):
        here = ops.minimum(states, len(word))
        letters = ops.take(spelled, ops.squeeze(here, 1))
        return 9 * ops.one_hot(letters, len(LETTERS)), states + 1, None

    found = kind(28, 1, 0, 20)(step, ops.zeros((2, 1), "int32"), ())
    for ids in ops.convert_to_numpy(found.ids)[:, 0]:
        written = "".join(LETTERS[i] for i in ids)
        assert written == f"{word}$".ljust(20, "-")


def test_shapes(search):
    tables = random_tables(3, 6)
    count = getattr(search, "num_hypotheses", 1)
    found = run(search, tables, source_mask=mask_of(tables))
    assert found.ids.shape == (3, count, 8)
    assert found.ids.dtype == "int32"
    assert found.scores.shape == (3, count)
    assert found.alignments.shape == (3, count, 8, 3)


def test_alignments_come_with_a_source_mask_only(search):
    if getattr(search, "coverage_penalty", 0):
        pytest.skip("cannot do without")
    assert run(search, random_tables(3, 6)).alignments is None


def test_behind_the_end_is_padding(search):
    tables = random_tables(20, 6)
    found = run(search, tables, source_mask=mask_of(tables))
    ended = 0
    for ids, alignments in zip(
        found.ids.reshape(-1, 8),
        found.alignments.reshape(-1, 8, 3),
        strict=True,
    ):
        length = len(tokens(ids))
        ended += END in ids
        assert (ids[length:] == PAD).all()
        np.testing.assert_allclose(
            alignments.sum(-1), np.arange(8) < length, atol=1e-5
        )
    assert 5 < ended


def test_alignments_are_those_the_tokens_were_predicted_with(search):
    """A table's step looks where the token before says."""
    tables = random_tables(20, 6, seed=3)
    found = run(search, tables, source_mask=mask_of(tables))
    for i, table in enumerate(tables):
        for ids, alignments in zip(
            found.ids[i], found.alignments[i], strict=True
        ):
            before = [START, *tokens(ids)[:-1]]
            looked = np.exp(table[before, :3])
            looked /= looked.sum(-1, keepdims=True)
            np.testing.assert_allclose(
                alignments[: len(before)], looked, atol=1e-5
            )


def sharpening_step(ids, states, memory):
    """Surer at every step, so that no two ways to go score the same."""
    logits, _, weights = table_step(ids, (), memory)
    return logits * (1.0 + 0.1 * states), states + 1, weights


def test_a_sentence_in_a_batch_is_as_alone(search):
    tables = random_tables(5, 6, seed=4)
    limits = np.array([3, 0, 9, 5, 1])
    together = run(
        search,
        tables,
        sharpening_step,
        source_mask=mask_of(tables),
        max_lengths=limits,
    )
    for i in range(5):
        alone = run(
            search,
            tables[i : i + 1],
            sharpening_step,
            source_mask=mask_of(tables)[:1],
            max_lengths=limits[i : i + 1],
        )
        np.testing.assert_array_equal(together.ids[i], alone.ids[0])
        np.testing.assert_allclose(
            together.scores[i], alone.scores[0], rtol=1e-5
        )
        np.testing.assert_allclose(
            together.alignments[i], alone.alignments[0], atol=1e-5
        )


def test_no_sentence_exceeds_its_own_length(search):
    tables = random_tables(9, 6, seed=5)
    tables[:, :, END] = -60.0
    limits = np.array([0, 1, 2, 3, 7, 8, 9, 100, -1])
    found = run(search, tables, source_mask=mask_of(tables), max_lengths=limits)
    written = (found.ids[:, 0] != PAD).sum(-1)
    np.testing.assert_array_equal(written, np.clip(limits, 0, 8))
    if not getattr(search, "coverage_penalty", 0):
        np.testing.assert_array_equal(found.scores[[0, 8], 0], [0, 0])


def test_an_end_that_cannot_come_is_not_waited_for(search):
    tables = random_tables(2, 6)
    tables[:, :, END] = -1e9
    found = run(search, tables, source_mask=mask_of(tables))
    assert (found.ids > END).all()
    assert np.isfinite(found.scores).all()
    assert (found.scores[:, 0] > -100).all()


def test_states_and_alignments_follow_their_hypothesis(search):
    """A step that remembers what its row read, and looks at just that."""

    def step(ids, states, memory):
        logits, _, _ = table_step(ids, (), memory)
        count, (history,) = states["count"], states["nested"]
        here = ops.equal(ops.arange(8), count)
        history = ops.where(here, ops.expand_dims(ids, 1), history)
        states = {"count": count + 1, "nested": (history,)}
        return logits, states, ops.cast(history, "float32")

    tables = random_tables(20, 6, seed=6)
    found = run(
        search,
        tables,
        step,
        states={
            "count": ops.zeros((20, 1), "int32"),
            "nested": (ops.full((20, 8), -1, dtype="int32"),),
        },
        source_mask=np.ones((20, 8), bool),
    )
    for ids, alignments in zip(
        found.ids.reshape(-1, 8),
        found.alignments.reshape(-1, 8, 8),
        strict=True,
    ):
        written = tokens(ids)
        for t in range(len(written)):
            read = [START, *written[:t]]
            assert alignments[t].tolist() == read + [-1] * (7 - t)


def test_stops_when_every_sentence_is_done():
    """With the end certain after one token, nobody takes a third step."""
    if keras.backend.backend() != "tensorflow":
        pytest.skip("steps cannot be counted")
    steps = []

    def step(*args):
        steps.append(None)
        return table_step(*args)

    table = np.full((5, 5), -30.0)
    table[START, A] = table[A, END] = 0.0
    for search in (
        GreedySearch(START, END, PAD, 50),
        BeamSearch(START, END, PAD, 50, beam_width=4),
    ):
        steps.clear()
        found = run(search, [table] * 3, step)
        assert {tokens(ids) for ids in found.ids[:, 0]} == {(A, END)}
        assert len(steps) == 2


def compiled(function):
    """Compiles for tables of any batch size."""
    if keras.backend.backend() == "jax":
        import jax

        return jax.jit(function)
    import tensorflow as tf

    return tf.function(function, [tf.TensorSpec([None, 6, 6])])


def test_compiled_is_as_eager(search):
    @compiled
    def graph(tables):
        mask = ops.ones((ops.shape(tables)[0], 3), "bool")
        states = ops.zeros((ops.shape(tables)[0], 1))
        return search(table_step, states, tables, source_mask=mask)

    for count in (1, 5):
        tables = random_tables(count, 6, seed=count)
        eager = run(search, tables, source_mask=mask_of(tables))
        tables = ops.convert_to_tensor(tables.astype("float32"))
        for found, expected in zip(graph(tables), eager, strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-5)


def test_no_sentence_has_no_hypothesis(search):
    if keras.backend.backend() != "tensorflow":
        pytest.skip("an empty batch comes of a dynamic shape")
    found = run(search, np.zeros((0, 6, 6)), source_mask=np.zeros((0, 3), bool))
    assert found.ids.shape[0] == found.scores.shape[0] == 0
    assert found.ids.shape[2] == 8


@pytest.mark.parametrize("max_length", [0, -1, 2.0, True, "3", None])
@pytest.mark.parametrize("kind", [GreedySearch, BeamSearch])
def test_the_length_must_be_a_positive_integer(kind, max_length):
    with pytest.raises(
        ValueError, match=f"Received: max_length={max_length!r}"
    ):
        kind(max_length=max_length)


def test_alignments_that_are_asked_for_must_come(search):
    def step(ids, states, memory):
        return *table_step(ids, states, memory)[:2], None

    tables = random_tables(2, 6)
    with pytest.raises(ValueError, match="`source_mask`.*Received: None"):
        run(search, tables, step, source_mask=mask_of(tables))
