import functools
import math
import types

import keras
import numpy as np
import pytest
from keras import ops
from keras.layers import GRUCell
from keras.layers import LSTMCell
from keras.layers import StackedRNNCells
from scipy.special import log_softmax
from scipy.special import softmax

from kerasrnn.layers import BahdanauAttention
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import MultiHeadDotAttention
from kerasrnn.layers import RHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.layers import SHACell
from kerasrnn.layers import TransformerCell
from kerasrnn.layers import ZoneoutCell
from kerasrnn.metrics import Perplexity
from kerasrnn.models import DynamicEvaluation
from kerasrnn.models import LanguageModel
from kerasrnn.models.language_model import CarriedStates
from kerasrnn.models.language_model import augmented_loss
from kerasrnn.models.language_model import sampled_logits
from kerasrnn.training import TokenCrossentropy
from tests import helpers
from tests.models.test_token_output import VARIANTS as OUTPUTS
from tests.models.test_token_output import X
from tests.models.test_token_output import make

UNITS = 4
WORDS = 11
IDS = np.random.default_rng(0).integers(0, WORDS, (2, 6)).astype("int32")


def gam_rhn(**options):
    return GAMRHNCell(UNITS, 1, 2, 3, 5, **options)


def attending(attention):
    return SelfAttentionCell(gam_rhn(), attention, window=4)


def hybrid(blocks):
    """A recurrent highway network below some transformer blocks."""
    blocks = [TransformerCell(UNITS, 2, memory=3) for _ in range(blocks)]
    return StackedRNNCells([RHNCell(UNITS, depth=2), *blocks])


VARIANTS = {
    "lstm": {"cell": LSTMCell(UNITS)},
    "gru": {"cell": GRUCell(UNITS)},
    "rhn": {"cell": RHNCell(UNITS, depth=2)},
    "gam_rhn": {"cell": gam_rhn()},
    "dot": {"cell": attending("dot")},
    "scaled_dot": {"cell": attending("scaled_dot")},
    "additive": {"cell": attending(BahdanauAttention(UNITS))},
    "multi_head": {"cell": attending(MultiHeadDotAttention(2, UNITS // 2))},
    "above": {"cell": hybrid(2)},
    "alternating": {"cell": hybrid(1), "depth": 2},
    "sha": {"cell": SHACell(RHNCell(UNITS, depth=2), 2, memory=3), "depth": 2},
    "deep": {"cell": LSTMCell(UNITS), "depth": 2},
    "deep_attending": {"cell": attending("dot"), "depth": 2},
    "untied": {"cell": GRUCell(UNITS), "tie_embeddings": False},
    "narrow": {"cell": gam_rhn(), "embedding_dim": 3, "depth": 2},
    "narrow_untied": {
        "cell": RHNCell(UNITS, depth=2),
        "embedding_dim": 3,
        "tie_embeddings": False,
    },
}

SOME = ["deep_attending", "sha", "narrow_untied", "rhn", "above"]

# Each kind of state once, and several layers of them.
CARRYING = [*SOME, "lstm"]

few_variants = pytest.mark.parametrize("variant", SOME[:3])


def language_model(variant="gru", **options):
    """A model of 11 words and rows of 2, with random weights."""
    options = {"batch_size": 2} | VARIANTS[variant] | options
    model = LanguageModel(WORDS, **options)
    model.build()
    helpers.randomize(model)
    return model


def window(ids, *fresh):
    return {"ids": ids, "fresh": np.array(fresh)}


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("variant", helpers.some_now(VARIANTS, CARRYING))
def test_two_carried_windows_are_the_whole(variant):
    model = language_model(variant)
    whole = model(IDS)
    for _ in range(2):
        first = model(window(IDS[:, :4], True, True))
        second = model(window(IDS[:, 4:], False, False))
        helpers.assert_close(ops.concatenate([first, second], 1), whole)


@few_variants
def test_given_states_are_the_carried_way(variant):
    model = language_model(variant)
    states = model.initial_states(2)
    assert [s.shape for s in states] == [(2, n) for n in model.state_sizes]
    first, states = model.run(IDS[:, :4], states)
    assert [s.shape for s in states] == [(2, n) for n in model.state_sizes]
    second, states = model.run(IDS[:, 4:], states)
    helpers.assert_close(ops.concatenate([first, second], 1), model(IDS))
    model(window(IDS, True, True))
    helpers.assert_close([s.value for s in model.carried.of_evaluation], states)


@pytest.mark.parametrize("variant", helpers.one_now(SOME))
def test_saved_model_round_trip(variant, tmp_path):
    model = language_model(variant)
    model(window(IDS, True, True))
    loaded = helpers.reloaded(model, tmp_path)
    assert loaded.to_json() == model.to_json()
    helpers.assert_close(loaded(IDS), model(IDS))
    # The states are saved as well: a text may go on.
    inputs = window(IDS, False, False)
    following = helpers.as_numpy(model(inputs))
    helpers.assert_close(loaded(inputs), following)
    assert np.abs(following - helpers.as_numpy(model(IDS))).max() > 1e-4


@helpers.slow_on_jax
@pytest.mark.parametrize("variant", helpers.one_now(SOME[:3]))
def test_a_copy_of_another_batch_size_has_the_weights(variant):
    model = language_model(variant)
    copy = model.with_batch_size(1)
    assert copy.batch_size == 1
    expected = helpers.as_numpy(model(IDS))
    found = copy(window(IDS[:1], True))
    helpers.assert_close(found, expected[:1])
    # And they are its own.
    helpers.randomize(copy, seed=2)
    np.testing.assert_array_equal(model(IDS), expected)


@pytest.mark.parametrize("frozen", ["model", "embedding"])
def test_a_copy_of_a_frozen_model_has_its_weights(frozen):
    model = language_model(cell=GRUCell(UNITS))
    (model if frozen == "model" else model.embedding).trainable = False
    helpers.assert_close(model.with_batch_size(1)(IDS), model(IDS))


@helpers.slow_on_jax
@pytest.mark.parametrize("variant", ["gru", "multi_head"])
def test_only_fresh_rows_start_from_the_initial_states(variant):
    model = language_model(variant)
    model(window(IDS[:, :4], True, True))
    logits = model(window(IDS[:, 4:], True, False))
    helpers.assert_close(logits[0], model(IDS[:, 4:])[0])
    helpers.assert_close(logits[1], model(IDS)[1, 4:])


def test_ids_without_fresh_do_not_change_the_carried_states():
    model = language_model()
    before = states_of(model.carried.of_evaluation)
    model(IDS)
    helpers.assert_close(states_of(model.carried.of_evaluation), before, 0, 0)


def test_replicas_have_as_many_rows(monkeypatch):
    three = types.SimpleNamespace(num_replicas_in_sync=3)
    monkeypatch.setattr(
        LanguageModel, "distribute_strategy", three, raising=False
    )
    inputs = {"ids": np.ones((1, 3), "int32"), "fresh": np.ones(1, "int32")}
    assert language_model(batch_size=3)(inputs).shape[0] == 1
    inputs = {name: np.tile(x.T, 2).T for name, x in inputs.items()}
    with pytest.raises(ValueError, match="each replica gets its share"):
        language_model(batch_size=4)(inputs)


@pytest.mark.parametrize(
    "variant", ["gru", "untied", "narrow", "narrow_untied"]
)
def test_logits_equal_the_oracle(variant):
    model = language_model(variant, embedding_scale=3.0)
    table = model.embedding.get_weights()[0]
    x = 3 * table[IDS]
    for rnn in model.stack.rnns:
        x, *_ = rnn(x)
    x = helpers.as_numpy(x)
    helpers.assert_close(model(IDS), model.output_projection(x))


def test_the_network_of_the_paper_has_its_size():
    """Zilly et al. 2017: 23.5 million weights on the Penn Treebank."""
    model = LanguageModel(
        10_000,
        RHNCell(830, depth=10, recurrent_initializer="zeros"),
        embeddings_initializer="zeros",
    )
    model.build()
    assert model.count_params() == 23_482_400


def test_states_are_no_weights():
    alone, carrying = (language_model(batch_size=size) for size in (None, 4))
    assert carrying.count_params() == alone.count_params()


def test_the_embedding_starts_as_it_is_told():
    model = LanguageModel(WORDS, GRUCell(3), embeddings_initializer="ones")
    model.build()
    np.testing.assert_array_equal(model.embedding.get_weights()[0], 1)


def test_configuration_round_trip():
    model = LanguageModel(
        WORDS,
        attending("dot"),
        embedding_dim=6,
        depth=2,
        tie_embeddings=False,
        dropout=0.1,
        word_dropout=0.2,
        embeddings_initializer=keras.initializers.RandomUniform(-0.1, 0.1),
        embedding_scale=1.5,
        batch_size=3,
        augmented_loss=0.2,
        loss_temperature=3.0,
        name="words",
    )
    copy = helpers.copy_of(model)
    assert copy.get_config() == model.get_config()
    expected = {
        **{"drop_types": True, "word_dropout": 0.2, "scale": 1.5},
        **{"variational": True, "dropout": 0.1},
    }
    found = copy.embedding.get_config() | copy.stack.get_config()
    assert expected.items() <= found.items()


def windows(text, width):
    """Two rows of a text, window after window, and the next tokens.

    They are batches of 2 for a `fit` that does not shuffle.
    """
    inputs, labels = (
        np.reshape(x, (2, -1, width)).swapaxes(0, 1).reshape(-1, width)
        for x in (text[:-1], text[1:])
    )
    fresh = np.arange(len(inputs)) < 2
    return {"ids": inputs.astype("int32"), "fresh": fresh}, labels


def text_of(length):
    return np.random.default_rng(1).integers(0, WORDS, length)


IN_ORDER = {"batch_size": 2, "shuffle": False, "verbose": 0}


def evaluate(model, inputs, labels):
    return model.evaluate(inputs, labels, batch_size=2, verbose=0)


def states_of(variables):
    return helpers.as_numpy([variable.value for variable in variables])


def test_an_evaluation_starts_from_fresh_states():
    model = language_model("multi_head")
    model.compile(loss=TokenCrossentropy(-1))
    inputs, labels = windows(text_of(17), 4)
    loss = evaluate(model, inputs, labels)
    assert evaluate(model, inputs, labels) == loss
    inputs["fresh"][:] = False
    assert evaluate(model, inputs, labels) != pytest.approx(loss, rel=1e-4)


@pytest.mark.slow
def test_fit_trains_every_weight():
    model = language_model(
        cell=ZoneoutCell(
            RHNCell(UNITS, dropout=0.1, recurrent_dropout=0.1), 0.1
        ),
        embedding_dim=3,
        depth=2,
        dropout=0.1,
        word_dropout=0.1,
    )
    before = helpers.as_numpy([w.value for w in model.trainable_weights])
    model.compile("adam", TokenCrossentropy(-1))
    history = model.fit(*windows(text_of(17), 4), **IN_ORDER)
    assert np.isfinite(history.history["loss"]).all()
    for old, new in zip(before, model.trainable_weights, strict=True):
        assert np.any(old != helpers.as_numpy(new.value))


def test_it_is_compiled_as_keras_sees_fit():
    model = language_model("deep_attending")
    assert model.supports_jit
    assert all(layer.supports_jit for layer in model._flatten_layers())


@helpers.slow_on_jax
@pytest.mark.parametrize("rest", helpers.one_now([1, 2]))
def test_the_last_batch_may_have_fewer_rows(rest):
    """A single row was once taken for each of the rows."""
    model = language_model(batch_size=4)
    rng = np.random.default_rng(1)
    ids, labels = rng.integers(0, WORDS, (2, 8 + rest, 3)).astype("int32")
    inputs = window(ids, *(np.arange(8 + rest) < 4))
    # Each row continues the one of the batch before.
    rows = [np.concatenate(ids[i::4])[None] for i in range(4)]
    rows = [
        np.reshape(helpers.as_numpy(model(x)), (-1, 3, WORDS)) for x in rows
    ]
    expected = [rows[i % 4][i // 4] for i in range(8 + rest)]
    options = {"batch_size": 4, "verbose": 0}
    found = model.predict(inputs, **options)
    helpers.assert_close(found, np.stack(expected))
    # An epoch begins anew.
    model.compile(keras.optimizers.SGD(0.0), TokenCrossentropy(-1))
    log_p = helpers.as_numpy(ops.log_softmax(found))
    cost = -np.take_along_axis(log_p, labels[..., None], -1).mean()
    loss = model.evaluate(inputs, labels, **options)
    assert loss == pytest.approx(cost, 1e-5)
    history = model.fit(inputs, labels, shuffle=False, **options)
    assert history.history["loss"][0] == pytest.approx(cost, 1e-5)


def dynamic_evaluation(model, rate=0.5):
    dynamic = DynamicEvaluation(model)
    dynamic.compile(keras.optimizers.SGD(rate), TokenCrossentropy(-1))
    return dynamic


@pytest.mark.slow
def test_dynamic_evaluation_learns_from_the_text():
    inputs, labels = windows(np.tile([3, 1, 4, 1, 5], 13)[:-4], 5)
    model = language_model("rhn")
    dynamic = dynamic_evaluation(model)
    frozen = evaluate(dynamic, inputs, labels)
    model.compile(loss=TokenCrossentropy(-1))
    assert evaluate(model, inputs, labels) == pytest.approx(frozen)
    history = dynamic.fit(inputs, labels, **IN_ORDER)
    assert history.history["loss"][0] < 0.9 * frozen


def test_a_copy_for_texts_that_do_not_follow_each_other():
    model = LanguageModel(9, keras.layers.GRUCell(4), batch_size=2)
    ids = np.ones((4, 3), "int32")
    alone = model.with_batch_size(None)
    helpers.assert_close(alone(ids[:2]), model(ids[:2]))
    alone.compile("sgd", TokenCrossentropy(-1))
    assert np.isfinite(alone.evaluate(ids, ids, verbose=0))


ZEROS = [np.zeros((2, 3), "float32"), np.zeros((2, 1), "float32")]
STATES = [helpers.random(2, 3), helpers.random(2, 1, seed=1)]


def carried_states():
    carried = CarriedStates(2, [3, 1])
    carried.build()
    return carried


def test_a_replica_with_fewer_rows_leaves_the_others():
    carried = carried_states()
    carried.keep(STATES)
    first, fresh = [x[:1] for x in ZEROS], np.array([False])
    helpers.assert_close(carried(first, fresh), [x[:1] for x in STATES], 0, 0)
    carried.keep(first)
    expected = [
        np.concatenate([x[:1], y[1:]])
        for x, y in zip(ZEROS, STATES, strict=True)
    ]
    old = np.array([False, False])
    helpers.assert_close(carried(ZEROS, old), expected, 0, 0)


def test_training_and_evaluation_are_apart():
    carried = carried_states()
    old = np.array([False, False])
    carried.keep(STATES, training=True)
    # The others are still the first ones.
    helpers.assert_close(carried(STATES, old), ZEROS, 0, 0)
    helpers.assert_close(carried(ZEROS, old, training=True), STATES, 0, 0)
    carried.keep(ZEROS)
    helpers.assert_close(carried(ZEROS, old, training=True), STATES, 0, 0)


def test_half_precision_is_kept_in_float32():
    carried = CarriedStates(2, [3, 1], dtype="mixed_bfloat16")
    carried.build()
    half = [keras.ops.cast(x, "bfloat16") for x in STATES]
    carried.keep(half)
    assert {w.dtype for w in carried.weights} == {"float32"}
    states = carried(half, np.array([False, False]))
    assert {
        keras.backend.standardize_dtype(state.dtype) for state in states
    } == {"bfloat16"}
    helpers.assert_close(
        [keras.ops.cast(x, "float32") for x in states],
        [keras.ops.cast(x, "float32") for x in half],
        0,
        0,
    )


EMBEDDINGS = helpers.random(7, 3, seed=1)
LOGITS = helpers.random(2, 4, 7, seed=2)
TARGETS = np.array([[3, 0, 6, -1], [2, -1, -1, -1]])
TEMPERATURE = 0.7


def loss_of(word, logits):
    """The equation, word by word."""
    targets = softmax(EMBEDDINGS @ EMBEDDINGS[word] / TEMPERATURE)
    predicted = log_softmax(logits / TEMPERATURE)
    return -TEMPERATURE * np.sum(targets * (np.log(7) + predicted))


def test_it_is_the_equation_without_padding():
    expected = np.mean(
        [
            loss_of(TARGETS[place], LOGITS[place])
            for place in np.ndindex(TARGETS.shape)
            if TARGETS[place] >= 0
        ]
    )
    found = augmented_loss(EMBEDDINGS, TARGETS, LOGITS, TEMPERATURE)
    assert float(found) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("weights", [[2.0, 0.0], [[2, 0, 1, 9], [1, 9, 9, 9]]])
def test_losses_are_weighted(weights):
    of_words = np.broadcast_to(np.reshape(weights, (2, -1)), TARGETS.shape)
    expected = sum(
        of_words[place] * loss_of(TARGETS[place], LOGITS[place]) / 4
        for place in np.ndindex(TARGETS.shape)
        if TARGETS[place] >= 0
    )
    found = augmented_loss(EMBEDDINGS, TARGETS, LOGITS, TEMPERATURE, weights)
    assert float(found) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("logit", [np.inf, np.nan])
def test_padding_may_be_predicted_as_no_number(logit):
    logits = np.where((TARGETS < 0)[..., None], logit, LOGITS)
    found, expected = (
        augmented_loss(EMBEDDINGS, TARGETS, x, TEMPERATURE)
        for x in (logits, LOGITS)
    )
    assert float(found) == float(expected)


def test_padding_alone_costs_nothing():
    padding = np.full_like(TARGETS, -1)
    assert float(augmented_loss(EMBEDDINGS, padding, LOGITS, 5.0)) == 0


def augmented_model(dtype="float32", **options):
    model = LanguageModel(7, RHNCell(3, dtype=dtype), dtype=dtype, **options)
    model.build()
    helpers.randomize(model)
    model.compile(keras.optimizers.SGD(1.0), TokenCrossentropy(-1))
    return model


def test_fit_adds_it_and_evaluation_does_not():
    ids, words = np.maximum(TARGETS, 0), TARGETS
    plain = augmented_model()
    with_it = augmented_model(augmented_loss=0.3, loss_temperature=TEMPERATURE)
    loss = plain.evaluate(ids, words, verbose=0)
    assert with_it.evaluate(ids, words, verbose=0) == pytest.approx(loss)
    embeddings = helpers.as_numpy(plain.embedding.embeddings.value)
    added = augmented_loss(embeddings, words, plain(ids), TEMPERATURE)
    with_it.reset_metrics()  # Keras 3.12 goes on with the mean.
    found = with_it.train_on_batch(ids, words)
    assert float(found) == pytest.approx(loss + 0.3 * float(added), rel=1e-5)


@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "float16"])
def test_any_precision_and_any_integers(dtype):
    model = augmented_model(dtype, augmented_loss=0.3)
    ids = np.maximum(TARGETS, 0)
    assert np.isfinite(model.train_on_batch(ids, TARGETS.astype("int8")))


def test_embeddings_are_not_quantized():
    model = augmented_model(augmented_loss=0.3)
    model.embedding.quantize("int8")
    with pytest.raises(ValueError, match="embeddings in 'int8'"):
        model.compute_loss(None, TARGETS, LOGITS)


def test_targets_do_not_move_the_embeddings():
    """An input of zeros leaves no other way to the untied embeddings."""
    options = {"tie_embeddings": False, "embedding_scale": 0.0}
    model = augmented_model(augmented_loss=5.0, **options)
    before = helpers.as_numpy(model.embedding.embeddings.value)
    model.train_on_batch(np.maximum(TARGETS, 0), TARGETS)
    after = helpers.as_numpy(model.embedding.embeddings.value)
    np.testing.assert_array_equal(before, after)


def test_words_are_those_of_all_replicas(monkeypatch):
    alone = float(augmented_loss(EMBEDDINGS, TARGETS, LOGITS, TEMPERATURE))
    monkeypatch.setattr(
        "kerasrnn.models.language_model.sum_over_replicas", lambda x: x + 2
    )
    found = float(augmented_loss(EMBEDDINGS, TARGETS, LOGITS, TEMPERATURE))
    assert found == pytest.approx((4 * alone + 2) / (4 + 2), rel=1e-5)


def test_each_replica_adds_its_share(monkeypatch):
    """Keras sums the losses of the replicas."""
    model = LanguageModel(7, RHNCell(3), augmented_loss=0.5)
    model.build()
    model.compile(loss=TokenCrossentropy(-1))
    losses = [
        float(model.compute_loss(None, TARGETS, LOGITS, training=training))
        for training in (False, True)
    ]
    monkeypatch.setattr(
        "kerasrnn.models.language_model.replica_count",
        lambda model: 4,
    )
    shared = float(model.compute_loss(None, TARGETS, LOGITS, training=True))
    plain, whole = losses
    assert abs(whole - plain) > 0.01
    assert shared - plain == pytest.approx((whole - plain) / 4, rel=1e-3)


SIZE = 10
SAMPLED = np.array([[3, 0, 9, -1, 2], [2, 1, -1, -1, 5]])
RANKS = np.arange(SIZE)
SHARES = np.log((RANKS + 2) / (RANKS + 1)) / np.log(SIZE + 1)


def test_the_shares_of_all_words_are_a_distribution():
    assert SHARES.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", OUTPUTS)
def test_logits_are_those_of_the_words_less_how_often_they_are_drawn(name):
    output, count = make(name), 6
    seeds = (keras.random.SeedGenerator(4) for _ in range(2))
    uniform = keras.random.uniform((count,), seed=next(seeds))
    drawn = np.exp(helpers.as_numpy(uniform) * np.log(SIZE + 1)) - 1
    drawn = np.clip(drawn.astype(int), 0, SIZE - 1)
    logits = helpers.as_numpy(output(X))
    right = np.take_along_axis(
        logits, np.maximum(SAMPLED, 0)[..., None], axis=2
    )
    logits = logits - np.log(count * SHARES)
    is_right = drawn == np.maximum(SAMPLED, 0)[..., None]
    assert is_right.any() and not is_right.all()
    others = np.where(is_right, -1e9, logits[..., drawn])
    found = sampled_logits(output, X, SAMPLED, count, next(seeds))
    helpers.assert_close(found, np.concatenate([right, others], axis=2))


def test_words_are_drawn_by_their_rank():
    output, count = make("plain"), 40_000
    output.dense.kernel.assign(np.zeros((4, SIZE)))
    output.bias.assign(RANKS + np.log(SHARES))
    seed = keras.random.SeedGenerator(5)
    found = sampled_logits(output, X, SAMPLED, count, seed)
    # What is left of a logit tells which word it is of.
    drawn = np.round(helpers.as_numpy(found)[0, 0, 1:] + np.log(count))
    shares = [np.mean(drawn == rank) for rank in range(1, SIZE) if rank != 3]
    helpers.assert_close(np.array(shares), np.delete(SHARES, [0, 3]), atol=0.01)


def sampled_model(**options):
    return LanguageModel(SIZE, RHNCell(6), sampled_words=4, **options)


def test_fit_learns_and_measures_the_first_row():
    model = sampled_model(batch_size=2)
    model.compile(
        keras.optimizers.Adam(0.05),
        TokenCrossentropy(-1),
        metrics=[Perplexity(-1)],
    )
    ids = np.array([[1, 2, 3, 4, 5], [6, 7, 8, 9, 1]])
    batch = {"ids": ids, "fresh": np.array([True, True])}
    labels = np.roll(ids, -1, axis=1)
    labels[:, -1] = -1
    history = model.fit(
        *(batch, labels),
        batch_size=2,
        epochs=60,
        validation_data=(batch, labels),
        verbose=0,
    ).history
    for name in ("perplexity", "val_perplexity"):
        assert history[name][0] > 5
        assert history[name][-1] < 1.5


def test_padding_has_no_gradient():
    losses = []
    for padding in (1, 2):
        keras.utils.set_random_seed(3)
        model = sampled_model()
        model.compile("sgd", TokenCrossentropy(-1))
        ids = np.array([[1, 2, 3, padding]])
        losses.append(model.train_on_batch(ids, np.array([[2, 3, 4, -1]])))
    assert float(losses[0]) == float(losses[1])


def test_a_call_has_the_logits_of_all_words():
    model = sampled_model()
    ids = np.maximum(SAMPLED, 0)
    assert model(ids).shape == (2, 5, SIZE)
    answer = model(ids, training=True)
    shapes = {name: tuple(x.shape) for name, x in answer.items()}
    assert shapes == {"outputs": (2, 5, 6), "first_row": (1, 5, SIZE)}
    copy = LanguageModel.from_config(model.get_config())
    assert copy.sampled_words == 4


def test_it_drops_in_training():
    cell = RHNCell(6, dropout=0.5)
    ids = np.arange(10).reshape(2, 5) % SIZE
    for model in (
        sampled_model(word_dropout=0.5),
        LanguageModel(SIZE, cell, sampled_words=4),
    ):
        first, second = (
            helpers.as_numpy(model(ids, training=True)["outputs"])
            for _ in range(2)
        )
        assert np.any(first != second)


def compiled(model, loss):
    model.compile("sgd", loss)
    return model


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (
                functools.partial(
                    LanguageModel,
                    **{"vocabulary_size": WORDS, "cell": GRUCell(UNITS)}
                    | options,
                ),
                message,
            )
            for options, message in [
                ({"vocabulary_size": 0}, "Received: vocabulary_size=0"),
                ({"depth": 0}, "Received: depth=0"),
                ({"embedding_dim": 0}, "Received: embedding_dim=0"),
                ({"batch_size": 0}, "Received: batch_size=0"),
                (
                    {"dropout": 1.0},
                    r"`dropout`.*\[0, 1\).*Received: dropout=1.0",
                ),
                (
                    {"word_dropout": 1.0},
                    r"\[0, 1\).*Received: word_dropout=1.0",
                ),
                (
                    {"cell": "gru"},
                    "LanguageModel expects `cell`.*Received: cell='gru'",
                ),
                (
                    {"augmented_loss": -0.1},
                    "`augmented_loss`.*augmented_loss=-0.1",
                ),
                (
                    {"augmented_loss": math.inf},
                    "`augmented_loss`.*augmented_loss=inf",
                ),
                (
                    {"loss_temperature": 0.0},
                    "`loss_temperature`.*temperature=0.0",
                ),
                (
                    {"loss_temperature": math.inf},
                    "`loss_temperature`.*temperature=inf",
                ),
                (
                    {"augmented_loss": 0.5, "sampled_words": 4},
                    "Received: sampled_words=4",
                ),
            ]
        ),
        *(
            (
                lambda size=size, fresh=fresh: language_model(batch_size=size)(
                    window(IDS, *fresh)
                ),
                "`batch_size`, the number of rows.*"
                f"Received: batch_size={size}, ids of shape",
            )
            for size, fresh in [
                (None, [True, True]),
                (1, [True, True]),
                (2, [True]),
                (2, [[True]] * 2),
            ]
        ),
        *(
            (
                lambda method=method: getattr(
                    compiled(language_model(), TokenCrossentropy(-1)), method
                )(IDS, IDS, verbose=0),
                "batch_size=2, ids alone",
            )
            for method in ("fit", "evaluate")
        ),
        (
            lambda: compiled(
                augmented_model(augmented_loss=0.3),
                keras.losses.CategoricalCrossentropy(from_logits=True),
            ).train_on_batch(np.maximum(TARGETS, 0), LOGITS),
            r"labels of shape \(2, 4, 7\)",
        ),
        (
            lambda: compiled(
                sampled_model(), TokenCrossentropy(0)
            ).train_on_batch(np.array([[1, 2]]), np.array([[2, 0]])),
            "one with pad_id=0",
        ),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
