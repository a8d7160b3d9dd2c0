import numpy as np
import pytest

from kerasrnn.models import PointHead
from kerasrnn.models import QuantileHead
from kerasrnn.training import ForecastLoss
from tests import helpers


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


@pytest.mark.parametrize(
    "shape, weights, message",
    [
        ((1, 1, 2), None, r"`y_true` must have shape \(4, 3, 2\)"),
        ((1, 2), None, r"`y_true` must have shape"),
        ((4, 3, 1), None, r"`y_true` must have shape"),
        ((4, 3, 2), np.ones(3), r"`sample_weight` must have shape \(4\)"),
        ((4, 3, 2), np.ones((4, 3)), r"`sample_weight` must have shape"),
    ],
)
def test_shapes_are_checked(shape, weights, message):
    loss = ForecastLoss(PointHead("mae"), units=[1.0, 2.0])
    with pytest.raises(ValueError, match=message):
        loss(np.zeros(shape), np.ones((4, 3, 2)), weights)


def test_units_are_positive():
    with pytest.raises(ValueError, match="`units` must be .* > 0"):
        ForecastLoss(PointHead("mae"), units=[1.0, 0.0])


def test_it_is_made_anew_from_its_configuration():
    copy = helpers.copy_of(ForecastLoss(QuantileHead([0.3, 0.5]), [2.0]))
    assert (copy.head.levels, copy.units) == ((0.3, 0.5), [2.0])
