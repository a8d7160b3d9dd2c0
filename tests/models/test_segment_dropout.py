import numpy as np
import pytest

from kerasrnn.models.segment_dropout import SegmentDropout
from tests import helpers

SEGMENT = 4


def past():
    values = 2 + helpers.random(200, 5 * SEGMENT, 3)
    missing = np.zeros(values.shape, bool)
    missing[0, 1] = True
    return values, missing


def test_whole_segments_are_missing_but_never_the_last():
    values, missing = past()
    found = SegmentDropout(0.25, SEGMENT)(values, missing, training=True)
    left, hidden = helpers.as_numpy(list(found))
    np.testing.assert_array_equal(left, np.where(left == 0, 0, values))
    dropped = (left == 0).reshape(200, 5, SEGMENT, 3)
    assert (dropped.all(axis=2) == dropped.any(axis=2)).all()
    # Each column of each window by itself, at the given rate.
    rates = dropped[:, :-1].mean(axis=(0, 1, 2))
    assert len(set(rates)) == 3
    np.testing.assert_allclose(rates, 0.25, atol=0.08)
    assert not dropped[:, -1].any()
    np.testing.assert_array_equal(hidden, missing | (left == 0))


def test_nothing_is_dropped_outside_of_training():
    values, missing = past()
    found = SegmentDropout(0.9, SEGMENT)(values, missing)
    for x, y in zip(found, (values, missing), strict=True):
        np.testing.assert_array_equal(helpers.as_numpy(x), y)


def test_a_rate_of_one_is_refused():
    with pytest.raises(ValueError, match="segment_dropout"):
        SegmentDropout(1.0, SEGMENT)
