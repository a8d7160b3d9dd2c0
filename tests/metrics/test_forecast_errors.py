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


def error(units, name="mae"):
    return ForecastError(PointHead(), units, name)


def update(units, columns, *weights):
    values = np.zeros((2, 4, columns))
    error(units).update_state(np.ones((2, 4, 1)), values, *weights)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: error([1.0], "rmse"), "'mae' or 'mse'. Received: error='r"),
        (lambda: error([0.0]), "`units` must be"),
        (lambda: error([float("nan")]), "`units` must be"),
        (lambda: update([1.0, 2.0], 1), "must have shape"),
        (lambda: update([1.0], 3), "must have shape"),
        (lambda: update([1.0], 1, np.ones(2)), "no `sample_weight`"),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
