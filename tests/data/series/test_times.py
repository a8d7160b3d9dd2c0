import datetime
import zoneinfo

import dateutil.tz
import numpy as np
import pytest

from kerasrnn.data import read_series
from kerasrnn.data import split_series
from kerasrnn.data import usual_season
from kerasrnn.data.series.times import zone_name
from tests.data.series.frames import frame


@pytest.mark.parametrize(
    "zone, name",
    [
        (dateutil.tz.tzutc(), "UTC"),
        (dateutil.tz.tzoffset("IST", 19800), "UTC+05:30"),
        (datetime.timezone(datetime.timedelta(hours=2), "CEST"), "UTC+02:00"),
        (zoneinfo.ZoneInfo("Asia/Kolkata"), "Asia/Kolkata"),
    ],
)
def test_a_zone_has_the_name_that_pandas_finds(zone, name):
    given = frame()
    zoned = given.assign(date=given["date"].dt.tz_localize(zone))
    table = read_series(zoned, "date", calendar=["hour"])
    assert table.zone == name
    expected = read_series(given, "date", calendar=["hour"])
    np.testing.assert_array_equal(
        table.stacked("known"), expected.stacked("known")
    )


def test_a_zone_without_a_name_is_refused():
    with pytest.raises(ValueError, match="dt.tz_convert.*tzfile"):
        zone_name(dateutil.tz.gettz("Europe/Berlin"))


def test_where_a_time_is_in_each_cycle():
    """Half past six on Thursday, the 29th of February."""
    places = {"minute": 30 / 60, "hour": 6.5 / 24, "weekday": 3 / 7}
    places |= {"monthday": 28 / 31, "yearday": 59 / 366}
    table = read_series(
        frame(3, "2024-02-29 06:30"), "date", calendar=[*places]
    )
    angles = 2 * np.pi * np.array([*places.values()])
    expected = np.ravel([np.sin(angles), np.cos(angles)], "F")
    np.testing.assert_allclose(table.stacked("known")[0], expected, atol=1e-6)


@pytest.mark.parametrize("step", ["15min", "D", "MS", "W-SUN"])
def test_the_step_is_found(step):
    given = frame(30, "2023-01-01", step)
    assert read_series(given, "date").step == step
    if step in ("15min", "D"):
        gaps = read_series(given.drop(index=[3, 4, 9]), "date")
        assert (len(gaps), gaps.missing()) == (30, 0.1)
        assert split_series(gaps, 15)[1].missing() == 0.0


@pytest.mark.parametrize(
    ("step", "names"),
    [("h", ["60min", "3600s"]), ("D", ["24h"]), ("90min", ["1.5h"])],
)
def test_a_step_has_one_name(step, names):
    given = frame(30, "2023-01-01", step)
    found = {read_series(given, "date", step=x).step for x in (step, *names)}
    assert found == {step} == {read_series(given, "date").step}


@pytest.mark.parametrize(
    ("season", "steps"),
    [
        (96, ["15min"]),
        (24, ["h", "60min", "7h"]),  # 7 hours: in a week
        (7, ["D"]),
        (5, ["B"]),
        (52, ["7D", "W-SUN", "W-MON"]),
        (12, ["MS", "ME"]),
        (4, ["QS", "QE"]),
        (1, ["YS", "36h", "ms"]),
    ],
)
def test_a_step_has_a_usual_season(season, steps):
    assert {usual_season(step) for step in steps} == {season}
