import numpy as np
import pytest

from kerasrnn.metrics.label_scores import precision_recall_f1
from kerasrnn.pipelines.label_kinds import best_thresholds


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
