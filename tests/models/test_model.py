"""What every model does beyond a Keras model."""

import functools

import keras
import numpy as np
import pytest
from keras.layers import GRUCell
from keras.layers import LSTMCell

from kerasrnn.layers import CRF
from kerasrnn.layers import CRFLoss
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import PeepholeLSTMCell
from kerasrnn.layers import RHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.models import AttentionSummary
from kerasrnn.models import CharacterReader
from kerasrnn.models import DecoderSummary
from kerasrnn.models import Encoder
from kerasrnn.models import Forecaster
from kerasrnn.models import LanguageModel
from kerasrnn.models import Lexicon
from kerasrnn.models import NgramEmbedding
from kerasrnn.models import PianoRollModel
from kerasrnn.models import Tagger
from kerasrnn.models import TextClassifier
from kerasrnn.models.token_embedding import TokenEmbedding
from kerasrnn.saving import template
from kerasrnn.training import TokenCrossentropy
from tests import helpers
from tests.models import small

IDS = small.SOURCE.astype("int32")
# Each model, of small sizes, and what it reads.
MODELS = {
    "classifier": (
        lambda: TextClassifier(Encoder(9, GRUCell(4), 3), "attention"),
        IDS,
    ),
    "language": (lambda: LanguageModel(9, GRUCell(4), 3), IDS),
    "tagger": (lambda: Tagger(9, 3, GRUCell(4), 3), IDS),
    "translator": (small.translator, small.INPUTS),
    "music": (lambda: PianoRollModel(GRUCell(4), 4), helpers.random(2, 3, 4)),
    "forecaster": (
        lambda: Forecaster(GRUCell(4), 5, columns=4),
        helpers.random(2, 3, 4),
    ),
}
EXPORTED = {
    **{x: MODELS[x] for x in ("language", "classifier", "translator")},
    "tagger": (
        lambda: Tagger(
            9, 2, GRUCell(4), 3, characters=CharacterReader(9, filters=4)
        ),
        {"words": IDS, "characters": IDS[..., None].repeat(3, axis=2)},
    ),
}
SHAPES = {
    **{x: y for x, y in MODELS.items() if x != "translator"},
    "ngrams": (lambda: NgramEmbedding(9, 3), IDS),
    "characters": (
        lambda: CharacterReader(9, GRUCell(4)),
        IDS[..., None].repeat(3, axis=2),
    ),
    "tagger": (lambda: Tagger(9, 2, GRUCell(4), 3, crf=CRF()), IDS),
}
# Models and layers of ids.
OF_IDS = {
    "encoder": lambda: Encoder(500, GRUCell(4), 3),
    "language": lambda: LanguageModel(500, GRUCell(4), 3),
    "classifier": lambda: TextClassifier(Encoder(500, GRUCell(4), 3)),
    "ngrams": lambda: NgramEmbedding(100, 4),
    "lexicon": lambda: Lexicon(500, 4),
}
LARGE_IDS = np.array([[300, 301, 302], [299, 401, 0]])


def attending():
    cell = GAMRHNCell(4, 1, 2, 3, 5)
    return SelfAttentionCell(cell, "additive", window=3)


def classifier(summary, cell=None, encoder=None, **options):
    given = {"bidirectional": False} | (encoder or {})
    return TextClassifier(
        Encoder(9, cell or GRUCell(4), 3, **given), summary, **options
    )


def language(cell=None, **options):
    return LanguageModel(9, cell or RHNCell(4), 3, **options)


def encoder(**options):
    return Encoder(9, GRUCell(4), 3, **options)


def embedding(**options):
    return TokenEmbedding(9, 6, **options)


def music(cell=None, **options):
    return PianoRollModel(cell or RHNCell(4, depth=2), 4, **options)


def characters(cell=None, **options):
    return CharacterReader(9, cell, filters=4, **options)


def forecaster(**options):
    return Forecaster(GRUCell(4), 5, columns=4, **options)


ROLLS, LETTERS = helpers.random(3, 5, 4), IDS[..., None].repeat(3, axis=2)
# With other arguments than by default, and what each reads.
SAVED = {
    "music": (lambda: music(attending(), depth=2, dropout=0.5), ROLLS),
    "music with peepholes": (lambda: music(PeepholeLSTMCell(4)), ROLLS),
    **{
        f"classifier, {name}": (
            lambda options=options: classifier(dropout=0.1, **options),
            IDS,
        )
        for name, options in {
            "heads": {"summary": AttentionSummary("multi_head", units=4)},
            "last": {
                "summary": "last",
                "cell": LSTMCell(4),
                "encoder": {"depth": 2, "bidirectional": True},
            },
            "decoder": {
                "summary": "decoder",
                "cell": LSTMCell(4),
                "encoder": {"depth": 2},
            },
            "pooled": {"summary": "pooled", "cell": RHNCell(4, depth=2)},
            "lexical": {"summary": "attention", "encoder": {"lexical": True}},
        }.items()
    },
    **{
        f"translator, {name}": (
            lambda options=options: small.translator(**options),
            small.INPUTS,
        )
        for name, options in {
            "fed": {"decoder": {"input_feeding": True, "attention_units": 6}},
            "before": {"decoder": {"placement": "before", "readout": True}},
            "lexical": {
                "encoder": {"lexical": True, "depth": 2},
                "decoder": {"attention": "multi_head", "tie_embeddings": True},
            },
            "leaky": {"cell": small.LeakyCell(4), "decoder": {"depth": 2}},
        }.items()
    },
    "encoder": (
        lambda: encoder(dropout=0.1, word_dropout=0.2, pad_id=8),
        IDS,
    ),
    "deep encoder": (
        lambda: encoder(depth=2, lexical=True, bidirectional=False),
        IDS,
    ),
    "embedding": (
        lambda: embedding(
            dropout=0.1, word_dropout=0.2, drop_types=True, scale=2.0
        ),
        IDS,
    ),
    "tagger": (
        lambda: Tagger(9, 3, GRUCell(4), 3, characters(), crf=CRF(), depth=2),
        {"words": IDS, "characters": LETTERS},
    ),
    "forecaster": (lambda: forecaster(parallel=False, segment=3), ROLLS),
    "characters": (lambda: characters(pad_id=8, dropout=0.1), LETTERS),
    "recurrent characters": (lambda: characters(LSTMCell(3)), LETTERS),
}


@helpers.slow_on_jax
@pytest.mark.parametrize("name", SAVED)
def test_it_is_saved_with_all_its_arguments(name, tmp_path):
    make, inputs = SAVED[name]
    model = make()
    copy = helpers.copy_of(model)
    assert template(copy) == template(model)
    for argument in model.get_config():
        value = getattr(model, argument, None)
        if isinstance(value, int | float | str):
            assert getattr(copy, argument) == value, argument
    for each in (model, copy):
        each(inputs)
    helpers.randomize(model)
    copy.set_weights(model.get_weights())
    copies = [copy]
    if isinstance(model, keras.Model):
        copies.append(helpers.reloaded(model, tmp_path))
    for each in copies:
        helpers.assert_close(each(inputs), model(inputs))


RATES = {"dropout": 0.5, "recurrent_dropout": 0.5}
HALF = {"dropout": 0.5}
DROPPING = {
    "language": (language, HALF, IDS),
    "language, words": (language, {"word_dropout": 0.5}, IDS),
    "language, cell": (language, {"cell": RHNCell(4, **RATES)}, IDS),
    "encoder": (encoder, HALF | {"embedding_dropout": 0.0}, IDS),
    "encoder, embeddings": (encoder, {"embedding_dropout": 0.5}, IDS),
    "encoder, words": (encoder, {"word_dropout": 0.5}, IDS),
    "classifier": (functools.partial(classifier, "last"), HALF, IDS),
    "classifier, words": (
        functools.partial(classifier, "last"),
        {"encoder": {"word_dropout": 0.5}},
        IDS,
    ),
    "classifier by a decoder": (
        functools.partial(classifier, DecoderSummary(GRUCell(4), "additive")),
        HALF,
        IDS,
    ),
    "forecaster": (forecaster, HALF, ROLLS),
    "forecaster, step by step": (
        functools.partial(forecaster, parallel=False),
        HALF,
        ROLLS,
    ),
    "music": (music, HALF, ROLLS),
    "characters": (characters, HALF, LETTERS),
    "recurrent characters": (
        functools.partial(characters, LSTMCell(3)),
        HALF,
        LETTERS,
    ),
    "cell of characters": (
        lambda cell=None: characters(cell or LSTMCell(3)),
        {"cell": LSTMCell(3, **HALF)},
        LETTERS,
    ),
}


@helpers.slow_on_jax
@pytest.mark.parametrize("name", DROPPING)
def test_it_drops_in_training_alone(name):
    make, options, inputs = DROPPING[name]
    plain, dropping = make(), make(**options)
    for model in (plain, dropping):
        model(inputs)
        helpers.randomize(model)
    helpers.assert_close(dropping(inputs), plain(inputs))
    first, second = (
        helpers.as_numpy(keras.tree.flatten(dropping(inputs, training=True)))
        for _ in range(2)
    )
    assert np.any(first[0] != second[0])


@pytest.mark.parametrize(
    "loss",
    [
        None,
        "mse",
        keras.losses.BinaryCrossentropy(from_logits=True),
        TokenCrossentropy(),
        lambda y_true, y_pred: y_pred,
    ],
)
def test_any_other_loss_passes(loss):
    model = MODELS["language"][0]()
    model.compile("adam", loss)
    assert model.loss is loss


@pytest.mark.parametrize("name", sorted(MODELS.keys() - {"forecaster"}))
def test_a_loaded_model_is_compiled(name, tmp_path):
    """Which Keras does not do if `compile` is overridden."""
    model = MODELS[name][0]()
    model.build((None, None))
    model.compile("adam", TokenCrossentropy(-1), metrics=["accuracy"])
    model.optimizer.build(model.trainable_variables)
    loaded = helpers.reloaded(model, tmp_path)
    assert loaded.compiled and loaded.optimizer.built
    assert loaded.loss.pad_id == -1


def test_a_tagger_with_a_crf_has_the_loss_of_its_layer(tmp_path):
    model = Tagger(9, 3, GRUCell(4), 4, crf=CRF())
    model.build()
    model.compile("sgd", CRFLoss(model.crf, "sum"))
    loaded = helpers.reloaded(model, tmp_path)
    assert loaded.loss.crf is loaded.crf and loaded.loss.reduction == "sum"
    model.compile("adam", model.crf_loss())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        # Losses of probabilities.
        *(
            (
                lambda name=name, loss=loss: MODELS[name][0]().compile(
                    "adam", loss
                ),
                f"`from_logits=True`.*Received: loss={found}",
            )
            for name in sorted(MODELS.keys() - {"forecaster"})
            for loss, found in [
                ("binary_crossentropy", "binary_crossentropy"),
                (
                    "SparseCategoricalCrossentropy",
                    "SparseCategoricalCrossentropy",
                ),
                (
                    keras.losses.sparse_categorical_crossentropy,
                    "sparse_categorical",
                ),
                (
                    keras.losses.BinaryFocalCrossentropy(),
                    "BinaryFocalCrossentropy",
                ),
            ]
        ),
        *(
            (
                lambda loss=loss: Tagger(9, 3, GRUCell(4), crf=CRF()).compile(
                    "adam", loss
                ),
                "Expected: `model.crf_loss()",
            )
            for loss in (
                "sparse_categorical_crossentropy",
                keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                TokenCrossentropy(-1),
            )
        ),
        (
            lambda: Tagger(9, 3, GRUCell(4), crf=CRF()).compile(
                "adam", CRFLoss(CRF(name="other"))
            ),
            "another model.*crf='other'",
        ),
        (
            lambda: Tagger(9, 3, GRUCell(4)).compile("adam", CRFLoss(CRF())),
            "has no CRF loss",
        ),
        # Labels of steps have no class weights.
        *(
            (
                lambda name=name: MODELS[name][0]().fit(
                    *np.ones((2, 2, 3), "int32"), class_weight={1: 2.0}
                ),
                "`class_weight` is .*=\\{1: 2.0\\}",
            )
            for name in sorted(MODELS.keys() - {"classifier"})
        ),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.skipif(
    keras.backend.backend() != "tensorflow", reason="a SavedModel"
)
@pytest.mark.parametrize("name", EXPORTED)
def test_they_read_ids_of_any_number_and_length(name, tmp_path):
    import tensorflow as tf

    make, inputs = EXPORTED[name]
    inputs = keras.tree.map_structure(lambda x: x.astype("int32"), inputs)
    model = make()
    model(keras.tree.map_structure(lambda x: x[:1, :3], inputs))
    helpers.randomize(model)
    model.export(tmp_path / "1", verbose=False)
    exported = tf.saved_model.load(tmp_path / "1")
    helpers.assert_close(exported.serve(inputs), model(inputs))


@pytest.mark.parametrize("name", OF_IDS)
def test_they_are_read_as_integers(name):
    keras.config.set_dtype_policy("mixed_bfloat16")
    model = OF_IDS[name]()
    model(LARGE_IDS)
    helpers.randomize(model)
    found, expected = (
        keras.tree.map_structure(helpers.as_numpy, model(ids))
        for ids in (LARGE_IDS.astype("float32"), LARGE_IDS)
    )
    keras.tree.map_structure(np.testing.assert_array_equal, found, expected)


def test_they_may_be_named():
    lexicon = Lexicon(500, 4, dtype="mixed_bfloat16")
    lexicon.build()
    helpers.randomize(lexicon)
    np.testing.assert_array_equal(
        helpers.as_numpy(lexicon(source=LARGE_IDS.astype("float32"))),
        helpers.as_numpy(lexicon(source=LARGE_IDS)),
    )


def test_a_functional_model_has_them_from_an_input():
    keras.config.set_dtype_policy("mixed_bfloat16")
    encoder = Encoder(500, GRUCell(4), 3)
    ids = keras.Input((None,))  # of floats
    model = keras.Model(ids, encoder(ids)[0])
    np.testing.assert_array_equal(
        helpers.as_numpy(model(LARGE_IDS.astype("float32"))),
        helpers.as_numpy(encoder(LARGE_IDS)[0]),
    )


@pytest.mark.parametrize("name", SHAPES)
def test_they_run_over_a_further_axis_of_a_functional_model(name):
    make, x = SHAPES[name]
    model, x = make(), np.stack([x, x[::-1]])
    model(x[0])
    helpers.randomize(model)
    inputs = keras.Input(x.shape[1:], dtype=x.dtype)
    outputs = keras.layers.TimeDistributed(model)(inputs)
    expected = np.stack([helpers.as_numpy(model(each)) for each in x])
    assert outputs.shape == (None, *expected.shape[1:])
    found = keras.Model(inputs, outputs)(x)
    np.testing.assert_allclose(helpers.as_numpy(found), expected, atol=1e-6)


def test_the_shape_is_known_before_a_call():
    assert MODELS["language"][0]().compute_output_shape((8, None)) == (
        8,
        None,
        9,
    )


def test_the_shape_is_nested_as_inputs_and_outputs_are():
    encoder = Encoder(9, GRUCell(4), 3)
    assert encoder.compute_output_shape((8, 6)) == ((8, 6, 8), (8, 6), (8, 8))
    shapes = {"source": (8, 6), "target": (8, 5)}
    assert small.translator().compute_output_shape(shapes) == (8, 5, 10)


def test_a_summary_shows_it():
    model, lines = MODELS["classifier"][0](), []
    model(IDS)
    model.summary(print_fn=lines.append, line_length=100)
    assert "((3, 5, 8), (3, 5), (3, 8))" in "\n".join(lines)
