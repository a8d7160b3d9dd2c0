import re

import numpy as np
import pytest

from kerasrnn.decoding import arguments


def test_good_arguments_come_back():
    assert arguments.integer("end_id", -3) == -3
    assert type(arguments.integer("beam_width", np.int64(1), 1)) is int
    assert arguments.number("length_penalty", 0) == 0.0
    assert type(arguments.number("temperature", np.float32(0.5), 0)) is float
    assert arguments.integers("forbidden_ids", np.array([5, 6])) == (5, 6)


@pytest.mark.parametrize("bad", [1, 2.0, True, None, "3"])
def test_what_is_no_integer_is_named(bad):
    expected = f"`min_length` must be an integer >= 2. .*min_length={bad!r}"
    with pytest.raises(ValueError, match=expected):
        arguments.integer("min_length", bad, 2)


@pytest.mark.parametrize("bad", [-0.1, True, None, "1", np.nan, np.inf])
def test_what_is_no_number_is_named(bad):
    expected = f"`top_p` must be a finite number >= 0. .*top_p={bad!r}"
    with pytest.raises(ValueError, match=expected):
        arguments.number("top_p", bad)


def test_a_bound_may_be_excluded():
    with pytest.raises(ValueError, match="number > 0. Received: top_p=0"):
        arguments.number("top_p", 0, above=0)


@pytest.mark.parametrize("bad", [3, [3, 4.5], [True], None])
def test_what_are_no_integers_is_named(bad):
    expected = re.escape(f"list of integers. Received: ids={bad!r}")
    with pytest.raises(ValueError, match=expected):
        arguments.integers("ids", bad)
