"""What the clients of the tests print of the answers of a SavedModel."""

import numpy as np
import tensorflow as tf


def plain(found):
    """The answers of a function, as the client prints them."""
    return {
        key: [x.hex() for x in value.numpy().ravel()]
        if value.dtype == tf.string
        else value.numpy().tolist()
        for key, value in found.items()
    }


def check_equal(found, expected, rtol=1e-7):
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        if value and isinstance(value[0], str):
            assert found[key] == value
        else:
            np.testing.assert_allclose(found[key], value, rtol, 1e-4)
