import numpy as np
import pytest

from kerasrnn.layers import BahdanauAttention
from tests import helpers

# Values, masks, saving and precision: see test_mechanism.py.


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, 4 * 5 + 6 * 5 + 5),
        ({"use_bias": True}, 55 + 5 + 5 + 1),
        ({"normalize": True}, 55 + 5 + 1),
    ],
)
def test_parameter_count(options, expected):
    mechanism = BahdanauAttention(5, **options)
    mechanism.build((None, None, 4), (None, None, 6))
    assert mechanism.count_params() == expected


def test_kernels_start_differently():
    mechanism = BahdanauAttention(5, kernel_initializer="random_normal")
    mechanism.build((None, None, 4), (None, None, 4))
    query, memory, _ = mechanism.get_weights()
    assert not np.allclose(query, memory)


def test_the_length_of_v_does_not_count_where_it_is_normalized():
    mechanism = BahdanauAttention(4, normalize=True)
    inputs = helpers.random(2, 3, 4), helpers.random(2, 5, 6)
    expected = mechanism(*inputs)
    assert mechanism.gain == 0.5  # 1 / sqrt(units)
    kernel = mechanism.score_projection.kernel
    kernel.assign(7 * kernel)
    helpers.assert_close(mechanism(*inputs), expected)


def test_units_must_be_a_positive_integer():
    with pytest.raises(ValueError, match="Received: units=0"):
        BahdanauAttention(0)


def test_the_normalized_score_has_its_own_bias():
    with pytest.raises(ValueError, match="Received: use_bias=True, norm"):
        BahdanauAttention(5, use_bias=True, normalize=True)


def test_the_normalized_score_is_quantized():
    """Packed integers without their scales are another vector."""
    layer = BahdanauAttention(300, normalize=True)
    inputs = helpers.random(2, 3, 8), helpers.random(2, 5, 6)
    layer(*inputs)
    layer.gain.assign(3.0)
    kernel = 1 + helpers.random(300, 1) * np.linspace(0, 1, 300)[:, None]
    layer.score_projection.kernel.assign(kernel)
    _, expected = layer(*inputs)
    layer.score_projection.quantize("int4")
    _, weights = layer(*inputs)
    helpers.assert_close(weights, expected, 0, 0.02)
