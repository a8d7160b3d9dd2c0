import numpy as np
import pytest

from kerasrnn.metrics import ForecastError
from kerasrnn.models import PointHead
from tests import helpers


def test_errors_are_pooled_over_what_is_there():
    said = np.zeros((2, 2, 2))
    y = np.array([[[-2.0, 30.0], [np.nan, 0.0]], [[np.nan] * 2] * 2])
    for name, expected in (("mae", (1 + 3) / 3), ("mse", (1 + 9) / 3)):
        error = ForecastError(PointHead(), [2.0, 10.0], name)
        for part in (slice(0, 1), slice(1, 2)):
            error.update_state(y[part], said[part])
        assert float(error.result()) == pytest.approx(expected)
        copy = helpers.copy_of(error)
        assert (copy.name, copy.units) == (name, [2.0, 10.0])


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="'mae' or 'mse'. Received: error='r"):
        ForecastError(PointHead(), [1.0], "rmse")
    for units in ([0.0], [float("nan")]):
        with pytest.raises(ValueError, match="`units` must be"):
            ForecastError(PointHead(), units)
    for units, columns in ([1.0, 2.0], 1), ([1.0], 3):
        with pytest.raises(ValueError, match="must have shape"):
            ForecastError(PointHead(), units).update_state(
                np.ones((2, 4, 1)), np.zeros((2, 4, columns))
            )
    y = np.zeros((1, 1, 1))
    with pytest.raises(ValueError, match="no `sample_weight`"):
        ForecastError(PointHead(), [1.0]).update_state(y, y, np.ones(1))
