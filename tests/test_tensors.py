import numpy as np
import pytest
from keras import ops

from kerasrnn.tensors import gather
from kerasrnn.tensors import largest
from kerasrnn.tensors import unmasked_first
from tests import helpers

MASK = np.array([[0, 1, 0, 1, 1], [1, 0, 0, 0, 0]], bool)
FIRST = [[1, 3, 4, 0, 2], [0, 1, 2, 3, 4]]


@pytest.mark.parametrize("axis", [1, 2, -2])
def test_each_row_has_an_index_of_its_own(axis):
    x = helpers.random(2, 4, 5, 3)
    index = np.array([[3, 0, 3], [1, 1, 2]], "int32")
    found = gather(ops.array(x), ops.array(index), axis)
    rows = [
        np.take(row, i, axis % 4 - 1) for row, i in zip(x, index, strict=True)
    ]
    helpers.assert_close(found, np.stack(rows))


@pytest.mark.parametrize("shape", [(0, 3), (2, 0)])
def test_an_index_may_be_empty(shape):
    index = ops.zeros(shape, "int32")
    found = gather(ops.ones((shape[0], 4, 3)), index)
    assert tuple(found.shape) == (*shape, 3)


def test_unmasked_steps_come_first_in_order():
    of_rows = unmasked_first(ops.array(MASK))
    of_columns = unmasked_first(ops.array(MASK.T), axis=0)
    np.testing.assert_array_equal(helpers.as_numpy(of_rows), FIRST)
    np.testing.assert_array_equal(helpers.as_numpy(of_columns).T, FIRST)


def test_of_equal_values_the_first_are_the_largest():
    values, index = largest(ops.array([[1.0, 3.0, 3.0, 2.0, 3.0]]), 2)
    assert helpers.as_numpy(values).tolist() == [[3, 3]]
    assert helpers.as_numpy(index).tolist() == [[1, 2]]
