import numpy as np
import pytest
from keras import ops
from scipy import stats

from kerasrnn.models import ForecastHead
from kerasrnn.models import GaussianHead
from kerasrnn.models import NegativeBinomialHead
from kerasrnn.models import PointHead
from kerasrnn.models import QuantileHead
from kerasrnn.models import StudentHead
from tests import helpers

LEVELS = (0.05, 0.1, 0.5, 0.9, 0.99)


def law(head, numbers):
    """The distribution that a head says, by SciPy."""
    parts = np.moveaxis(np.asarray(numbers, "float64"), -1, 0)
    if isinstance(head, GaussianHead):
        return stats.norm(*parts)
    if isinstance(head, StudentHead):
        mean, width, freedom = parts
        return stats.t(freedom, mean, width)
    mean, dispersion = parts
    return stats.nbinom(1 / dispersion, 1 / (1 + dispersion * mean))


HEADS = {
    "gaussian": (GaussianHead(), [[[3.0, 0.5], [-2.0, 4.0]]]),
    "student": (StudentHead(), [[[3.0, 0.5, 2.1], [-2.0, 4.0, 30.0]]]),
    "counts": (NegativeBinomialHead(), [[[0.3, 0.01], [700.0, 1.5]]]),
}


@pytest.mark.parametrize("name", HEADS)
def test_a_distribution_is_that_of_scipy(name):
    head, numbers = HEADS[name]
    numbers = np.array(numbers, "float32")
    known = law(head, numbers)
    y = np.array([[2.0, 5.0]], "float32")
    expected = known.logpmf(y) if name == "counts" else known.logpdf(y)
    y, numbers = map(ops.convert_to_tensor, (y, numbers))
    helpers.assert_close(head.log_prob(y, numbers), expected, rtol=1e-3)
    if helpers.ON_TORCH and name != "gaussian":
        return
    expected = np.stack([known.ppf(level) for level in LEVELS], -1)
    found = head.quantiles(numbers, LEVELS)
    helpers.assert_close(found, expected, rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("dispersion", [0.0011, 0.02, 0.1, 0.5, 2.0])
@pytest.mark.parametrize("mean", [0.5, 900.0, 3e3, 1e5, 1e7, 1e9])
def test_great_counts_are_as_exact_as_small_ones(mean, dispersion):
    head = NegativeBinomialHead()
    numbers = np.array([[mean, dispersion]], "float32")
    known = law(head, numbers)
    y = np.array([0.0, 1.0, mean // 3, mean // 1, 1.3 * mean // 1], "float32")
    every = ops.convert_to_tensor(np.repeat(numbers, len(y), axis=0))
    found = head.log_prob(ops.convert_to_tensor(y), every)
    helpers.assert_close(found, known.logpmf(y.astype("float64")), rtol=1e-4)
    if helpers.ON_TORCH:
        return
    levels = np.array([1e-3, 0.1, 0.5, 0.9, 0.999])
    found = helpers.as_numpy(head.quantiles(every[:1], levels))[0]
    tails = np.minimum(levels, 1 - levels)
    below, upto = known.cdf(found - 1), known.cdf(found)
    # Near the centre 1 in 1000, and in the tails 2 in 100, of the tail.
    most = np.where(tails < 0.01, 0.02, 1e-3) * tails
    assert (below - most <= levels).all() and (levels <= upto + most).all()


@pytest.mark.skipif(helpers.ON_TORCH, reason="it has no incomplete beta")
@pytest.mark.parametrize("freedom", [2.001, 5.0, 100.0, 1e4])
def test_quantiles_of_student_are_exact_at_the_centre_and_in_tails(freedom):
    levels = (1e-6, 0.1, 0.499, 0.5, 0.501, 0.9, 1 - 1e-6)
    numbers = np.array([[3.0, 2.0, freedom]], "float32")
    expected = law(StudentHead(), numbers[0]).ppf(levels)
    found = helpers.as_numpy(StudentHead().quantiles(numbers, levels))[0]
    helpers.assert_close(found - 3, expected - 3, rtol=5e-3)
    assert found[3] == 3.0
    helpers.assert_close(found[[2, 4]], expected[[2, 4]], atol=2e-5)


@pytest.mark.parametrize("name", HEADS)
def test_any_output_of_a_network_is_a_distribution(name):
    head, numbers = HEADS[name]
    raw = np.array([-90.0, -1.0, 0.0, 1.0, 90.0], "float32")
    raw = np.stack(np.meshgrid(*[raw] * head.size), -1)
    one = ops.ones(1, "float32")
    said = head.forecast(ops.convert_to_tensor(raw), 0 * one, one)
    known = law(head, helpers.as_numpy(said))
    assert np.isfinite(known.var()).all()
    moved = head.forecast(ops.convert_to_tensor(raw), 10 * one, 4 * one)
    moved = law(head, helpers.as_numpy(moved))
    if name == "counts":
        helpers.assert_close(moved.mean(), 4 * known.mean())
    else:
        helpers.assert_close(moved.ppf(0.9), 10 + 4 * known.ppf(0.9))
    costs = head.costs(ops.ones_like(said[..., 0]), said, one)
    assert np.isfinite(helpers.as_numpy(costs)).all()


def test_the_cost_of_a_unit_is_that_of_a_column_in_it():
    """Metres or kilometres, a Gaussian learns the same."""
    head = GaussianHead()
    y, said = np.array([7.0]), np.array([[4.0, 2.0]])
    costs = [
        helpers.as_numpy(head.costs(y * k, said * k, np.array([2.0 * k])))
        for k in (1.0, 1000.0)
    ]
    helpers.assert_close(*costs)


def test_quantiles_do_not_cross():
    head = QuantileHead((0.5, 0.75, 0.9))
    said = head.forecast(np.array([3.0, 1.0, 2.0]), 10.0, 2.0)
    assert helpers.as_numpy(said).tolist() == [12.0, 14.0, 16.0]
    assert float(head.point(said)) == 12.0
    found = helpers.as_numpy(head.quantiles(said, [0.9, 0.5]))
    assert found.tolist() == [16.0, 12.0]


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: QuantileHead([0.1, 0.9]), "must include the median"),
        (lambda: QuantileHead([10, 50, 90]), "`levels` must be a finite numb"),
        (lambda: QuantileHead([1e-8, 0.5]), "Received: levels=1e-08"),
        (lambda: QuantileHead([0.9, 0.5]), "must be increasing numbers"),
        (lambda: PointHead().quantiles(np.zeros(3), [0.5]), "has no quantil"),
        (lambda: PointHead("rmse"), "error='rmse'"),
        (
            lambda: HEADS["counts"][0].check(np.array([-1, 0.5, 2, np.nan])),
            "needs counts.*Received: 2 other values, such as -1",
        ),
    ],
)
def test_what_is_wrong_is_said(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_head_of_ones_own_is_saved_by_its_arguments():
    class WeightedHead(ForecastHead):
        def __init__(self, weight):
            self.weight = weight

    config = WeightedHead(3.0).get_config()
    assert WeightedHead.from_config(config).weight == 3.0
