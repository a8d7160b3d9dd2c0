"""Searches compiled by XLA, against those of the plain graph."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding import SamplingSearch
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Translator
from kerasrnn.pipelines import TextTranslator
from kerasrnn.pipelines import XlaShapes
from kerasrnn.pipelines.xla import AXES
from kerasrnn.pipelines.xla import in_programs
from kerasrnn.serving.warm_up import recorded_requests
from kerasrnn.tokenizers import WordTokenizer
from tests.helpers import one_now
from tests.helpers import randomize
from tests.pipelines import small

# Of these, the small tokenizers do not know the last two.
WORDS = "the red book who knows a blue house is there qx zz".split()
SIDES = [WordTokenizer.train(side) for side in zip(*small.PAIRS, strict=True)]


def model():
    cell = keras.layers.GRUCell(8)
    return Translator(
        Encoder(SIDES[0].vocabulary_size, cell, 8),
        Decoder(SIDES[1].vocabulary_size, cell, 8),
    )


def beam(**kwargs):
    search = BeamSearch(
        max_length=12, beam_width=4, num_hypotheses=3, coverage_penalty=0.1
    )
    return TextTranslator(model(), *SIDES, search, copy_unknown=True, **kwargs)


def greedy():
    """With a shortlist, a lexicon and subwords."""
    translator = small.translator()
    translator.search = translator.search.with_(no_repeat_ngram=2)
    return translator


def ensemble():
    search = BeamSearch(max_length=12, beam_width=3, min_length=2)
    return TextTranslator.ensemble(
        [TextTranslator(model(), *SIDES, search) for _ in range(2)]
    )


def random_texts(count, generator):
    """Texts of a few words, the first of them empty."""
    lengths = [0, *generator.integers(1, 7, count - 1)]
    return [" ".join(generator.choice(WORDS, length)) for length in lengths]


@pytest.mark.slow
@pytest.mark.parametrize("build", one_now([beam, greedy, ensemble]))
def test_a_compiled_search_finds_what_the_plain_one_finds(build):
    """With many weights: a program reads them anew at each call."""
    translator, generator = build(), np.random.default_rng(1)
    translator.xla = XlaShapes(rows=[4], lengths=[24])
    functions, several = translator._functions, 0
    for seed in range(25):
        randomize(translator.model, scale=1.0, seed=seed)
        texts = random_texts(generator.integers(1, 6), generator)
        ids = translator.source_ids(tf.constant(texts))
        found = functions.best_in_programs(ids)
        expected = functions.best(ids)
        for x, y in zip(found, expected, strict=True):
            if y is not None:
                np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-4)
        several += len(np.unique(found[0], axis=0))
    assert several > 40


def answers_alike(pipeline, name, *arguments):
    """Whether a signature that is compiled answers as it does otherwise."""
    found = pipeline.signatures[name](*arguments)
    shapes, pipeline.xla = pipeline.xla, None
    expected = pipeline.signatures[name](*arguments)
    pipeline.xla = shapes
    for key, x in expected.items():
        x, y = x.numpy(), found[key].numpy()
        assert x.shape == y.shape
        if x.dtype.kind == "f":
            np.testing.assert_allclose(y, x, rtol=1e-4, atol=1e-5)
        else:
            np.testing.assert_array_equal(y, x)
    return found


@pytest.mark.slow
def test_all_hypotheses_and_those_with_phrases_are_found_alike():
    translator = beam()
    translator.xla = XlaShapes(rows=[2, 4], lengths=[12])
    randomize(translator.model, scale=1.0)
    texts = tf.constant(["who is there", "the red book"])
    answers_alike(translator, "n_best", texts)
    phrases = [["Kise"], [["ghar.", "hai?"]], [["Lal", ""]]]
    given = [tf.constant(x * 2) for x in phrases]
    found = answers_alike(translator, "translate_with", texts, *given)
    for text in found["translation"].numpy():
        first, *others = text.decode().split()
        assert first == "kise" and {"ghar.", "hai?"} <= {*others}


@pytest.mark.slow
@pytest.mark.parametrize("build", ["tagger", "labeller", "language"])
def test_labels_tags_and_scores_are_the_same(build):
    pipeline = getattr(small, build)()
    pipeline.xla = XlaShapes(rows=[3], lengths=[12])
    texts = tf.constant(["a fine film", "", "who is there in the red house"])
    answers_alike(pipeline, "serving_default", texts[:2])
    answers_alike(pipeline, "serving_default", texts)


def test_ids_run_in_the_smallest_program_that_they_fit():
    def in_program(ids):
        shape = tf.shape(ids)
        ones = tf.ones_like(ids[:, :1])
        return tf.reduce_sum(ids, axis=1), ones * shape, None

    def otherwise(ids):
        zeros = tf.zeros_like(ids[:, :1])
        return tf.reduce_sum(ids, axis=1), zeros * tf.shape(ids), None

    grids = [
        {"rows": [2, 5], "lengths": [3, 4]},
        {"rows": [6], "lengths": [2]},
    ]
    arguments = [(AXES, 0)]
    function = in_programs(in_program, otherwise, arguments, *grids)
    for rows in range(8):
        for length in range(1, 6):
            ids = np.arange(rows * length, dtype="int32")
            ids = ids.reshape(rows, length)
            sums, padded, _ = function(tf.constant(ids))
            np.testing.assert_array_equal(sums, ids.sum(axis=1))
            expected = [2 if rows <= 2 else 5, 3 if length <= 3 else 4]
            if rows > 5 or length > 4:
                expected = [6, 2] if rows == 6 and length <= 2 else [0, 0]
            np.testing.assert_array_equal(padded, np.tile(expected, (rows, 1)))


@pytest.mark.parametrize(
    "sizes",
    [{"rows": ()}, {"rows": (4, 1)}, {"lengths": (0, 2)}, {"rows": "a"}],
)
def test_shapes_ascend(sizes):
    [name] = sizes
    with pytest.raises(
        ValueError, match=f"`{name}` must be inc.*Received: {name}"
    ):
        XlaShapes(**sizes)


@pytest.mark.slow
def test_an_export_is_compiled_if_the_translator_is(tmp_path):
    translator = beam(max_length=9)
    randomize(translator.model)
    texts = tf.constant(["who is there", "", "the red book"])
    assert translator.served_facts()["xla"] is None
    translator.xla = XlaShapes(rows=[1, 3], lengths=[4, 10])
    path = translator.export(tmp_path / "compiled" / "1")
    card = json.loads((path / "card.json").read_text())
    assert card["xla"] == {"rows": [1, 3], "lengths": [4, 10]}
    assert card["batch_rows"] == 1
    served = tf.saved_model.load(str(path)).signatures
    found = served["serving_default"](text=texts)["translation"].numpy()
    none = tf.fill((3, 1), "")
    expected = served["translate_with"](
        text=texts, prefix=none[:, 0], required=none, forbidden=none
    )["translation"].numpy()
    assert found.tolist() == expected.tolist()
    assert found[0] and not found[1]
    # Each program is there to be compiled before anybody waits for it.
    shapes = {}
    for name, inputs in recorded_requests(path):
        ids = served["tokenize"](text=tf.constant(inputs["text"]))["ids"]
        shapes.setdefault(name, []).append(tuple(ids.shape))
    programs = [(1, 4), (3, 4), (1, 10), (3, 10)]
    assert shapes["serving_default"] == shapes["greedy"] == programs
    # Whoever asks for these has few texts.
    few = [(1, 4), (1, 10)]
    assert shapes["n_best"] == shapes["translate_with"] == few
    assert len(shapes["attend"]) == 1


def test_what_is_drawn_is_not_compiled():
    """A beam search is, for one text at a time."""
    shapes = XlaShapes(rows=[1, 3], lengths=[4, 10])
    for search, alone in (BeamSearch(), 1), (SamplingSearch(), None):
        translator = TextTranslator(model(), *SIDES, search)
        translator.xla = shapes
        assert translator.served_facts().get("batch_rows") == alone
    programs = [(1, 4), (3, 4), (1, 10), (3, 10)]
    assert {
        name: [tuple(translator.source_ids(x).shape) for x in texts]
        for name, texts in translator.warm_up_texts().items()
    } == {
        **{"serving_default": programs, "greedy": programs},
        "translate_with": programs[::2],
    }
    functions = translator._functions
    assert functions.best_in_programs is functions.best
