import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import MonotonicAttention
from kerasrnn.layers.attention.monotonic_attention import arrivals
from tests import helpers
from tests.layers.attention.small_mechanisms import MASK
from tests.layers.attention.small_mechanisms import make
from tests.reference.attention import scores_of

# Values, masks, gradients, saving and precision: see test_mechanism.py.


def test_nothing_is_lost_behind_positions_that_it_would_have_stopped_at():
    """Where the closed form divides by products that are 0 in float32."""
    stops = np.full((1, 1, 200), 0.99, "float32")
    before = np.zeros((1, 1, 200), "float32")
    before[..., [0, 150]] = 0.5
    found = stops * helpers.as_numpy(arrivals(stops, before))
    np.testing.assert_allclose(
        found[0, 0, 150:153], [0.495, 0.00495, 0.0000495], 1e-5
    )
    np.testing.assert_allclose(found.sum(), 1, rtol=1e-6)


def test_at_inference_it_walks_to_the_first_position_that_it_likes():
    mechanism, inputs = make("monotonic")
    _, weights = mechanism(**inputs, memory_mask=MASK)
    energies = scores_of(mechanism, **inputs) + float(mechanism.bias.value)
    expected = np.zeros(energies.shape)
    for b, rows in enumerate(energies):
        position = 0
        for t, energy in enumerate(rows):
            while position < 5 and not (
                energy[position] > 0 and MASK[b, position]
            ):
                position += 1
            if position < 5:
                expected[b, t, position] = 1
    np.testing.assert_array_equal(helpers.as_numpy(weights), expected)
    assert 0 < expected.sum() < expected.shape[0] * expected.shape[1]


def test_a_low_bias_looks_far_and_a_high_one_stays():
    inputs = np.zeros((1, 1, 3), "float32"), np.zeros((1, 50, 3), "float32")
    found = []
    for bias in (-4.0, 4.0):
        mechanism = MonotonicAttention(2, noise=0.0, energy_bias=bias)
        _, weights = mechanism(*inputs, training=True)
        p = 1 / (1 + np.exp(-bias))
        np.testing.assert_allclose(
            helpers.as_numpy(weights)[0, 0],
            p * (1 - p) ** np.arange(50),
            rtol=1e-4,
            atol=1e-30,
        )
        found.append(helpers.as_numpy(mechanism(*inputs)[1]).sum())
    assert found == [0, 1]


def test_noise_is_for_training_and_follows_its_seed():
    inputs = helpers.random(2, 3, 4), helpers.random(2, 5, 4, seed=1)
    first, second = (MonotonicAttention(6, 2.0, 0.0, seed=1) for _ in "ab")
    first(*inputs)
    second(*inputs)
    second.set_weights(first.get_weights())
    drawn = helpers.as_numpy(first(*inputs, training=True)[1])
    again = helpers.as_numpy(first(*inputs, training=True)[1])
    assert np.abs(drawn - again).max() > 1e-3
    helpers.assert_close(second(*inputs, training=True)[1], drawn, 0, 0)
    np.testing.assert_array_equal(*(first(*inputs)[1] for _ in "ab"))
    drawn = first.draw_noise(ops.ones((50, 40, 4)), [ops.ones((50, 30, 4))] * 2)
    energy = helpers.as_numpy(drawn["energy"])
    assert energy.shape == (50, 40, 30)
    np.testing.assert_allclose([energy.mean(), energy.std()], [0, 2], atol=0.03)


def test_noise_is_not_negative():
    with pytest.raises(ValueError, match="Received: noise=-1"):
        MonotonicAttention(5, noise=-1)
