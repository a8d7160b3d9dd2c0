import keras
import numpy as np
from keras import ops

from kerasrnn.distribute import sum_over_replicas
from kerasrnn.distribute.replicas import reduce_before_clipping
from kerasrnn.distribute.replicas import strategy_of


def test_the_sum_of_a_single_replica():
    x = ops.arange(3.0)
    assert sum_over_replicas(x) is x


def test_a_model_without_replicas_has_no_strategy():
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    assert strategy_of(model) is None


def test_gradients_of_one_replica_are_clipped_as_ever():
    variables = [keras.Variable(np.zeros(2)) for _ in range(2)]
    for variable, calls in zip(variables, (0, 2), strict=True):
        optimizer = keras.optimizers.SGD(1.0, global_clipnorm=0.5)
        for _ in range(calls):
            reduce_before_clipping(optimizer)
        optimizer.build([variable])
        optimizer.apply([ops.convert_to_tensor([3.0, 4.0])])
        np.testing.assert_allclose(variable, [-0.3, -0.4], rtol=1e-6)
