import numpy as np
from keras import ops

from kerasrnn.models.bridge import Bridge
from tests import helpers

FINAL = helpers.random(2, 5)


def test_dense_it_is_a_tanh_of_the_final_states():
    bridge = Bridge([3, 4])
    states = bridge(FINAL)
    helpers.randomize(bridge)
    kernel, bias = bridge.dense.get_weights()
    states = bridge(FINAL)
    assert [state.shape for state in states] == [(2, 3), (2, 4)]
    joined = ops.concatenate(states, axis=-1)
    helpers.assert_close(joined, np.tanh(FINAL @ kernel + bias))


def test_a_copy_is_cut_into_the_states():
    bridge = Bridge([2, 3], "copy")
    helpers.assert_close(bridge(FINAL), [FINAL[:, :2], FINAL[:, 2:]])
    assert bridge.count_params() == 0
