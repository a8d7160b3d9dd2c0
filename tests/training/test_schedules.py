import numpy as np
import pytest

from kerasrnn.training import ExponentialSampling
from kerasrnn.training import InverseSigmoidSampling
from kerasrnn.training import LinearSampling
from kerasrnn.training import cosine_schedule
from tests import helpers

STEPS = np.array([0, 1, 7, 100, 1234, 50_000, 3_000_000])


def linear(i, slope, offset=1.0, minimum=0.0):
    return np.maximum(minimum, offset - slope * i)


def exponential(i, base):
    return base**i


def inverse_sigmoid(i, k):
    with np.errstate(over="ignore"):
        return k / (k + np.exp(i / k))


# The schedules, and the rates of true tokens as the paper has them.
SCHEDULES = [
    (LinearSampling(1e-4), linear(STEPS, 1e-4)),
    (LinearSampling(2e-3, 0.9, 0.6), linear(STEPS, 2e-3, 0.9, 0.6)),
    (ExponentialSampling(0.99), exponential(STEPS, 0.99)),
    (ExponentialSampling(1 - 1e-6), exponential(STEPS, 1 - 1e-6)),
    (InverseSigmoidSampling(1), inverse_sigmoid(STEPS, 1)),
    (InverseSigmoidSampling(900.0), inverse_sigmoid(STEPS, 900.0)),
]


@pytest.mark.parametrize("schedule, true_rates", SCHEDULES)
def test_equals_the_equations_of_the_paper(schedule, true_rates):
    rates = [float(schedule(step)) for step in STEPS]
    np.testing.assert_allclose(rates, 1 - true_rates, rtol=1e-5, atol=1e-7)
    assert float(schedule(np.int32(7))) == rates[2]


def test_an_offset_above_one_puts_the_beginning_off():
    schedule = LinearSampling(0.1, offset=1.5)
    rates = [float(schedule(step)) for step in (0, 4, 5, 6, 10, 20)]
    assert rates == pytest.approx([0, 0, 0, 0.1, 0.5, 1], abs=1e-6)


@pytest.mark.parametrize("schedule", [schedule for schedule, _ in SCHEDULES])
def test_configuration_round_trip(schedule):
    copy = helpers.copy_of(schedule)
    assert type(copy) is type(schedule)
    assert copy.get_config() == schedule.get_config()


@pytest.mark.parametrize(
    "schedule_class, config",
    [
        (LinearSampling, {"slope": 0.0}),
        (LinearSampling, {"slope": 0.1, "minimum": 1.0}),
        (ExponentialSampling, {"base": 1.0}),
        (ExponentialSampling, {"base": 0.0}),
        (InverseSigmoidSampling, {"k": 0.5}),
    ],
)
def test_arguments_out_of_range(schedule_class, config):
    name, value = list(config.items())[-1]
    with pytest.raises(ValueError, match=rf"`{name}`.*{name}={value}"):
        schedule_class(**config)


def test_the_rate_rises_to_its_peak_and_falls_to_zero():
    schedule = cosine_schedule(0.5, 100, 10)
    rates = [float(schedule(step)) for step in (0, 4, 10, 25, 55, 100)]
    down = 0.25 * (1 + np.cos(np.pi * np.array([0, 15, 45, 90]) / 90))
    np.testing.assert_allclose(rates, [0, 0.2, *down], atol=1e-6)


@pytest.mark.parametrize("warmup", [0, 1, 12, 19])
def test_the_rate_rises_as_long_as_it_is_told_to(warmup):
    schedule = cosine_schedule(1.0, 20, warmup)
    rates = [float(schedule(i)) for i in range(21)]
    assert rates.index(max(rates)) == warmup
    assert max(rates) == pytest.approx(1.0)
    assert rates[-1] == pytest.approx(0.0, abs=1e-6)
