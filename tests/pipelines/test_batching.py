import concurrent.futures

import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.pipelines.batching import batched


class Counted(tf.Module):
    """A slow function of texts that counts how often it is computed."""

    def __init__(self):
        self.count = tf.Variable(0)
        self.matrix = tf.Variable(tf.eye(900))

    @tf.function(
        input_signature=[tf.TensorSpec([None], tf.string, name="text")],
        autograph=False,
    )
    def __call__(self, text):
        self.count.assign_add(1)
        product = self.matrix @ self.matrix @ self.matrix
        lengths = tf.strings.length(text)
        return {"length": lengths + tf.cast(0 * product[0, 0], tf.int32)}


@pytest.fixture
def function():
    return Counted()


def test_concurrent_calls_share_a_computation(function):
    together = batched(function.__call__, max_batch_size=8)
    texts = ["a" * length for length in range(40)]

    def ask(text):
        return int(together(tf.constant([text]))["length"][0])

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        assert list(pool.map(ask, texts)) == list(range(40))
    assert 40 / 8 <= int(function.count) < 30


@pytest.mark.parametrize("rows", [0, 1, 8, 9, 50])
def test_a_call_of_any_size_is_answered(function, rows):
    together = batched(function.__call__, max_batch_size=8)
    texts = tf.constant(["a" * row for row in range(rows)], tf.string)
    found = together(texts)["length"]
    np.testing.assert_array_equal(found, range(rows))


def test_its_signature_is_that_of_the_function(function):
    together = batched(function.__call__, 8).get_concrete_function()
    direct = function.__call__.get_concrete_function()
    assert tf.nest.flatten(together.structured_input_signature) == (
        tf.nest.flatten(direct.structured_input_signature)
    )
    for found, expected in zip(
        *(x.structured_outputs.items() for x in (together, direct)), strict=True
    ):
        assert found[0] == expected[0]
        assert found[1].dtype == expected[1].dtype
        assert found[1].shape.as_list() == expected[1].shape.as_list()
