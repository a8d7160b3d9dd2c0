import numpy as np
import pytest

from kerasrnn.metrics.label_scores import precision_recall_f1
from kerasrnn.pipelines.label_kinds import at_temperature
from kerasrnn.pipelines.label_kinds import best_temperature
from kerasrnn.pipelines.label_kinds import best_thresholds

RNG = np.random.default_rng(0)


def drawn(temperature, count=20_000):
    """Probabilities of three labels, of which labels are drawn."""
    logits = RNG.normal(size=(count, 3)) * 2
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    true = (logits + RNG.gumbel(size=logits.shape)).argmax(axis=1)
    return at_temperature(np.exp(logits), 1 / temperature), true


def calibration_error(probabilities, true, bins=10):
    """The mean difference of certainty and accuracy (Guo et al., 2017)."""
    certainty = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == true
    indices = np.minimum((certainty * bins).astype(int), bins - 1)
    gaps = np.bincount(indices, certainty - right, bins)
    return np.abs(gaps).sum() / len(certainty)


def test_a_temperature_undoes_too_much_certainty():
    found, true = drawn(3.0)
    assert best_temperature(found, true) == pytest.approx(3.0, rel=0.05)
    better = at_temperature(found, 3.0)
    assert calibration_error(better, true) < 0.01
    assert calibration_error(found, true) > 0.05
    np.testing.assert_array_equal(better.argmax(axis=1), found.argmax(axis=1))
    np.testing.assert_allclose(better.sum(axis=1), 1)


def test_a_model_that_was_always_right_does_not_become_certain():
    few, many = (np.tile([0.9, 0.1], (count, 1)) for count in (2, 200))
    for found, most in ((few, 0.9), (many, 0.999)):
        temperature = best_temperature(found, np.zeros(len(found), int))
        assert 0.8 < at_temperature(found, temperature)[0, 0] < most


def test_one_that_is_always_right_or_wrong_stays_finite():
    sure = np.array([[1.0, 0.0], [0.0, 1.0]])
    for true in ([0, 1], [1, 0]):
        temperature = best_temperature(sure, np.array(true))
        assert np.isfinite(at_temperature(sure, temperature)).all()


def f1(true, found):
    counts = true.sum(), found.sum(), (true & found).sum()
    return precision_recall_f1(*map(int, counts))["f1"]


def test_no_other_threshold_has_a_higher_f1():
    rng = np.random.default_rng(2)
    found = rng.random((80, 4)).round(1).astype("float32")  # with many ties
    true = rng.random((80, 4)) < found * [1.0, 0.6, 0.2, 0.0]
    thresholds = best_thresholds(true.astype(int), found, (0.5,) * 4)
    assert thresholds[3] == 0.5  # no text has it
    for n, threshold in enumerate(thresholds[:3]):
        best = f1(true[:, n], found[:, n] > threshold)
        tried = [-0.1, *np.unique(found[:, n])]
        assert best == max(f1(true[:, n], found[:, n] > t) for t in tried)


def test_a_threshold_is_midway():
    found = np.array([[0.9], [0.5], [0.3], [0.1]], "float32")
    true = np.array([[1], [1], [0], [0]])
    assert best_thresholds(true, found, (0.5,)) == pytest.approx((0.4,))
    near = np.nextafter(np.float32(0.5), np.float32(0))
    [threshold] = best_thresholds(
        np.array([[1], [0]]), np.array([[0.5], [near]], "float32"), (0.5,)
    )
    assert near <= np.float32(threshold) < np.float32(0.5)
