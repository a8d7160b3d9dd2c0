import numpy as np
import pytest
from keras import ops

from kerasrnn.metrics.label_accuracy import label_accuracy


@pytest.mark.parametrize(
    "labels, logits, right",
    [
        ([[2], [0]], [[0.0, 1.0, 3.0], [0.0, 2.0, 1.0]], [[True], [False]]),
        # Probabilities of the second of two labels, and its log odds.
        ([[0.8], [0.3]], [[1.5], [0.5]], [[True], [False]]),
        # Several labels a text.
        ([[1, 0]], [[0.5, 2.0]], [[True, False]]),
    ],
)
def test_labels_that_are_right(labels, logits, right):
    found = label_accuracy(np.array(labels), np.array(logits, "float32"))
    np.testing.assert_array_equal(ops.convert_to_numpy(found), right)
