import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import MinGRU
from kerasrnn.layers import MinGRUCell
from kerasrnn.layers import positive
from tests import helpers
from tests.layers import small_layers
from tests.reference.recurrent_cells import min_candidate


def test_golden():
    cell = small_layers.with_weights(
        MinGRUCell(1), kernel=[[0.5, -2.0]], bias=[0.25, 1.0]
    )
    # 0.5 (1 - sigmoid(0.75)) - sigmoid(0.75)
    (state,) = small_layers.step(cell, [[1.0]], [[[0.5]]])
    np.testing.assert_allclose(state, [[-0.518768]], rtol=1e-5)


def test_positive():
    x = helpers.random(50)
    helpers.assert_close(positive(x), min_candidate(x))
    assert positive([-200.0, 0.0])[1] == 0.5


def test_positive_candidates_survive_a_file(tmp_path):
    model = keras.Sequential([keras.Input((None, 2)), MinGRU(3, positive)])
    loaded = helpers.reloaded(model, tmp_path)
    assert loaded.layers[0].activation is positive
    x = helpers.random(2, 5, 2)
    helpers.assert_close(loaded(x), model(x))
    assert np.all(ops.convert_to_numpy(model(x)) > 0)


@pytest.mark.parametrize("use_bias", [True, False])
def test_it_has_two_gates(use_bias):
    layer = MinGRU(8, use_bias=use_bias)
    layer.build((None, None, 5))
    assert layer.count_params() == 2 * 8 * (5 + use_bias)
