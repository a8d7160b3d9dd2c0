"""A pipeline that is saved and opened again is the same pipeline."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.decoding import BeamSearch
from kerasrnn.decoding import GreedySearch
from kerasrnn.models import Lexicon
from kerasrnn.models import Shortlist
from kerasrnn.models import in_float32
from kerasrnn.pipelines import TextPipeline
from kerasrnn.pipelines import TextTranslator
from kerasrnn.training import TokenCrossentropy
from tests.helpers import one_now
from tests.helpers import reloaded
from tests.pipelines import small
from tests.pipelines.small import PAIRS
from tests.pipelines.small import REVIEWS
from tests.pipelines.small import SOURCES

KINDS = {
    "translator": (small.translator, [PAIRS], SOURCES, TokenCrossentropy(0)),
    "labeller": (
        small.labeller,
        [REVIEWS, small.CLASSES],
        REVIEWS,
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    ),
    "language": (small.language, [SOURCES], SOURCES, TokenCrossentropy(-1)),
}


@pytest.fixture(scope="module", params=one_now([*KINDS][::-1]))
def trained(request):
    """A pipeline after some training, its examples and its texts."""
    make, examples, texts, loss = KINDS[request.param]
    pipeline = make()
    pipeline.compile(keras.optimizers.Adam(0.01), loss)
    pipeline.fit(*examples, epochs=2, verbose=0)
    return pipeline, examples, texts


def answers(pipeline, texts):
    """What the main functions of a pipeline answer."""
    texts = tf.constant([*texts, "", "zzz the"])
    names = {"serving_default", "explain"} & {*pipeline.signatures}
    return {
        # As text, in which NaN is what it is.
        f"{name}, {key}": str(value.numpy().tolist())
        for name in sorted(names)
        for key, value in pipeline.signatures[name](texts).items()
    }


def test_it_answers_and_learns_on_as_if_never_closed(trained, tmp_path):
    pipeline, examples, texts = trained
    opened = reloaded(pipeline, tmp_path)
    configs = [json.dumps(each.get_config()) for each in (opened, pipeline)]
    assert configs[0] == configs[1]
    assert answers(opened, texts) == answers(pipeline, texts)
    learnt = [
        each.fit(*examples, epochs=2, verbose=0).history["loss"]
        for each in (opened, pipeline)
    ]
    assert learnt[0] == learnt[1]
    assert learnt[0][1] < learnt[0][0]
    assert answers(opened, texts) == answers(pipeline, texts)


@pytest.mark.thorough
def test_a_shortlist_has_the_lexicon_of_the_model_or_its_own(tmp_path):
    given = small.translator()
    opened = reloaded(given, tmp_path)
    assert opened.shortlist.lexicon is opened.model.decoder.lexicon
    config = given.shortlist.lexicon.get_config()
    own = Shortlist(Lexicon.from_config(config), size=9, frequent=5)
    own.build((None, None))
    own.lexicon.set_weights(given.shortlist.lexicon.get_weights())
    with pytest.raises(AttributeError, match="keeps its `shortlist`"):
        given.shortlist = own
    parts = given.source_tokenizer, given.target_tokenizer, given.search
    given = TextTranslator(given.model, *parts, shortlist=own)
    opened = reloaded(given, tmp_path)
    assert opened.shortlist.lexicon is not opened.model.decoder.lexicon
    assert (opened.shortlist.size, opened.shortlist.frequent) == (9, 5)
    assert opened.translate(SOURCES) == given.translate(SOURCES)


@pytest.mark.slow
def test_two_languages_may_have_one_tokenizer(tmp_path):
    given = small.translator()
    model, tokenizer = given.model, given.target_tokenizer
    shared = TextTranslator(model, tokenizer, tokenizer, GreedySearch())
    opened = reloaded(shared, tmp_path)
    assert opened.source_tokenizer is opened.target_tokenizer
    assert opened.translate(["Lal ghar"]) == shared.translate(["Lal ghar"])


@pytest.mark.thorough
def test_a_whole_pipeline_in_float32(tmp_path):
    policy = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        given = small.translator()
    finally:
        keras.config.set_dtype_policy(policy)
    # The lexicon and the shortlist work in half precision, too.
    given.fit(small.PAIRS, epochs=1, verbose=0)
    assert len(given.translate(SOURCES)) == len(SOURCES)
    copy = in_float32(given)
    assert given.model.compute_dtype == "bfloat16"
    dtypes = {layer.compute_dtype for layer in copy._flatten_layers()}
    assert dtypes == {"float32", "int32"}
    assert copy.shortlist.lexicon is copy.model.decoder.lexicon
    for new, old in zip(copy.weights, given.weights, strict=True):
        np.testing.assert_array_equal(new, old)
    assert all(copy.translate(SOURCES))


@pytest.mark.parametrize("kind", KINDS)
def test_to_save_and_to_open_it_makes_no_graphs(kind, tmp_path):
    make, *_ = KINDS[kind]
    pipeline = make()
    for each in (pipeline, reloaded(pipeline, tmp_path)):
        assert "_traced" not in vars(each)


@pytest.mark.thorough
def test_another_search_gives_other_answers():
    translator = small.translator()
    before = translator.translate(SOURCES)
    assert translator.signatures is translator.signatures
    translator.search = GreedySearch(max_length=1)
    after = translator.translate(SOURCES)
    assert after != before
    assert all(len(text.split()) <= 1 for text in after)


@pytest.mark.filterwarnings("ignore:.*does not have a `quantize`")
def test_a_quantized_model_answers_as_such():
    labeller, language = small.labeller(), small.language()
    search = BeamSearch(max_length=9, beam_width=2)
    # Without their shortlists, which need output weights in float.
    translator, *others = (
        TextTranslator(x.model, x.source_tokenizer, x.target_tokenizer, search)
        for x in (small.translator(), small.translator(), small.translator())
    )
    both = TextTranslator.ensemble(others)
    pairs = list(zip(SOURCES, SOURCES, strict=True))[:2]

    def answers():
        return [
            labeller.probabilities(REVIEWS[:2])[0, 0],
            language.evaluate(REVIEWS[:2])["loss"],
            translator.n_best(SOURCES[:1])[0][0].score,
            both.score(pairs)["log_probability"][0],
        ]

    before = answers()
    for pipeline in labeller, language, translator, *both.model.models:
        model = getattr(pipeline, "model", pipeline)
        if pipeline is labeller:  # Also one layer of it counts.
            model.encoder.embedding.quantize("int8")
        else:
            model.quantize("int8")
    after = answers()
    for one, other in zip(before, after, strict=True):
        assert one != other and abs(one - other) < 0.1


def test_texts_come_in_a_list(trained):
    pipeline, *_ = trained
    with pytest.raises(ValueError, match="list of strings.*'a film'"):
        list(pipeline.answers("a film", 2))


def test_the_base_says_what_to_override():
    pipeline = TextPipeline(keras.layers.Dense(1))
    with pytest.raises(NotImplementedError, match="TextPipeline must override"):
        pipeline.functions()
    with pytest.raises(NotImplementedError, match="override `batches"):
        pipeline.batches([], 2)
    with pytest.raises(NotImplementedError, match="override `default_loss"):
        pipeline.default_loss()


def test_a_file_that_holds_something_else(tmp_path):
    path = tmp_path / "it.keras"
    keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)]).save(path)
    with pytest.raises(ValueError, match="TextTranslator.save wrote.*Sequent"):
        TextTranslator.open(path)
    path.write_bytes(b"PK damaged")
    with pytest.raises(ValueError, match="TextTranslator.save wrote.*it.keras"):
        TextTranslator.open(path)


class TextSeries:
    """A column that is read by labels, as in pandas, and not by places."""

    def __init__(self, texts):
        self.texts = texts

    def __iter__(self):
        return iter(self.texts)

    def __getitem__(self, label):
        return self.texts[::-1][label]


@pytest.mark.slow
def test_texts_come_in_any_iterable():
    translator = small.translator()
    expected = translator.translate(SOURCES)
    assert translator.translate(TextSeries(SOURCES)) == expected
    assert translator.translate(iter(SOURCES)) == expected
