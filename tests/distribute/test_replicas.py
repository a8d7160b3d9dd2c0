import types

import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.distribute import sum_over_replicas
from kerasrnn.distribute.replicas import reduce_before_clipping
from kerasrnn.distribute.replicas import share_of_added_loss
from kerasrnn.distribute.replicas import strategy_of
from kerasrnn.training import TokenCrossentropy


def test_the_sum_of_a_single_replica():
    x = ops.arange(3.0)
    assert sum_over_replicas(x) is x


@pytest.fixture
def four_replicas(monkeypatch):
    """One of two in each of two workers; the others have ten times as much."""
    if keras.backend.backend() != "tensorflow":
        pytest.skip("`tf.distribute` is TensorFlow's")
    import tensorflow as tf

    def all_reduce(how, value):
        assert how == "sum"
        return keras.tree.map_structure(lambda x: 11 * x, value)

    extended = types.SimpleNamespace(worker_devices=["a", "b"])
    context = types.SimpleNamespace(
        num_replicas_in_sync=4,
        all_reduce=all_reduce,
        strategy=types.SimpleNamespace(extended=extended),
    )
    monkeypatch.setattr(tf.distribute, "get_replica_context", lambda: context)


def test_the_sum_of_all_replicas(four_replicas):
    found = sum_over_replicas(ops.arange(3.0))
    np.testing.assert_array_equal(found, [0, 11, 22])


def test_the_loss_of_a_replica_is_that_of_all_tokens(four_replicas):
    """Eleven times the sum over eleven times the number is the mean."""
    loss = TokenCrossentropy(-1)
    labels = np.array([[3, 1, -1]])
    found = loss(labels, np.zeros((1, 3, 8), "float32"))
    np.testing.assert_allclose(found, np.log(8), rtol=1e-6)


def test_an_added_loss_has_a_share_of_the_value_and_all_of_the_gradient(
    four_replicas,
):
    import tensorflow as tf

    x = tf.Variable(5.0)
    with tf.GradientTape() as tape:
        share = share_of_added_loss(3 * x)
    assert (float(share), float(tape.gradient(share, x))) == (7.5, 3)


def test_gradients_are_summed_before_they_are_clipped(four_replicas):
    variable = keras.Variable(np.zeros(2))
    optimizer = keras.optimizers.SGD(1.0, global_clipnorm=11.0)
    # As float16 is trained; a second call changes nothing.
    for _ in range(2):
        reduce_before_clipping(keras.optimizers.LossScaleOptimizer(optimizer))
    optimizer.build([variable])
    # Alone none would be clipped: the first sum has a norm of 22.
    for gradient, expected in ((2.0, 11.0), (0.5, 5.5)):
        gradients = [ops.convert_to_tensor([gradient, 0.0])]
        (found,) = optimizer._clip_gradients(gradients)
        np.testing.assert_allclose(found, [expected, 0.0], rtol=1e-6)


def test_a_model_without_replicas_has_no_strategy():
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    assert strategy_of(model) is None


def test_gradients_of_one_replica_are_clipped_as_ever():
    variable = keras.Variable(np.zeros(2))
    optimizer = keras.optimizers.SGD(1.0, global_clipnorm=0.5)
    reduce_before_clipping(optimizer)
    optimizer.build([variable])
    optimizer.apply([ops.convert_to_tensor([3.0, 4.0])])
    np.testing.assert_allclose(variable, [-0.3, -0.4], rtol=1e-6)
