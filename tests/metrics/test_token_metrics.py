import re

import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import FastGRU
from kerasrnn.metrics import BitsPerCharacter
from kerasrnn.metrics import Perplexity
from kerasrnn.metrics import TokenAccuracy
from kerasrnn.metrics.token_metrics import token_costs
from kerasrnn.training import TokenCrossentropy
from tests import helpers

METRICS = [Perplexity, BitsPerCharacter, TokenAccuracy]
SIZE = 7
# PyTorch takes minutes to compile.
compiled_or_not = helpers.one_now(
    [False, True] if helpers.ON_TORCH else [True, False]
)

every_metric = pytest.mark.parametrize("metric_class", METRICS)


def make_batches(pad_id=0, scale=3.0):
    """Three batches, unequal in sentences, in length and in padding."""
    rng = np.random.default_rng(3)
    batches = []
    for seed, (batch, time) in enumerate([(4, 9), (2, 3), (1, 5)]):
        labels = rng.integers(1, SIZE, (batch, time))
        lengths = rng.integers(1, time + 1, (batch, 1))
        labels = np.where(np.arange(time) < lengths, labels, pad_id)
        logits = helpers.random(batch, time, SIZE, seed=seed) * scale
        batches.append((labels, logits))
    return batches


def count(metric_class, batches, pad_id=0):
    """The metric token by token, in float64."""
    total, weights = 0.0, 0.0
    for labels, logits, *given in batches:
        sample_weight = np.ones(labels.shape)
        for weights_given in given:
            sample_weight = sample_weight * weights_given
        for place, label in np.ndenumerate(labels):
            if label == pad_id:
                continue
            scores = logits[place].astype("float64")
            cost = np.log(np.sum(np.exp(scores))) - scores[label]
            hit = float(np.argmax(scores) == label)
            value = hit if metric_class is TokenAccuracy else cost
            total += sample_weight[place] * value
            weights += sample_weight[place]
    mean = total / weights
    if metric_class is Perplexity:
        return np.exp(mean)
    return mean / np.log(2) if metric_class is BitsPerCharacter else mean


def measured(metric, batches):
    for batch in batches:
        metric.update_state(*batch)
    return float(metric.result())


def test_of_equal_logits_the_first_is_the_guess():
    labels, logits = np.array([[7, 0]]), np.zeros((1, 2, 40), "float32")
    logits[:, :, 7:] = 1.0
    assert measured(TokenAccuracy(-1), [(labels, logits)]) == 0.5


@every_metric
@pytest.mark.parametrize("pad_id", [0, -1, 3, SIZE])
def test_equals_a_count_over_the_tokens_of_all_batches(metric_class, pad_id):
    batches = make_batches(pad_id)
    if pad_id:
        batches[0][0][0, 0] = 0  # an ordinary token, then
    expected = count(metric_class, batches, pad_id)
    assert measured(metric_class(pad_id), batches) == pytest.approx(
        expected, rel=1e-5
    )


@every_metric
@pytest.mark.parametrize("value", [50.0, np.inf, np.nan])
def test_what_is_predicted_behind_the_end_does_not_matter(metric_class, value):
    batches = make_batches()
    expected = measured(metric_class(), batches)
    for labels, logits in batches:
        logits[labels == 0, 2] = value
    assert measured(metric_class(), batches) == expected


@every_metric
def test_half_precision_logits_are_computed_with_in_float32(metric_class):
    halves = [
        (labels, ops.cast(logits, "bfloat16"))
        for labels, logits in make_batches()
    ]
    rounded = [
        (labels, helpers.as_numpy(ops.cast(logits, "float32")))
        for labels, logits in halves
    ]
    metric = metric_class()
    expected = count(metric_class, rounded)
    assert measured(metric, halves) == pytest.approx(expected, rel=1e-5)
    assert keras.backend.standardize_dtype(metric.result().dtype) == "float32"


@every_metric
@pytest.mark.parametrize("axes", ["batch", "batch and 1", "batch and time"])
def test_sample_weight_multiplies_the_weights(metric_class, axes):
    rng = np.random.default_rng(5)
    batches, columns = [], []
    for labels, logits in make_batches():
        shape = {
            "batch": labels.shape[:1],
            "batch and 1": (len(labels), 1),
            "batch and time": labels.shape,
        }[axes]
        weights = rng.uniform(0.1, 3.0, shape)
        batches.append((labels, logits, weights))
        columns.append((labels, logits, weights.reshape(len(labels), -1)))
    expected = count(metric_class, columns)
    found = measured(metric_class(), batches)
    assert found == pytest.approx(expected, rel=1e-5)
    assert found != pytest.approx(count(metric_class, make_batches()), rel=1e-3)


@every_metric
def test_small_weights_are_no_rounding_to_one_token(metric_class):
    batch = make_batches()[0]
    weighted = (*batch, np.full(4, 1e-3))
    assert measured(metric_class(), [weighted]) == pytest.approx(
        count(metric_class, [batch]), rel=1e-5
    )


@helpers.slow_on_jax
@pytest.mark.parametrize("metric_class", helpers.one_now(METRICS))
@pytest.mark.parametrize("mask_zero", helpers.one_now([True, False]))
@pytest.mark.parametrize("jit_compile", compiled_or_not)
def test_evaluation_of_a_model(metric_class, mask_zero, jit_compile):
    """The mask follows the inputs, which are padded where labels are not."""
    model = keras.Sequential(
        [
            keras.layers.Embedding(SIZE, 4, mask_zero=mask_zero),
            FastGRU(5, return_sequences=True),
            keras.layers.Dense(SIZE),
        ]
    )
    inputs = np.array([[1, 2, 3, 4], [5, 0, 0, 0], [6, 1, 0, 0]])
    labels = np.array([[2, 3, 4, 5], [1, 6, 2, 0], [1, 2, 0, 0]])
    has_mask = getattr(model(inputs), "_keras_mask", None) is not None
    assert has_mask == mask_zero
    helpers.randomize(model, scale=1.0)
    logits = model.predict(inputs, verbose=0)
    model.compile(
        loss=TokenCrossentropy(),
        metrics=[metric_class()],
        jit_compile=jit_compile,
    )
    logs = model.evaluate(
        inputs, labels, batch_size=2, verbose=0, return_dict=True
    )
    assert logs[metric_class().name] == pytest.approx(
        count(metric_class, [(labels, logits)]), rel=1e-5
    )


# After so many tokens, adding 1 to a float32 changes nothing.
MANY = 2.0**24


def one_by_one(tokens):
    """Labels, logits and weights: one token worth `MANY`, then single ones."""
    labels = np.ones((tokens + 1, 1), "int32")
    logits = np.zeros((tokens + 1, 1, 2), "float32")
    logits[1:, :, 0] = 20.0  # so that the tokens at the end are far off
    return labels, logits, np.array([MANY] + tokens * [1.0], "float32")


@pytest.mark.parametrize("jit_compile", compiled_or_not)
def test_single_tokens_count_in_a_compiled_step(jit_compile):
    """A compiler that takes (a + b) - a for b would undo the correction."""
    labels, logits, weights = one_by_one(600)
    model = keras.Sequential([keras.Input((1, 2)), keras.layers.Identity()])
    bits = BitsPerCharacter()
    model.compile(
        loss=TokenCrossentropy(),
        weighted_metrics=[bits],
        jit_compile=jit_compile,
    )
    logs = model.evaluate(
        logits,
        labels,
        sample_weight=weights,
        batch_size=1,
        verbose=0,
        return_dict=True,
    )
    expected = (MANY + 600 * 20 / np.log(2)) / (MANY + 600)
    assert logs[bits.name] == pytest.approx(expected, rel=1e-6)
    assert helpers.as_numpy(bits.sums - bits.excess)[1] == MANY + 600


@pytest.mark.parametrize(
    "metric_class, expected",
    [(Perplexity, 1.0), (BitsPerCharacter, 0.0), (TokenAccuracy, 0.0)],
)
def test_before_any_token(metric_class, expected):
    metric = metric_class()
    assert float(metric.result()) == expected
    metric.update_state(np.zeros((2, 3), "int32"), helpers.random(2, 3, SIZE))
    assert float(metric.result()) == expected


def test_large_logits_cost_their_difference():
    logits = np.array([[[1e4, 1e4 + 0.5, 0.0]]], "float32")
    expected = np.log1p(np.exp(0.5)) / np.log(2)
    found = measured(BitsPerCharacter(-1), [(np.array([[0]]), logits)])
    assert found == pytest.approx(expected, rel=1e-5)


def test_a_token_held_impossible_costs_without_bound():
    logits = np.array([[[0.0, -np.inf, 0.0]], [[0.0, 0.0, -np.inf]]])
    metric = Perplexity()
    assert measured(metric, [(np.array([[2], [1]]), logits)]) == (
        pytest.approx(2.0)
    )
    assert measured(metric, [(np.array([[1], [1]]), logits)]) == np.inf
    assert measured(metric, make_batches()) == np.inf


@every_metric
def test_configuration_round_trip(metric_class):
    metric = metric_class(pad_id=-1, name="test")
    copy = helpers.copy_of(metric)
    assert type(copy) is metric_class
    assert copy.get_config() == {"name": "test", "pad_id": -1}
    batches = make_batches(-1)
    assert measured(copy, batches) == measured(metric, batches)


@pytest.mark.parametrize(
    ("labels", "logits", "weights", "found"),
    [
        ((2, 3, 2), (2, 3, 7), None, "y_true.shape=(2, 3, 2)"),
        ((2,), (2, 7), None, "y_true.shape=(2,)"),
        ((2, 3), (2, 1, 7), None, "y_true.shape=(2, 3)"),
        # Keras would spread the labels of one row over both.
        ((1, 3), (2, 3, 7), None, "y_true.shape=(1, 3)"),
        *(
            (
                (4, 9),
                (4, 9, 7),
                np.ones(shape),
                f"sample_weight.shape={shape} for (4, 9)",
            )
            for shape in [(4, 9, 1), (4, 9, 7), (5,), (4, 8), (3, 9)]
        ),
    ],
)
def test_shapes_must_agree(labels, logits, weights, found):
    with pytest.raises(ValueError, match="Received: " + re.escape(found)):
        Perplexity().update_state(np.ones(labels), np.ones(logits), weights)


LOGITS = helpers.random(2, 3, 5)
LABELS = np.array([[0, 4, 2], [3, 1, 5]])


def expected():
    costs = np.log(np.exp(LOGITS).sum(-1)) - np.take_along_axis(
        LOGITS, np.minimum(LABELS, 4)[..., None], -1
    ).squeeze(-1)
    return np.where(LABELS < 5, costs, np.nan)


class Costs(keras.layers.Layer):
    def call(self, labels, logits):
        return token_costs(labels, logits)


def test_a_model_for_any_batch_has_the_same_costs():
    labels = keras.Input((None,), dtype="int32")
    logits = keras.Input((None, 5))
    model = keras.Model([labels, logits], Costs()(labels, logits))
    found = model.predict_on_batch([LABELS, LOGITS])
    helpers.assert_close(found, expected())
    helpers.assert_close(token_costs(LABELS, LOGITS), expected())
