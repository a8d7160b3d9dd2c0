import re

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.data import read_series
from kerasrnn.layers import FastGRUCell
from kerasrnn.models import ClassifierEnsemble
from kerasrnn.models import PianoRollModel
from kerasrnn.pipelines import MusicPipeline
from kerasrnn.pipelines import TextTranslator
from tests.helpers import one_now
from tests.helpers import randomize
from tests.pipelines import small


def translator():
    # Without a shortlist, which has the lexicon of one model.
    found = small.translator()
    tokenizers = found.source_tokenizer, found.target_tokenizer
    return TextTranslator(found.model, *tokenizers, found.search)


def ensemble():
    return type(found := small.labeller()).ensemble([found, small.labeller()])


def forecaster():
    found = small.forecaster()
    found.adapt(TABLE)
    return found


TABLE = read_series(small.series(), "date")
ROLLS = [np.eye(5, 4), np.eye(3, 4)]
# How each is made, and a function that asks it something.
KINDS = {
    "labeller": (small.labeller, lambda x: x.probabilities(small.REVIEWS[:2])),
    "ensemble": (ensemble, lambda x: x.probabilities(small.REVIEWS[:2])),
    "tagger": (small.tagger, lambda x: x.tag_tokens([["Anna", "in"]])),
    "translator": (translator, lambda x: x.translate(small.SOURCES)),
    "language": (small.language, lambda x: x.score(small.SOURCES)["total"]),
    "forecaster": (forecaster, lambda x: x.forecast(TABLE)[0].point),
    "music": (
        lambda: MusicPipeline(PianoRollModel(FastGRUCell(4), keys=4)),
        lambda x: x.score(ROLLS)[0],
    ),
}


def fresh(pipeline):
    """One like it, of a new model without weights."""
    own = pipeline.get_config().keys() - {
        "name",
        "trainable",
        "dtype",
        "kerasrnn",
    }
    given = {name: getattr(pipeline, name) for name in own}
    config = given["model"].get_config()
    return type(pipeline)(
        **given | {"model": type(given["model"]).from_config(config)}
    )


@pytest.mark.parametrize("kind", one_now([*KINDS][::-1]))
def test_weights_are_loaded_into_a_fresh_one(kind, tmp_path):
    make, ask = KINDS[kind]
    saved = make()
    randomize(saved)
    saved.save_weights(tmp_path / "it.weights.h5")
    opened = fresh(saved)
    assert opened.count_params() == saved.count_params()
    opened.load_weights(tmp_path / "it.weights.h5")
    for new, old in zip(opened.weights, saved.weights, strict=True):
        np.testing.assert_array_equal(new, old)
    np.testing.assert_array_equal(ask(opened), ask(saved))


def test_the_members_of_an_ensemble_have_weights():
    model = small.labeller().model
    config = model.get_config()
    members = [type(model).from_config(config) for _ in range(2)]
    joined = ClassifierEnsemble(members)
    assert joined.count_params() == 2 * model.count_params()


@pytest.mark.parametrize("kind", one_now([*KINDS][::-1]))
def test_weights_that_are_no_numbers_give_no_answer(kind):
    make, ask = KINDS[kind]
    pipeline = make()
    for weight in pipeline.trainable_weights:
        weight.assign(np.full(weight.shape, np.nan))
    with pytest.raises(FloatingPointError, match="NaN or infinite numbers in"):
        ask(pipeline)
    if kind in ("language", "music"):
        given = [["the"]] if kind == "language" else []
        with pytest.raises(FloatingPointError, match="NaN or infinite numb"):
            pipeline.write(*given)


def test_what_is_no_tensor_is_asked_by_a_method_of_its_own():
    tagger = small.tagger()
    for call in tagger, tagger.predict:
        with pytest.raises(NotImplementedError, match="Expected: `tag` or"):
            call(["Anna"])


def test_fit_and_compile_pass_on_all_that_they_are_given(monkeypatch):
    labeller, made = small.labeller(), []

    def batches(*args, **options):
        made.append((*args, options))
        return "batches"

    monkeypatch.setattr(labeller, "batches", batches)
    monkeypatch.setattr(labeller.model, "fit", lambda x, **options: options)
    weights = {"sample_weight": [2.0], "class_weight": {"bad": 3.0}}
    size, held_out = {"batch_size": 3}, (["b"], ["fair"])
    found = labeller.fit(
        *(["a"], ["bad"]), **size, **weights, seed=5, validation_data=held_out
    )
    assert found == {"validation_data": "batches", "shuffle": False}
    train = ["a"], {"labels": ["bad"], "seed": 5, **size, **weights}
    assert made == [train, (*held_out, size)]
    dataset = tf.data.Dataset.range(1)
    found = labeller.fit(dataset, class_weight={"good": 3.0, 1: 2.0})
    assert found["class_weight"] == {2: 3.0, 1: 2.0}
    labeller.compile(metrics=[])  # other than the default
    assert labeller.model.get_compile_config()["metrics"] == []


FACTS = {
    "labeller": {"labels": ["bad", "fair", "good"], "max_length": 3},
    "tagger": {"tags": small.TAGS, "scheme": "IOB2"},
    "language": {"max_length": 15_000},
    "forecaster": {
        **{"columns": ["load", "temp"], "known": [], "static": []},
        **{"lookback": 48, "horizon": 12, "step": "h", "levels": []},
        "zone": None,
    },
}


@pytest.mark.parametrize("kind", FACTS)
def test_an_export_has_what_its_clients_need(kind, monkeypatch):
    monkeypatch.setattr(
        "kerasrnn.pipelines.pipeline.export_saved_model", lambda *given: given
    )
    pipeline = KINDS[kind][0]()
    path, signatures, layers, card, texts = pipeline.export("a/1", {"x": 5})
    facts = {} if kind == "forecaster" else {"xla": None}
    assert card == {**facts, **FACTS[kind], "x": 5}
    assert (path, texts) == ("a/1", {}) and pipeline.model in layers
    assert signatures.keys() == pipeline.functions().keys()


EXAMPLES = {
    "labeller": [small.REVIEWS * 3, small.CLASSES * 3],
    "tagger": [small.SENTENCES],
    "translator": [small.PAIRS * 2],
    "forecaster": [TABLE],
    "music": [ROLLS * 6],
}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_batches_have_their_size_and_the_order_of_their_seed(kind):
    pipeline = KINDS[kind][0]()

    def rows(seed):
        given = pipeline.batches(*EXAMPLES[kind], batch_size=5, seed=seed)
        batches = [tf.nest.flatten(batch) for batch in given]
        sizes = sorted(len(batch[0]) for batch in batches)
        assert sizes[1:] == [5] * len(sizes[1:]) and sizes[0] <= 5
        return sum(sizes), [str(tensor) for x in batches for tensor in x]

    first, same, *others = map(rows, (1, 1, 2, 3, None))
    assert first == same
    assert [count for count, _ in others] == [first[0]] * 3
    # By chance, two of four orders may be equal.
    assert len({str(order) for _, order in (first, *others)}) > 2


FRAME = small.series(4)[["load", "temp"]]


def fit_to_weighted_batches():
    tagger = small.tagger()
    batches = tagger.batches(small.SENTENCES)
    tagger.fit(batches, sample_weight=np.ones(12))


WRONG = {
    **{
        f"{name} of a language model": (
            lambda options=options: small.language().fit(
                small.SOURCES, verbose=0, **options
            ),
            message,
        )
        for name, options, message in (
            (
                *("a split", {"validation_split": 0.2}),
                "`validation_split` is only supported",
            ),
            (
                *("an order", {"shuffle": False}),
                "from `batches`. Received: shuffle=False",
            ),
            (
                *("weights", {"sample_weight": [1.0]}),
                "unexpected keyword argument 'sample_weig",
            ),
            (
                *("weights of classes", {"class_weight": {0: 2.0}}),
                "unexpected keyword argument 'class_wei",
            ),
            (
                "a file",
                {"callbacks": keras.callbacks.ModelCheckpoint("best.keras")},
                r"without tokenizers. Expected.*Run`.*Checkpoint\('best.keras",
            ),
        )
    },
    "a table of pairs": (
        lambda: small.translator().fit(FRAME),
        "such as `zip.*a DataFrame",
    ),
    "a table of tags": (
        lambda: small.tagger().fit(FRAME),
        "a list of words with",
    ),
    **{
        f"{weight} weights of {kind}": (
            lambda fit=fit, weight=weight: fit(weight),
            f"dictionary from {kind}.*"
            + re.escape(f"Received: class_weight={weight!r}"),
        )
        for weight in ("equal", [1.0, 2.0])
        for kind, fit in (
            (
                "tags",
                lambda weight: small.tagger(scheme=None).fit(
                    small.SENTENCES, class_weight=weight
                ),
            ),
            (
                "labels",
                lambda weight: small.labeller().fit(
                    small.REVIEWS, small.CLASSES, class_weight=weight
                ),
            ),
        )
    },
    "weights beside a dataset": (
        fit_to_weighted_batches,
        "addition to a dataset",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name):
    call, message = WRONG[name]
    with pytest.raises((TypeError, ValueError), match=message):
        call()
