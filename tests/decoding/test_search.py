"""What all searches do."""

import functools
import inspect
import itertools
import json
import re

import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding import GreedySearch
from kerasrnn.decoding import SamplingSearch
from kerasrnn.decoding import Search
from kerasrnn.decoding import forced_decoding
from kerasrnn.decoding import tile_memory
from tests.decoding.steps import END
from tests.decoding.steps import PAD
from tests.decoding.steps import START
from tests.decoding.steps import A
from tests.decoding.steps import B
from tests.decoding.steps import as_arrays
from tests.decoding.steps import random_tables
from tests.decoding.steps import run
from tests.decoding.steps import sharpening_step
from tests.decoding.steps import table_step
from tests.decoding.steps import tokens
from tests.helpers import ON_JAX
from tests.helpers import assert_close
from tests.helpers import slow_on_jax
from tests.helpers import some_now

SEARCHES = {
    "coverage": BeamSearch(
        START, END, PAD, 8, beam_width=4, coverage_penalty=0.3
    ),
    "sampling": SamplingSearch(START, END, PAD, 8, num_samples=2, seed=3),
    "greedy": GreedySearch(START, END, PAD, 8),
    "3-best": BeamSearch(START, END, PAD, 8, beam_width=3, num_hypotheses=3),
    "beam 1": BeamSearch(START, END, PAD, 8, beam_width=1),
}
KINDS = [GreedySearch, BeamSearch, SamplingSearch]


# A beam of 1 is greedy search, which `test_constraints.py` says.
every_search = some_now(SEARCHES, [x for x in SEARCHES if x != "beam 1"])


@pytest.fixture(params=every_search)
def search(request):
    return SEARCHES[request.param]


def number_of_hypotheses(search):
    config = search.get_config()
    return config.get("num_hypotheses", config.get("num_samples", 1))


def mask_of(tables):
    return np.ones((len(tables), 3), bool)


LETTERS = "-$abcdefghijklmnopqrstuvwxyz^"  # padding, end, ..., start


@pytest.mark.parametrize(
    "kind, word",
    some_now(
        itertools.product(KINDS, ["sequentially", "a", ""]),
        [
            (GreedySearch, "a"),
            (BeamSearch, "sequentially"),
            (SamplingSearch, ""),
        ],
    ),
)
def test_spells_a_word(kind, word):
    """The state counts how many letters are written."""
    spelled = ops.convert_to_tensor([LETTERS.index(c) for c in word + "$"])

    def step(ids, states, memory):
        here = ops.minimum(states, len(word))
        letters = ops.take(spelled, ops.squeeze(here, 1))
        return 99 * ops.one_hot(letters, len(LETTERS)), states + 1, None

    found = kind(28, 1, 0, 20)(step, ops.zeros((2, 1), "int32"))
    for ids in ops.convert_to_numpy(found.ids)[:, 0]:
        written = "".join(LETTERS[i] for i in ids)
        assert written == f"{word}$".ljust(20, "-")


@pytest.fixture(scope="module", params=every_search)
def searched(request):
    """A search, what it searched, and what it found there."""
    tables = random_tables(20, 6, seed=3)
    search = SEARCHES[request.param]
    found = run(search, tables, source_mask=mask_of(tables))
    return search, tables, found


def test_alignments_come_with_a_source_mask_only(searched):
    search, tables, found = searched
    if getattr(search, "coverage_penalty", 0):
        pytest.skip("cannot do without")
    without = run(search, tables)
    assert without.alignments is None
    np.testing.assert_array_equal(without.ids, found.ids)


def test_padding_follows_the_end_token(searched):
    _, _, found = searched
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


def test_alignments_are_those_the_tokens_were_predicted_with(searched):
    """A table's step looks where the token before says."""
    _, tables, found = searched
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


@pytest.mark.slow_on_jax
def test_a_result_does_not_depend_on_the_batch(search):
    if isinstance(search, SamplingSearch):
        pytest.skip("draws something else")
    tables = random_tables(3, 6, seed=4)
    limits = np.array([3, 0, 9])
    together = run(
        search,
        tables,
        sharpening_step,
        source_mask=mask_of(tables),
        max_lengths=limits,
    )
    for i in range(3):
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
    tables = random_tables(9, 8, seed=5)
    tables[:, :, END] = -60.0
    limits = np.array([0, 1, 2, 3, 7, 8, 9, 100, -1])
    found = run(search, tables, source_mask=mask_of(tables), max_lengths=limits)
    written = (found.ids[:, 0] != PAD).sum(-1)
    np.testing.assert_array_equal(written, np.clip(limits, 0, 8))
    if not getattr(search, "coverage_penalty", 0):
        np.testing.assert_array_equal(found.scores[[0, 8], 0], [0, 0])


@slow_on_jax
def test_the_length_of_a_sentence_is_as_that_of_the_search(search):
    if isinstance(search, SamplingSearch):
        pytest.skip("draws something else")
    tables = random_tables(12, 8, seed=5)
    tables[:, :, END] -= 1.0
    short = type(search)(**search.get_config() | {"max_length": 4})
    mask = mask_of(tables)
    found = run(search, tables, source_mask=mask, max_lengths=[4] * 12)
    expected = run(short, tables, source_mask=mask)
    np.testing.assert_array_equal(found.ids[..., :4], expected.ids)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-5)
    np.testing.assert_allclose(
        found.alignments[..., :4, :], expected.alignments, atol=1e-6
    )
    # Some were cut, and nothing is behind the cut.
    assert (found.ids[..., 3] > END).any()
    assert (found.ids[..., 4:] == PAD).all()
    assert (found.alignments[..., 4:, :] == 0).all()


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
    for kind in KINDS:
        steps.clear()
        found = run(kind(START, END, PAD, 50), [table] * 3, step)
        assert {tokens(ids) for ids in found.ids[:, 0]} == {(A, END)}
        assert len(steps) == 2


def test_what_has_ended_reads_the_end_and_no_padding(search):
    """For padding, there may be no row in an embedding."""
    if keras.backend.backend() != "tensorflow":
        pytest.skip("steps are not seen")
    read = []

    def step(ids, states, memory):
        read.append(ops.convert_to_numpy(ids).min())
        return table_step(ids, states, memory)

    search = type(search)(**search.get_config() | {"pad_id": -1})
    tables = random_tables(20, 6, seed=3)
    found = run(search, tables, step, source_mask=mask_of(tables))
    assert (found.ids == -1).any()
    assert min(read) >= 0


def compiled(function):
    """Compiles for tables of any batch size."""
    if keras.backend.backend() == "jax":
        import jax

        return jax.jit(function)
    import tensorflow as tf

    return tf.function(function, [tf.TensorSpec([None, 6, 6])])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["coverage", "sampling", "greedy"])
def test_compiled_is_as_eager(name):
    search = SEARCHES[name]

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
    found = run(search, np.zeros((0, 6, 6)), source_mask=np.zeros((0, 3), bool))
    count = number_of_hypotheses(search)
    assert found.ids.shape == (0, count, 8)
    assert found.ids.dtype == "int32"
    assert found.scores.shape == (0, count)
    assert found.alignments.shape == (0, count, 8, 3)


@slow_on_jax
def test_a_step_may_read_no_memory():
    table = random_tables(1, 6)[0].astype("float32")

    def step(ids, states, memory):
        assert memory is None
        return ops.take(table, ids, axis=0), states, None

    search = BeamSearch(START, END, PAD, 8)
    found = as_arrays(search(step, ops.zeros((3, 1))))
    expected = run(search, [table] * 3)
    np.testing.assert_array_equal(found.ids, expected.ids)


@slow_on_jax
def test_memory_has_a_row_for_each_sentence():
    """Also where sentences that are done were left behind."""
    rows = []

    def step(ids, states, memory):
        assert ids.shape[0] == states.shape[0]
        rows.append((ids.shape[0], memory.shape[0]))
        return table_step(ids, states, memory)

    search = BeamSearch(START, END, PAD, 8, beam_width=3, min_length=8)
    limits = np.array([1, 2, 3, 4, 5, 6])
    run(search, random_tables(6, 6, seed=4), step, max_lengths=limits)
    assert set(rows) == {(18, 6), (9, 3), (6, 2)}


def shortlists(count, size):
    """Of each sentence some ids, the special ones among them."""
    generator = np.random.default_rng(7)
    some = [
        generator.choice(np.arange(4, size), 8, replace=False)
        for _ in range(count)
    ]
    # In order, so that samplers draw the same from all ids.
    return np.sort([[PAD, END, A, B, *x] for x in some], axis=1)


def listed_step(ids, states, memory):
    """Scores what is in the shortlist of each sentence."""
    tables, vocabulary = memory
    logits, states, weights = table_step(ids, states, tables)
    columns = tile_memory(vocabulary, ids)
    return ops.take_along_axis(logits, columns, axis=1), states, weights


@slow_on_jax
@pytest.mark.parametrize(
    "name",
    some_now(["coverage", "sampling", "3-best"], ["coverage", "sampling"]),
)
def test_a_shortlist_equals_forbidding_all_other_words(name):
    search = SEARCHES[name]
    constraints = {
        "min_length": 7,
        "forbidden_ids": [5, B],
        "no_repeat_ngram": 2,
        "repeatable_ids": [6, 9],
    }
    search = type(search)(**{**search.get_config(), **constraints})
    tables = random_tables(6, 30, seed=5).astype("float32")
    vocabulary = shortlists(6, 30)
    mask = {"source_mask": mask_of(tables), "max_lengths": [8, 1, 8, 5, 2, 8]}
    short = search(
        listed_step,
        ops.zeros((6, 1)),
        (tables, vocabulary),
        vocabulary=vocabulary,
        **mask,
    )
    listed = (vocabulary[:, :, None] == np.arange(30)).any(1)
    full = run(search, np.where(listed[:, None], tables, -1e9), **mask)
    for x, y in zip(as_arrays(short), full, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="graphs of TensorFlow"
)
def test_the_size_of_a_shortlist_may_be_unknown_in_a_graph():
    import tensorflow as tf

    search = BeamSearch(START, END, PAD, 6, no_repeat_ngram=1)
    tables = random_tables(3, 12).astype("float32")

    @tf.function(input_signature=[tf.TensorSpec([None, None], "int32")])
    def graph(vocabulary):
        memory = tables, vocabulary
        return search(
            listed_step, ops.zeros((3, 1)), memory, vocabulary=vocabulary
        ).ids

    found = graph(np.array([range(12)[::-1]] * 3, "int32"))
    np.testing.assert_array_equal(found, run(search, tables).ids)


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_is_saved_with_what_holds_it(kind):
    search = kind(
        start_id=4,
        end_id=3,
        pad_id=1,
        max_length=7,
        min_length=2,
        forbidden_ids=np.array([5, 6]),
        no_repeat_ngram=2,
        repeatable_ids=[7],
        **{
            GreedySearch: {},
            BeamSearch: {
                "beam_width": 4,
                "length_penalty": 0.6,
                "coverage_penalty": 0.2,
                "num_hypotheses": 3,
            },
            SamplingSearch: {
                "num_samples": 3,
                "temperature": 0.7,
                "top_k": 9,
                "top_p": 0.9,
                "seed": 5,
            },
        }[kind],
    )
    config = search.get_config()
    defaults = kind().get_config()
    assert all(config[name] != defaults[name] for name in defaults)
    saved = json.dumps(keras.saving.serialize_keras_object(search))
    assert '"kerasrnn>' + kind.__name__ in saved
    opened = keras.saving.deserialize_keras_object(json.loads(saved))
    assert type(opened) is kind
    assert opened.get_config() == config


def unaligned_step(ids, states, memory):
    return *table_step(ids, states, memory)[:2], None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (
                functools.partial(kind, **options),
                re.escape(
                    "Received: {}={!r}".format(*next(iter(options.items())))
                ),
            )
            for kind, options in [
                (GreedySearch, {"start_id": 1.0}),
                (GreedySearch, {"end_id": None}),
                (GreedySearch, {"pad_id": "0"}),
                (GreedySearch, {"max_length": 0}),
                (GreedySearch, {"min_length": -1}),
                (GreedySearch, {"min_length": 5, "max_length": 4}),
                (GreedySearch, {"forbidden_ids": [3, 4.5]}),
                (GreedySearch, {"forbidden_ids": [2]}),
                (GreedySearch, {"no_repeat_ngram": -1}),
                (GreedySearch, {"repeatable_ids": 3}),
                (BeamSearch, {"beam_width": 0}),
                (BeamSearch, {"num_hypotheses": 0}),
                (BeamSearch, {"num_hypotheses": 3, "beam_width": 2}),
                (BeamSearch, {"length_penalty": -1.0}),
                (BeamSearch, {"coverage_penalty": -0.1}),
                (SamplingSearch, {"num_samples": 0}),
                (SamplingSearch, {"temperature": 0.0}),
                (SamplingSearch, {"top_k": 0}),
                (SamplingSearch, {"top_p": 0.0}),
                (SamplingSearch, {"top_p": 1.1}),
                (SamplingSearch, {"seed": -1}),
            ]
        ),
        *(
            (functools.partial(kind, num_beams=3), "num_beams")
            for kind in KINDS
        ),
        (lambda: GreedySearch().with_(length=3), "length"),
        (
            lambda: GreedySearch(max_length=8).with_(min_length=9),
            "min_length=9",
        ),
        (
            lambda: BeamSearch()(
                table_step, (), ops.zeros((2, 6, 6)), ops.ones((2, 3), "bool")
            ),
            r"Received: states=\(\)",
        ),
        *(
            (
                lambda kind=kind: kind()(table_step, keras.Input((6,))),
                "not a layer.*Received: states=<Keras",
            )
            for kind in KINDS
        ),
        *(
            (
                lambda kind=kind: run(
                    kind(),
                    random_tables(2, 6),
                    unaligned_step,
                    source_mask=np.ones((2, 3), bool),
                ),
                "`source_mask`.*Received: None",
            )
            for kind in KINDS
        ),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_every_search_is_a_search():
    """So what a step is asked for stands in the docstring of `Search`."""
    assert all(issubclass(kind, Search) for kind in KINDS)


@pytest.fixture
def float64():
    keras.config.set_floatx("float64")
    yield
    keras.config.set_floatx("float32")


def found_by(search, tables):
    arrays = as_arrays(
        search(
            table_step,
            np.zeros((len(tables), 1)),
            tables,
            source_mask=mask_of(tables),
        )
    )
    targets = ops.convert_to_numpy(arrays[0])[:, 0]
    forced = forced_decoding(
        table_step,
        np.zeros((len(tables), 1)),
        targets,
        tables,
        mask_of(tables),
        START,
    )
    return arrays, as_arrays(forced)


@pytest.mark.skipif(ON_JAX, reason="JAX has no float64 by default")
@pytest.mark.parametrize(
    "name",
    some_now(
        [*SEARCHES, "constrained"], ["coverage", "sampling", "constrained"]
    ),
)
def test_it_finds_the_same_where_float64_is_the_default(name, request):
    search = SEARCHES.get(name) or BeamSearch(
        START, END, PAD, 8, min_length=2, forbidden_ids=[B], no_repeat_ngram=2
    )
    tables = random_tables(5, 5)
    expected = found_by(search, tables.astype("float32"))
    request.getfixturevalue("float64")
    found = found_by(search, tables)
    assert_close(found, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_shows_every_argument(kind):
    shown = inspect.signature(kind).parameters
    assert shown.keys() == kind().get_config().keys()
    assert list(shown)[:4] == ["start_id", "end_id", "pad_id", "max_length"]
    for name in shown:
        assert inspect.getdoc(kind).count(f"\n    {name}: ") == 1, name


def test_a_search_keeps_its_arguments(search):
    before = search.get_config()
    for name in before:
        with pytest.raises(AttributeError, match=name):
            setattr(search, name, 3)
    other = search.with_(min_length=3, forbidden_ids=[7])
    assert type(other) is type(search)
    changes = {"min_length": 3, "forbidden_ids": [7]}
    assert other.get_config() == before | changes
    assert search.get_config() == before
