import datetime
import zoneinfo

import dateutil.tz
import numpy as np
import pytest

from kerasrnn.data import CorpusError
from kerasrnn.data import read_series
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
    given = frame()
    zone = dateutil.tz.gettz("Europe/Berlin")
    given["date"] = given["date"].dt.tz_localize(zone)
    with pytest.raises(CorpusError, match="'date' .*tzfile.*dt.tz_convert"):
        read_series(given, "date")
