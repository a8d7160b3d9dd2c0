import pytest
import tensorflow as tf

from kerasrnn.pipelines.signatures import served_function


class Window:
    """Answers with the sum of two columns over three steps."""

    def total(self, past, weight):
        return {"total": tf.reduce_sum(past + [0.0, 0.0], [1, 2]) * weight}


@pytest.fixture
def total(tmp_path):
    """The function of a loaded SavedModel."""
    past = tf.TensorSpec([None, 3, 2], tf.float32, name="past")
    weight = tf.TensorSpec([], tf.float32, name="weight")
    module = tf.Module()
    module.total = served_function(Window().total, past, weight)
    tf.saved_model.save(module, tmp_path, {"total": module.total})
    return tf.saved_model.load(tmp_path).signatures["total"]


def test_a_served_function_answers(total):
    found = total(past=tf.ones([4, 3, 2]), weight=tf.constant(0.5))
    assert found["total"].numpy().tolist() == [3.0] * 4


@pytest.mark.parametrize(
    "shape", [(4, 3, 1), (4, 3, 4), (4, 2, 2), (4, 6, 1), (3, 2), (1, 4, 3, 2)]
)
def test_a_served_function_refuses_other_shapes(total, shape):
    """Among them one column less, which would be added to both."""
    said = rf"tensor past \[{','.join(map(str, shape))}\].*shape \[\?,3,2\]"
    with pytest.raises(tf.errors.InvalidArgumentError, match=said):
        total(past=tf.ones(shape), weight=tf.constant(0.5))


def test_several_weights_are_refused(total):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"weight \[4\]"):
        total(past=tf.ones([4, 3, 2]), weight=tf.ones(4))
