import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.models import PointHead
from kerasrnn.models import QuantileHead
from kerasrnn.training import ForecastLoss
from kerasrnn.training import TokenCrossentropy
from kerasrnn.training.losses import LabelCrossentropy
from tests import helpers

LOGITS = helpers.random(3, 5, 7) * 3
LABELS = np.array([[2, 6, 1, 3, 5], [4, 1, 0, 0, 0], [3, 0, 0, 0, 0]])


def count(labels, logits, pad_id=0, label_smoothing=0.0):
    """The mean over the tokens, one by one."""
    losses = []
    for label, scores in zip(labels.flat, logits.reshape(-1, 7), strict=True):
        if label == pad_id:
            continue
        scores = scores.astype("float64")
        log_p = scores - np.log(np.sum(np.exp(scores)))
        target = np.full(7, label_smoothing / 7)
        target[label] += 1 - label_smoothing
        losses.append(-np.sum(target * log_p))
    return np.mean(losses)


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("pad_id", [0, -1, 6, 7, 100])
def test_equals_a_count_over_real_tokens(pad_id, label_smoothing):
    labels = np.where(LABELS == 6, 2, LABELS)
    labels[1:, 2:] = pad_id
    expected = count(labels, LOGITS, pad_id, label_smoothing)
    loss = TokenCrossentropy(pad_id, label_smoothing)
    for given in labels, labels[..., None]:
        assert float(loss(given, LOGITS)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("floatx", ["float16", "bfloat16", "float64"])
def test_ids_are_not_rounded_to_16_bits(floatx):
    before = keras.config.floatx()
    try:
        keras.config.set_floatx(floatx)
        logits = np.zeros((1, 1, 2050), "float32")
        logits[0, 0, 2049] = 20.0
        assert float(TokenCrossentropy()([[2049]], logits)) < 1e-4
    finally:
        keras.config.set_floatx(before)


def test_every_token_weighs_the_same_in_training():
    """Uniform logits: the gradient of a bias is p - y, over the tokens."""
    model = keras.Sequential(
        [keras.Input((5, 1)), keras.layers.Dense(7, kernel_initializer="zeros")]
    )
    bias = model.layers[0].bias
    model.compile(keras.optimizers.SGD(1.0), TokenCrossentropy())
    model.train_on_batch(np.zeros((3, 5, 1)), LABELS)
    tokens = LABELS[LABELS != 0]
    expected = np.bincount(tokens, minlength=7) / len(tokens) - 1 / 7
    helpers.assert_close(bias.value, expected)


def test_half_precision_logits_are_summed_in_float32():
    logits = ops.cast(LOGITS, "bfloat16")
    rounded = helpers.as_numpy(ops.cast(logits, "float32"))
    loss = TokenCrossentropy()
    for found in (
        loss(LABELS, logits),
        ops.sum(loss.call(ops.convert_to_tensor(LABELS), logits)),
    ):
        assert keras.backend.standardize_dtype(found.dtype) == "float32"
        expected = count(LABELS, rounded)
        assert float(found) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_sample_weights_multiply_the_losses(label_smoothing):
    """Of a batch as long as it is wide, too: (batch,) is not (time,)."""
    loss = TokenCrossentropy(label_smoothing=label_smoothing)
    labels, logits = LABELS[:, :3], LOGITS[:, :3]
    by_row = np.array([2.0, 0.5, 0.0])
    by_token = by_row[:, None] * np.array([1.0, 0.0, 3.0])
    for weights in (by_row, by_token):
        each = ops.convert_to_numpy(loss.call(labels, logits))
        expected = np.sum(each * weights.reshape(3, -1))
        found = float(loss(labels, logits, weights))
        assert found == pytest.approx(expected, rel=1e-5)
        # What they are divided by stays the number of tokens.
        assert float(loss(labels, logits, 2 * weights)) == pytest.approx(
            2 * expected, rel=1e-5
        )
    assert float(loss(labels, logits, np.ones(3))) == float(
        loss(labels, logits)
    )


def test_a_keras_mask_has_no_effect():
    """As with the metrics: labels alone say what is padding."""
    embed = keras.layers.Embedding(5, 7, mask_zero=True)
    logits = embed(np.array([[1, 2, 0], [3, 0, 0]]))
    assert np.any(helpers.as_numpy(logits)) and logits._keras_mask is not None
    labels = np.array([[2, 3, 4], [1, 6, 0]])
    expected = count(labels, helpers.as_numpy(logits))
    assert float(TokenCrossentropy()(labels, logits)) == pytest.approx(
        expected, rel=1e-5
    )


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_padding_may_be_predicted_as_no_number(value, label_smoothing):
    loss = TokenCrossentropy(label_smoothing=label_smoothing)
    logits = np.where(LABELS[..., None] == 0, value, LOGITS)
    assert float(loss(LABELS, logits)) == float(loss(LABELS, LOGITS))


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
@pytest.mark.parametrize("label", [-1, 7])
def test_a_token_outside_the_vocabulary_costs_no_number(label, label_smoothing):
    loss = TokenCrossentropy(label_smoothing=label_smoothing)
    assert np.isnan(float(loss([[1, label]], LOGITS[:1, :2])))


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
@pytest.mark.parametrize("shape", [(3, 5), (0, 5), (3, 0)])
def test_padding_and_an_empty_batch_cost_nothing(shape, label_smoothing):
    loss = TokenCrossentropy(label_smoothing=label_smoothing)
    assert float(loss(np.zeros(shape, "int32"), np.zeros((*shape, 7)))) == 0


def test_configuration_round_trip():
    loss = TokenCrossentropy(3, 0.2, name="cost")
    copy = helpers.copy_of(loss)
    assert copy.get_config() == loss.get_config()
    assert copy.get_config() == {
        "name": "cost",
        "pad_id": 3,
        "label_smoothing": 0.2,
    }


@pytest.mark.slow_on_jax
def test_quantiles_are_learnt_by_the_pinball_loss():
    levels = (0.2, 0.5, 0.9)
    head = QuantileHead(levels)
    y = np.array([[[3.0], [np.nan]]])
    said = np.array([[[[1.0, 4.0, 7.0]], [[0.0, 0.0, 0.0]]]])
    # 0.2 * 2 below, 0.5 * 1 and 0.1 * 4 above.
    expected = 2 * (0.4 + 0.5 + 0.4) / 3 / 2
    found = float(ForecastLoss(head, [2.0])(y, said))
    assert found == pytest.approx(expected)
    # Its least is at the quantiles: of 0 to 100, at 100 times the levels.
    numbers = np.arange(101.0)[:, None, None]
    costs = [
        float(ForecastLoss(head, [1.0])(numbers, said * 0 + place))
        for said in [np.zeros((101, 1, 1, 3))]
        for place in ([20, 50, 90], [25, 50, 90], [20, 45, 90], [20, 50, 80])
    ]
    assert np.argmin(costs) == 0
    # The median alone costs what the absolute error does.
    median = float(ForecastLoss(QuantileHead([0.5]), [2.0])(y, said[..., 1:2]))
    assert median == float(ForecastLoss(PointHead(), [2.0])(y, said[..., 1]))


def test_rows_may_have_weights():
    y, said = np.ones((2, 1, 1)), np.zeros((2, 1, 1))
    loss = ForecastLoss(PointHead("mse"), [0.5])
    assert float(loss(y, said, np.array([1.0, 0.0]))) == 2.0


def test_nothing_to_forecast_costs_nothing():
    y = np.full((2, 1, 1), np.nan)
    assert float(ForecastLoss(PointHead(), [1.0])(y, np.ones((2, 1, 1)))) == 0


def test_it_is_made_anew_from_its_configuration():
    copy = helpers.copy_of(ForecastLoss(QuantileHead([0.3, 0.5]), [2.0]))
    assert (copy.head.levels, copy.units) == ((0.3, 0.5), [2.0])


RNG = np.random.default_rng(0)


def test_it_is_the_cross_entropy_of_smoothed_labels():
    logits = RNG.standard_normal((4, 3)).astype("float32")
    labels, smoothing = np.array([[2], [0], [1], [2]]), 0.3
    shares = np.eye(3)[labels[:, 0]] * (1 - smoothing) + smoothing / 3
    log_p = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    expected = -np.mean((shares * log_p).sum(1))
    loss = LabelCrossentropy(smoothing)
    assert float(loss(labels, logits)) == pytest.approx(expected, rel=1e-5)
    config = keras.saving.serialize_keras_object(loss)
    again = keras.saving.deserialize_keras_object(config)
    assert again.label_smoothing == smoothing


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (
                lambda bad=bad: TokenCrossentropy(label_smoothing=bad),
                f"Received: label_smoothing={bad}",
            )
            for bad in (-0.1, 1.0)
        ),
        *(
            (
                lambda bad=bad: LabelCrossentropy(bad),
                f"label_smoothing=.*{bad}",
            )
            for bad in (-0.1, 1, "0.1")
        ),
        *(
            (
                lambda shape=shape, weights=weights, unit=unit: ForecastLoss(
                    PointHead("mae"), units=[1.0, unit]
                )(np.zeros(shape), np.ones((4, 3, 2)), weights),
                message,
            )
            for shape, weights, unit, message in [
                ((1, 1, 2), None, 2.0, r"`y_true` must have shape \(4, 3, 2\)"),
                ((1, 2), None, 2.0, r"`y_true` must have shape"),
                ((4, 3, 1), None, 2.0, r"`y_true` must have shape"),
                (
                    (4, 3, 2),
                    np.ones(3),
                    2.0,
                    r"`sample_weight` must have shape \(4\)",
                ),
                (
                    (4, 3, 2),
                    np.ones((4, 3)),
                    2.0,
                    r"`sample_weight` must have shape",
                ),
                ((4, 3, 2), None, 0.0, "`units` must be .* > 0"),
            ]
        ),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
