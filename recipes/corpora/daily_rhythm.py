"""Generated hourly load and temperature, to try a forecaster."""

import numpy as np

_DAY, _WEEK, _YEAR = 24, 168, 8766


def daily_rhythm(hours: int, seed: int):
    """Returns hourly data with daily, weekly and yearly patterns, and weather.

    The load follows the time of day, is lower at weekends, and rises in cold
    and in heat. The weather is a random walk: it can be predicted for hours,
    not for days. Scores on it say nothing about any real series.

    Args:
        hours: Integer, number of hours.
        seed: Integer, random seed.

    Returns:
        A dictionary of columns: `"date"`, strings, `"load"` and `"temp"`,
        arrays of shape `(hours,)`.
    """
    rng = np.random.default_rng(seed)
    time = np.arange(hours)
    weather = np.zeros(hours)
    for hour in range(1, hours):
        weather[hour] = 0.99 * weather[hour - 1] + rng.normal(0, 0.4)
    temp = 10 - 9 * np.cos(2 * np.pi * time / _YEAR) + weather
    temp += 3 * np.sin(2 * np.pi * (time - 9) / _DAY)
    weekend = time % _WEEK >= 5 * _DAY
    load = 500 + (60 - 40 * weekend) * np.sin(2 * np.pi * (time - 7) / _DAY)
    load += 25 * np.sin(4 * np.pi * time / _DAY) - 80 * weekend
    heating, cooling = np.maximum(12 - temp, 0), np.maximum(temp - 19, 0)
    load *= 1 + (heating + cooling) / 25
    load += rng.normal(0, 6, hours)
    start = np.datetime64("2023-01-02T00", "h")
    dates = [str(start + hour) for hour in time]
    return {"date": dates, "load": load, "temp": temp}
