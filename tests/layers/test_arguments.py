import re

import pytest

from kerasrnn.layers import arguments


def test_good_arguments_come_back():
    assert arguments.positive_integer("units", 3) == 3
    assert arguments.rate("dropout", 0.0) == 0.0
    assert arguments.rate("dropout", 0.99) == 0.99


@pytest.mark.parametrize("bad", [0, -1, 1.0, True, None, "3"])
def test_what_is_no_positive_integer_is_named(bad):
    with pytest.raises(
        ValueError, match=f"`units` must be a pos.*Received: units={bad!r}"
    ):
        arguments.positive_integer("units", bad)


@pytest.mark.parametrize("bad", [-0.1, 1.0, 2, None, "0.1", []])
def test_what_is_no_rate_is_named(bad):
    with pytest.raises(
        ValueError,
        match=r"`dropout` must be in \[0, 1\).*dropout=" + re.escape(repr(bad)),
    ):
        arguments.rate("dropout", bad)
