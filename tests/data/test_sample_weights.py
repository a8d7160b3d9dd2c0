import numpy as np
import pytest

from kerasrnn.data.batches import checked_weights


def test_weights_of_rows():
    found = checked_weights([1, 0.5], 2, "text")
    assert found.dtype == "float32" and found.tolist() == [1, 0.5]


@pytest.mark.parametrize(
    "weights, received",
    [
        ([1, 2], r"\[1, 2\] of shape \(2,\) for 3 texts"),
        (np.ones((3, 1)), r"of shape \(3, 1\) for 3 texts"),
        ([1, 2, -1], r"\[1, 2, -1\] of shape \(3,\) for"),
        ([1, 2, float("nan")], "nan. of shape"),
        (["a", "b", "c"], r"\['a', 'b', 'c'\] for 3 texts"),
        ([1, [2, 3], 4], "4. for 3 texts"),
    ],
)
def test_other_weights_are_refused(weights, received):
    message = f"a non-negative number for each text. Received: .*{received}"
    with pytest.raises(ValueError, match=f"(?s){message}"):
        checked_weights(weights, 3, "text")
