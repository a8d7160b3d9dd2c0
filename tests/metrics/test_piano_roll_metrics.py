import keras
import numpy as np
import pytest

from kerasrnn.metrics import NegativeLogLikelihood
from kerasrnn.training import PianoRollCrossentropy
from tests import helpers


def make_batches(scale=3.0):
    """Two batches, unequal in pieces, in length and in padding."""
    batches = []
    for seed, lengths in enumerate([(5, 2, 1), (9,)]):
        shape = len(lengths), max(lengths), 4
        labels = (helpers.random(*shape, seed=seed) > 0).astype("int8")
        for row, length in zip(labels, lengths, strict=True):
            row[length:] = -1
        batches.append((labels, helpers.random(*shape, seed=seed + 9) * scale))
    return batches


def count(batches):
    """The mean over the steps, key by key, in float64."""
    total, steps = 0.0, 0
    for labels, logits in batches:
        for place in np.ndindex(labels.shape[:2]):
            if labels[place].max() < 0:
                continue
            p = 1 / (1 + np.exp(-logits[place].astype("float64")))
            likelihood = np.where(labels[place], p, 1 - p)
            total -= np.log(likelihood).sum()
            steps += 1
    return total / steps


def test_every_step_of_all_batches_weighs_the_same():
    metric = NegativeLogLikelihood()
    assert float(metric.result()) == 0
    for batch in make_batches():
        metric.update_state(*batch)
    expected = count(make_batches())
    assert float(metric.result()) == pytest.approx(expected, rel=1e-5)
    metric.reset_state()
    assert float(metric.result()) == 0


def test_the_loss_is_the_mean_over_the_steps_of_a_batch():
    for batch in make_batches():
        found = float(PianoRollCrossentropy()(*batch))
        assert found == pytest.approx(count([batch]), rel=1e-5)


def test_predictions_after_the_end_do_not_matter():
    labels, logits = make_batches()[0]
    changed = np.where(labels < 0, np.inf, logits)
    for value in (lambda *x: PianoRollCrossentropy()(*x), measured):
        assert float(value(labels, changed)) == float(value(labels, logits))


def measured(labels, logits):
    metric = NegativeLogLikelihood()
    metric.update_state(labels, logits)
    return metric.result()


def test_a_certain_prediction_does_not_overflow():
    labels, logits = make_batches(scale=1e4)[1]
    labels = labels.astype(bool)
    right = np.where(labels, 1e4, -1e4).astype("float32")
    assert float(measured(labels, right)) == 0
    assert float(measured(labels, -right)) == pytest.approx(4e4)
    assert np.isfinite(float(PianoRollCrossentropy()(labels, logits)))


def test_half_precision_is_summed_in_float32():
    labels, logits = make_batches()[1]
    half = keras.ops.cast(logits, "bfloat16")
    expected = count(
        [(labels, helpers.as_numpy(keras.ops.cast(half, "float32")))]
    )
    assert float(measured(labels, half)) == pytest.approx(expected, rel=1e-5)
    loss = PianoRollCrossentropy()(labels, half)
    assert float(loss) == pytest.approx(expected, rel=1e-5)


def test_a_batch_of_padding_costs_nothing():
    labels = np.full((2, 3, 4), -1)
    assert float(PianoRollCrossentropy()(labels, np.ones((2, 3, 4)))) == 0


def test_fit_reports_the_metric():
    labels, logits = make_batches()[0]
    model = keras.Sequential([keras.Input((None, 4)), keras.layers.Dense(4)])
    model.layers[0].set_weights([np.eye(4), np.zeros(4)])
    metric = NegativeLogLikelihood()
    model.compile("sgd", PianoRollCrossentropy(), metrics=[metric])
    found = model.evaluate(logits, labels, verbose=0, return_dict=True)
    assert found["nll"] == pytest.approx(count([(labels, logits)]), rel=1e-5)
    assert found["loss"] == pytest.approx(found["nll"], rel=1e-5)


@pytest.mark.parametrize("kind", [NegativeLogLikelihood, PianoRollCrossentropy])
def test_configuration(kind):
    thing = kind(name="other")
    copy = kind.from_config(thing.get_config())
    assert copy.name == "other"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *(
            (
                lambda shape=shape: PianoRollCrossentropy()(
                    np.zeros((2, 3, 4)), np.zeros(shape)
                ),
                "must have the same shape",
            )
            for shape in ((2, 3), (2, 4, 4), (2, 3, 5))
        ),
        *(
            (
                lambda function=function: function(
                    *make_batches()[0], sample_weight=np.ones(3)
                ),
                "Expected: no `sample_weight`",
            )
            for function in (
                NegativeLogLikelihood().update_state,
                PianoRollCrossentropy(),
            )
        ),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
