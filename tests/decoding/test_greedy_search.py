import numpy as np
import pytest

from kerasrnn.decoding import GreedySearch
from tests.decoding.steps import END
from tests.decoding.steps import PAD
from tests.decoding.steps import START
from tests.decoding.steps import random_tables
from tests.decoding.steps import run
from tests.decoding.steps import tokens
from tests.reference import search as reference


@pytest.mark.parametrize("max_length", [9, 3, 1])
def test_equals_the_plain_loop(max_length):
    tables = random_tables(40, 7)
    found = run(GreedySearch(START, END, PAD, max_length), tables)
    assert found.ids.shape == (40, 1, max_length)
    for i, table in enumerate(tables):
        expected, log_prob = reference.greedy(
            lambda prefix, table=table: table[prefix[-1]],
            START,
            END,
            max_length,
        )
        assert tokens(found.ids[i, 0]) == expected
        np.testing.assert_allclose(found.scores[i, 0], log_prob, rtol=1e-4)
