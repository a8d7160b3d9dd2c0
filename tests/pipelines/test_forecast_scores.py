import numpy as np
import pytest

from kerasrnn.data import Series
from kerasrnn.data import SeriesTable
from kerasrnn.pipelines.forecast_scores import ForecastScores
from kerasrnn.pipelines.forecast_scores import baselines
from kerasrnn.pipelines.forecast_scores import filled
from kerasrnn.pipelines.forecast_scores import naive_errors


def table(*columns, begin=0):
    """A table of one series of some columns."""
    values = np.stack(columns, -1).astype("float32")
    times = np.arange(len(values)).astype("datetime64[h]")
    none = np.zeros((len(values), 0), "float32")
    series = Series("", times, values, none, none[0], begin)
    return SeriesTable([series], [*"abc"[: len(columns)]], "h")


def test_scores_are_those_of_their_definitions():
    rng = np.random.default_rng(0)
    y, said = rng.normal(size=(2, 5, 4, 2))
    y[rng.random(y.shape) < 0.3] = np.nan
    y[3] = np.nan  # no window
    y[1, 2, 0] = said[1, 2, 0]  # not above its median
    bands = said[..., None] + np.array([-1.0, 0.0, 1.0])
    naive = np.array([[0.5, 2.0], [np.nan, 1.0]])
    series, units = np.array([0, 0, 1, 1, 0]), np.array([2.0, 3.0])
    scores = ForecastScores(units, naive, [0.1, 0.5, 0.9])
    for part in (slice(0, 2), slice(2, 5)):
        scores.add(y[part], said[part], series[part], bands[part])
    found = scores.result(["a", "b"])
    errors = np.abs(y - said)
    assert found["mae"] == pytest.approx(np.nanmean(errors / units))
    assert found["mse"] == pytest.approx(np.nanmean((errors / units) ** 2))
    scaled = errors / naive[series][:, None]
    assert found["mase"] == pytest.approx(np.nanmean(scaled))
    assert found["mae_by_column"]["b"] == pytest.approx(
        np.nanmean(errors[..., 1])
    )
    real = ~np.isnan(y)
    below = np.where(real[..., None], y[..., None] <= bands, np.nan)
    assert found["coverage"] == {
        str(level): pytest.approx(np.nanmean(below[..., index]))
        for index, level in enumerate([0.1, 0.5, 0.9])
    }
    assert found["windows"] == 4
    by_step = scores.by_step()
    for name, parts in (
        ("mae", errors / units),
        ("mse", (errors / units) ** 2),
        ("below 0.5", below[..., 1]),
    ):
        np.testing.assert_allclose(by_step[name], np.nanmean(parts, (0, 2)))


def test_the_naive_error_is_that_of_what_came_before():
    x = np.array([1.0, 2, 4, 5, 4, 9, 90, 90])
    gap = np.array([1.0, np.nan, 4, 5, np.nan, 9, 90, 90])
    before = naive_errors(table(x, gap, np.ones(8), begin=6), 2)
    assert before[0, 0] == np.mean([3, 3, 0, 4])
    assert before[0, 1] == np.mean([3, 4])
    assert np.isnan(before[0, 2])  # without an error, nothing to compare
    # Two seasons before are too few.
    assert naive_errors(table(x, begin=4), 2)[0, 0] == np.mean(
        [3, 3, 0, 4, 86, 81]
    )


def test_missing_values_are_filled_from_before_and_else_from_after():
    past = np.array([[[np.nan, np.nan]] * 2 + [[3.0, np.nan]] * 2])
    past[0, 3] = np.nan
    found = filled(past, [1.0, 7.0])
    np.testing.assert_array_equal(found[0], [[3, 7]] * 4)


def test_baselines_repeat_or_go_on():
    wave = np.tile([5.0, 1, 3, 2], 30) + np.arange(120) / 10
    found = baselines(table(wave, wave * 100), 8, 6, 4, [1.0, 7.0])
    past = np.stack([wave[:8], wave[:8] * 100], -1)[None]
    np.testing.assert_array_equal(found["naive"](past)[0, :, 0], [wave[7]] * 6)
    seasonal = found["seasonal naive"](past)[0, :, 0]
    np.testing.assert_array_equal(seasonal, wave[[4, 5, 6, 7, 4, 5]])
    linear = found["linear"](past)[0]
    # From what precedes the last value to what follows it.
    rows = np.lib.stride_tricks.sliding_window_view(wave / wave.std(), 14)
    before, after = np.split(rows - rows[:, 7:8], [8], axis=1)
    gram = before.T @ before + 0.1 * len(rows) * np.eye(8)
    weights = np.linalg.solve(gram, before.T @ after)
    expected = wave[7] + (wave[:8] - wave[7]) @ weights
    np.testing.assert_allclose(linear[:, 0], expected, rtol=1e-4)
    np.testing.assert_allclose(linear[:, 1], 100 * linear[:, 0], rtol=1e-4)
    empty = np.full((1, 8, 2), np.nan)
    for forecast in found.values():
        np.testing.assert_array_equal(forecast(empty)[0], [[1, 7]] * 6)
    for season, more in (1, []), (8, ["seasonal naive"]), (9, []):
        assert list(baselines(None, 8, 6, season, [0.0])) == ["naive", *more]
    assert "linear" not in baselines(table(wave[:9]), 8, 6, 4, [0.0])


@pytest.mark.parametrize("scale", [1e-30, 1e20, 1e30])
def test_a_linear_forecast_is_that_of_any_unit(scale):
    wave = np.tile([5.0, 1, 3, 2], 30)
    past = wave[:8, None][None]
    expected = baselines(table(wave), 8, 6, 4, [0.0])["linear"](past)
    found = baselines(table(wave * scale), 8, 6, 4, [0.0])["linear"]
    np.testing.assert_allclose(found(past * scale) / scale, expected, rtol=1e-4)


def test_a_linear_forecast_learns_from_what_came():
    """Not from rows that tell what is known ahead."""
    wave = np.tile([5.0, 1, 3, 2], 30)
    ahead = np.r_[wave, np.full(900, np.nan)]
    past = wave[:8, None][None]
    expected, found = (
        baselines(table(x), 8, 6, 4, [0.0])["linear"](past)
        for x in (wave, ahead)
    )
    np.testing.assert_array_equal(found, expected)
