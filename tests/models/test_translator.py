import keras
import numpy as np
import pytest
from keras import ops
from keras.layers import GRUCell
from keras.layers import LSTMCell
from keras.layers import SimpleRNNCell

from kerasrnn.decoding import BeamSearch
from kerasrnn.layers import BahdanauAttention
from kerasrnn.models import Decoder
from kerasrnn.models import Encoder
from kerasrnn.models import Lexicon
from kerasrnn.models import Shortlist
from kerasrnn.models import Translator
from kerasrnn.models import TranslatorEnsemble
from kerasrnn.models.translator import alignment_cost
from kerasrnn.training import TokenCrossentropy
from tests import helpers
from tests.models.small import INPUTS
from tests.models.small import SOURCE
from tests.models.small import LeakyCell
from tests.models.small import lexicon
from tests.models.small import translation_table
from tests.models.small import translator

VARIANTS = {
    "before": {"decoder": {"placement": "before", "readout": True}},
    "after": {"decoder": {"attention": "general"}},
    "fed": {"decoder": {"input_feeding": True, "attention_units": 6}},
    "lexicon": {"decoder": {"lexicon": True}},
    "deep": {"encoder": {"depth": 2}, "decoder": {"depth": 2}},
    "lexical": {
        "encoder": {"lexical": True, "depth": 2},
        "decoder": {"attention": "multi_head", "tie_embeddings": True},
    },
    "copy": {
        "encoder": {"bidirectional": False},
        "decoder": {"bridge": "copy", "placement": "before"},
    },
    "lstm": {"cell": LSTMCell(4), "decoder": {"input_feeding": True}},
    "simple": {"cell": SimpleRNNCell(4), "decoder": {"placement": "before"}},
    "factorized": {
        "encoder": {"factorized": True},
        "decoder": {"factorized": True, "attention": "general"},
    },
    "backwards": {
        "cell": LSTMCell(4),
        "encoder": {"bidirectional": False, "go_backwards": True, "depth": 2},
        "decoder": {"depth": 2, "attention": "dot", "bridge": "copy"},
    },
    "leaky": {"cell": LeakyCell(4), "decoder": {"depth": 2}},
    "blind": {"decoder": {"attention": None, "depth": 2}},
}

TELLING = ["fed", "lexical", "before", "leaky"]
# A cell, a depth or a bridge of which another variant has the like.
LIKE_OTHERS = ["deep", "copy", "lstm", "simple"]


@pytest.mark.parametrize(
    "variant",
    helpers.some_now(VARIANTS, [x for x in VARIANTS if x not in LIKE_OTHERS]),
)
def test_decoding_step_by_step_is_the_teacher_forced_call(variant):
    model = translator(**VARIANTS[variant])
    states, memory = model.encode(INPUTS["source"])
    logits = []
    for t in range(4):
        ids = ops.convert_to_tensor(INPUTS["target"][:, t])
        step, states, alignments = model.decode_step(ids, states, memory)
        logits.append(step)
        alignments = helpers.as_numpy(alignments)
        assert np.all(alignments[INPUTS["source"] == 0] == 0)
        attended = 0 if variant == "blind" else 1
        np.testing.assert_allclose(alignments.sum(-1), attended, rtol=1e-5)
    helpers.assert_close(ops.stack(logits, axis=1), model(INPUTS))


@helpers.slow_on_jax
@pytest.mark.parametrize("variant", TELLING)
def test_padding_changes_nothing(variant):
    model = translator(**VARIANTS[variant])
    logits = model(INPUTS)
    alone = {
        "source": INPUTS["source"][1:2, :3],
        "target": INPUTS["target"][1:2, :2],
    }
    helpers.assert_close(logits[1, :2], model(alone)[0])


@pytest.mark.slow
def test_fit_trains_every_weight_and_resumes(tmp_path):
    model = translator(
        GRUCell(4, dropout=0.1, recurrent_dropout=0.1),
        {"dropout": 0.1, "word_dropout": 0.1, "bidirectional": False},
        {"dropout": 0.1, "input_feeding": True},
    )
    before = model.get_weights()
    model.compile("adam", TokenCrossentropy())
    history = model.fit(
        INPUTS, np.roll(INPUTS["target"], -1, axis=1), verbose=0
    )
    assert np.isfinite(history.history["loss"][0])
    for old, new in zip(before, model.get_weights(), strict=True):
        assert np.any(old != new)
    loaded = helpers.reloaded(model, tmp_path)
    helpers.assert_close(loaded(INPUTS), model(INPUTS))
    assert int(loaded.optimizer.iterations) == 1


@helpers.slow_on_jax
@pytest.mark.parametrize(
    "name",
    helpers.one_now(["lexicon", "after", "before", "fed", "lexical", "copy"]),
)
def test_mixed_precision(name):
    keras.config.set_dtype_policy("mixed_bfloat16")
    model = translator(**VARIANTS[name])
    model.compile("sgd", TokenCrossentropy())
    loss = model.train_on_batch(INPUTS, INPUTS["target"])
    logits = model(INPUTS)
    with_lexicon = model.decoder.lexicon is not None
    dtype = "float32" if with_lexicon else "bfloat16"
    assert keras.backend.standardize_dtype(logits.dtype) == dtype
    assert np.isfinite(helpers.as_numpy(ops.cast(logits, "float32"))).all()
    assert np.isfinite(loss)
    assert {w.dtype for w in model.trainable_weights} == {"float32"}


@helpers.slow_on_jax
def test_the_parameters_of_the_seed():
    """One-way GRUs of 1,024 units and biased additive attention."""
    cell = GRUCell(1024, reset_after=False)
    encoder = Encoder(
        110, cell, embedding_dim=256, bidirectional=False, pad_id=-1
    )
    decoder = Decoder(
        158,
        cell,
        embedding_dim=256,
        placement="before",
        attention=BahdanauAttention(1024, use_bias=True),
        bridge="copy",
    )
    model = Translator(encoder, decoder)
    assert encoder.count_params() == 3_963_392
    assert decoder.count_params() == 9_383_583
    assert model.count_params() == 3_963_392 + 9_383_583


def sampled(rate, **options):
    cell = GRUCell(4)
    decoder = Decoder(10, cell, 3, **options)
    model = Translator(Encoder(9, cell, 3), decoder, rate)
    helpers.randomize(model)
    return model


@pytest.mark.slow_on_jax
def test_guesses_of_scheduled_sampling_are_without_dropout():
    # A lexicon needs the source, also for the guesses.
    model, modes = sampled(0.5, lexicon=lexicon(translation_table())), []

    def record(part):
        call = part.call

        def recorded(*inputs, training=False, **others):
            modes.append((part.name, training))
            return call(*inputs, training=training, **others)

        part.call = recorded

    for part in (model.encoder, model.decoder):
        record(part)
    model(INPUTS, training=True)
    encoder, *decoder = modes
    assert encoder == (model.encoder.name, True)
    assert decoder == [(model.decoder.name, x) for x in (False, True)]


@pytest.mark.parametrize("at_once", [True, False])
def test_scheduled_sampling_reads_the_most_likely_tokens(at_once):
    later = keras.optimizers.schedules.PiecewiseConstantDecay([0], [0.0, 1.0])
    model = sampled(0.999999 if at_once else later)
    truth = helpers.as_numpy(model(INPUTS))
    guesses = np.argmax(truth, axis=-1)
    target = np.concatenate([INPUTS["target"][:, :1], guesses[:, :-1]], axis=1)
    assert (target[:, 1:] != INPUTS["target"][:, 1:]).any()
    expected = model(INPUTS | {"target": target.astype("int32")})
    if not at_once:
        helpers.assert_close(model(INPUTS, training=True), truth)
    helpers.assert_close(model(INPUTS, training=True), expected)
    # And not where it does not learn.
    helpers.assert_close(model(INPUTS), truth)


def test_scheduled_sampling_takes_its_share_of_tokens():
    model = sampled(0.3)
    target = ops.zeros((200, 51), "int32")
    guesses = ops.broadcast_to(ops.arange(1, 52, dtype="int32"), (200, 51))
    mixed = helpers.as_numpy(model._mix(target, guesses))
    # What is guessed at a step is read at the next one.
    assert ((mixed == 0) | (mixed == np.arange(51))).all()
    assert 0.28 < (mixed[:, 1:] > 0).mean() < 0.32


@pytest.mark.slow
@pytest.mark.parametrize("steps_per_execution", helpers.one_now([1, 2]))
def test_a_schedule_moves_the_sampling_rate_in_a_fit(steps_per_execution):
    jump = keras.optimizers.schedules.PiecewiseConstantDecay([1], [0.0, 1.0])
    model = sampled(jump)
    loss, labels = TokenCrossentropy(), np.roll(INPUTS["target"], -1, axis=1)
    truth = helpers.as_numpy(model(INPUTS))
    guesses = np.argmax(truth, axis=-1).astype("int32")[:, :-1]
    target = np.concatenate([INPUTS["target"][:, :1], guesses], axis=1)
    guesses = helpers.as_numpy(model(INPUTS | {"target": target}))
    forced, guessed = (float(loss(labels, x)) for x in (truth, guesses))
    assert abs(forced - guessed) > 0.01
    model.compile(
        keras.optimizers.SGD(0.0),
        loss,
        steps_per_execution=steps_per_execution,
    )
    twice = {k: np.concatenate([x, x]) for k, x in INPUTS.items()}
    history = model.fit(
        twice,
        np.tile(labels, (2, 1)),
        batch_size=3,
        epochs=2,
        shuffle=False,
        verbose=0,
    )
    expected = [forced, guessed]
    np.testing.assert_allclose(history.history["loss"], expected, rtol=1e-5)


@helpers.slow_on_jax
def test_a_search_finds_only_words_of_the_shortlist():
    model = translator(**VARIANTS["lexicon"])
    words = Shortlist(model.decoder.lexicon, 5, 3)(INPUTS["source"])
    states, memory = model.encode(INPUTS["source"], words)
    search = BeamSearch(max_length=6, beam_width=2)
    found = search(model.decode_step, states, memory, vocabulary=words)
    rows = zip(*helpers.as_numpy((found.ids, words)), strict=True)
    assert all(set(ids.ravel()) <= {*row} for ids, row in rows)
    # Alone, a sentence is translated as among others.
    alone = INPUTS["source"][1:2, :3]
    states, memory = model.encode(alone, words[1:2])
    again = search(model.decode_step, states, memory, vocabulary=words[1:2])
    helpers.assert_close(again[:2], [x[1:2] for x in found[:2]])


@pytest.mark.slow_on_jax
def test_states_of_two_directions_are_copied_beside_each_other():
    Translator(Encoder(9, GRUCell(3)), Decoder(9, GRUCell(6), bridge="copy"))


IDS = np.array([1, 5, 3], "int32")


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


def first_step(model):
    states, memory = model.encode(SOURCE)
    logits, states, alignments = model.decode_step(
        ops.convert_to_tensor(IDS), states, memory
    )
    return helpers.as_numpy(logits), states, helpers.as_numpy(alignments)


@pytest.fixture(scope="module")
def members():
    first = translator()
    second = translator(LSTMCell(8), decoder={"attention": "multi_head"})
    second.set_weights([2 * w for w in second.get_weights()])
    return [first, second]


@pytest.mark.slow_on_jax
def test_its_probabilities_are_the_mean_of_its_members(members):
    logits, states, alignments = first_step(TranslatorEnsemble(members))
    each = [first_step(member) for member in members]
    mean = np.mean([softmax(found[0]) for found in each], axis=0)
    np.testing.assert_allclose(np.exp(logits), mean, rtol=1e-4)
    np.testing.assert_allclose(
        alignments, np.mean([found[2] for found in each], axis=0), rtol=1e-5
    )
    helpers.assert_close(states, [found[1] for found in each])
    assert np.abs(softmax(each[0][0]) - mean).max() > 0.01


def test_called_it_is_what_decoding_step_by_step_gives(members):
    ensemble = TranslatorEnsemble(members)
    logits = helpers.as_numpy(ensemble(INPUTS))
    states, memory = ensemble.encode(SOURCE)
    for t in range(4):
        ids = ops.convert_to_tensor(INPUTS["target"][:, t])
        step, states, _ = ensemble.decode_step(ids, states, memory)
        helpers.assert_close(step, logits[:, t], rtol=1e-4, atol=1e-5)


def test_it_has_a_configuration(members):
    ensemble = TranslatorEnsemble(members)
    copy = TranslatorEnsemble.from_config(ensemble.get_config())
    copy.set_weights(ensemble.get_weights())
    helpers.assert_close(copy(INPUTS), ensemble(INPUTS))


def test_members_predict_the_same_few_words(members):
    words = np.array([[9, 2, 4, 5], [1, 2, 3, 4], [5, 2, 7, 0]])
    of_each, mean = (
        [
            softmax(helpers.as_numpy(model.decode_step(IDS, states, memory)[0]))
            for model in models
            for states, memory in [model.encode(SOURCE, words)]
        ]
        for models in (members, [TranslatorEnsemble(members)])
    )
    assert mean[0].shape == (3, 4)
    helpers.assert_close(mean[0], np.mean(of_each, axis=0))


@helpers.slow_on_jax
def test_of_one_it_is_that_one(members):
    search = BeamSearch(max_length=6, beam_width=3)
    alone, ensemble = (
        search(model.decode_step, *model.encode(SOURCE))
        for model in (members[1], TranslatorEnsemble(members[1:]))
    )
    np.testing.assert_array_equal(
        helpers.as_numpy(ensemble.ids), helpers.as_numpy(alone.ids)
    )
    helpers.assert_close(ensemble.scores, alone.scores)


@helpers.slow_on_jax
def test_it_is_exact_where_its_members_are_not():
    model = translator(cell=keras.layers.GRUCell(4, dtype="mixed_bfloat16"))
    alone, of_two = (
        x.decode_step(np.array([3, 4]), *x.encode(SOURCE[:2]))[0]
        for x in (model, TranslatorEnsemble([model, model]))
    )
    alone = ops.log_softmax(ops.cast(alone, "float32"))
    helpers.assert_close(of_two, alone)


def test_the_cost_is_the_mean_cross_entropy_of_aligned_tokens():
    weights = np.array([[[0.5, 0.25, 0.25], [0.1, 0.9, 0.0], [1.0, 0.0, 0.0]]])
    alignment = np.array([[[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]])
    expected = -(0.5 * np.log(0.5) + 0.5 * np.log(0.25) + np.log(0.9)) / 2
    found = alignment_cost(weights, alignment)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert alignment_cost(weights, 0 * alignment) == 0
    # Attention that is nowhere near costs much, but not without end.
    assert 10 < alignment_cost(weights[:, 2:], alignment[:, 1:2]) < 20


def test_aligned_tokens_are_those_of_all_replicas(monkeypatch):
    """The others have one, whose cost is 2."""
    others = iter([2.0, 1.0])
    monkeypatch.setattr(
        "kerasrnn.models.translator.sum_over_replicas",
        lambda x: x + next(others),
    )
    found = alignment_cost(np.full((1, 3, 4), 0.25), np.ones((1, 3, 4)) / 4)
    np.testing.assert_allclose(found, (3 * np.log(4) + 2) / 4, rtol=1e-6)


def guided(**decoder):
    keras.utils.set_random_seed(1)
    cell = keras.layers.GRUCell(8)
    return Translator(
        Encoder(9, cell, 8),
        Decoder(9, cell, 8, **decoder),
        alignment_weight=2.0,
    )


def reversed_sequences(count, length=5):
    """Sources, the same reversed as targets, and where each token is from."""
    source = np.random.default_rng(0).integers(3, 9, (count, length))
    labels = source[:, ::-1]
    target = np.concatenate([np.ones((count, 1), int), labels[:, :-1]], axis=1)
    alignment = np.tile(np.eye(length)[::-1], (count, 1, 1))
    return {"source": source, "target": target}, labels, alignment


def test_the_loss_has_the_weighted_cost(monkeypatch):
    """Each of two replicas adds its share."""
    monkeypatch.setattr(
        "kerasrnn.models.translator.share_of_added_loss", lambda loss: loss / 2
    )
    model = guided()
    inputs, labels, alignment = reversed_sequences(4)
    memory = model.encoder(inputs["source"])
    _, weights = model.decoder(
        inputs["target"], *memory, return_attention_scores=True
    )
    model.compile("sgd", TokenCrossentropy(), run_eagerly=True)
    plain = model.train_on_batch(inputs, labels)
    model = guided()
    model.compile("sgd", TokenCrossentropy(), run_eagerly=True)
    guided_loss = model.train_on_batch(
        inputs | {"alignment": alignment}, labels
    )
    cost = float(alignment_cost(weights, alignment))
    assert guided_loss == pytest.approx(plain + 2.0 / 2 * cost, rel=1e-5)
    # It is of training only.
    model(inputs | {"alignment": alignment})
    assert not model.losses


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sampled(1.5), "`sampling_rate`.*Received.*1.5"),
        *(
            (
                lambda encoder=encoder, decoder=decoder: Translator(
                    Encoder(9, **encoder),
                    Decoder(9, bridge="copy", **decoder),
                ),
                "needs equal states",
            )
            for encoder, decoder in [
                ({"cell": LSTMCell(3)}, {"cell": LSTMCell(6)}),
                (
                    {"cell": LSTMCell(4), "depth": 2, "bidirectional": False},
                    {"cell": LSTMCell(8)},
                ),
                (
                    {"cell": LSTMCell(4), "bidirectional": False},
                    {"cell": GRUCell(8)},
                ),
                ({"cell": GRUCell(3)}, {"cell": GRUCell(3), "depth": 2}),
                ({"cell": GRUCell(3)}, {"cell": GRUCell(5)}),
            ]
        ),
        (
            lambda: Translator(
                Encoder(9, GRUCell(4)),
                Decoder(10, GRUCell(4), lexicon=Lexicon(5, 10)),
            ),
            "source_size=9. .*source_size=5",
        ),
        (lambda: TranslatorEnsemble([]), "0 models"),
        (
            lambda: TranslatorEnsemble(
                [
                    Translator(
                        Encoder(9, GRUCell(4), 3), Decoder(size, GRUCell(4), 3)
                    )
                    for size in (10, 11)
                ]
            ),
            r"2 models, with \[10, 11\] logits",
        ),
        # There is nothing to guide.
        (
            lambda: guided(attention=None)(
                INPUTS | {"alignment": np.ones((3, 4, 5))}, training=True
            ),
            "Received: attention=None",
        ),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
