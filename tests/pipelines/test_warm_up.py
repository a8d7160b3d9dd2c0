import numpy as np
import pytest
import tensorflow as tf

from kerasrnn.pipelines.saved_model import write_warm_up
from kerasrnn.serving.warm_up import recorded_requests


@pytest.mark.parametrize(
    "shape, batches, expected",
    [
        ([None], {}, ["a b c"]),
        ([None, None], {}, [["a", "b", "c"]]),
        ([None, None], {"tag": [2 * ["a a"]]}, 2 * [["a", "a"]]),
    ],
)
def test_a_request_has_the_shape_that_the_function_takes(
    shape, batches, expected, tmp_path
):
    function = tf.function(
        lambda given: {"found": given},
        input_signature=[tf.TensorSpec(shape, tf.string, "given")],
    )
    functions = {"tag": function.get_concrete_function()}
    write_warm_up(tmp_path, functions, batches)
    [(name, inputs)] = recorded_requests(tmp_path)
    assert name == "tag"
    np.testing.assert_array_equal(
        inputs["given"], np.array(expected).astype("S")
    )
