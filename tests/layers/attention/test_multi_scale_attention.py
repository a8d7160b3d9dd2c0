import keras
import numpy as np
import pytest

from kerasrnn.layers import MultiHeadDotAttention
from kerasrnn.layers import MultiScaleAttention
from kerasrnn.layers import RHNCell
from kerasrnn.layers import SelfAttentionCell
from kerasrnn.layers import SelfAttentionRNN
from tests import helpers
from tests.layers import small_layers
from tests.reference.attention import attend_as as attend

# Values, masks, saving and precision: see test_mechanism.py.


def even(span, blocks=None):
    """One head of one span that scores all blocks alike, identity kernels."""
    mechanism = MultiScaleAttention((span,), 4, blocks)
    mechanism.build((None, None, 4), (None, None, 4))
    mechanism.built = True
    mechanism.set_weights([np.zeros((4, 4)), *[np.eye(4)] * 3])
    return mechanism


def test_blocks_are_counted_back_from_the_last_unmasked_position():
    """A block is the mean of its unmasked positions, if it has any."""
    memory = helpers.random(2, 9, 4)
    mask = np.array(
        [[1, 1, 1, 0, 0, 0, 1, 1, 0], [0, 0, 0, 0, 0, 0, 0, 1, 0]], bool
    )
    context, weights = even(3)(memory[:, :1], memory, mask)
    # [0 1] [2 - -] [- 6 7], and only one position in the other row.
    a, b, c = 1 / 6, 1 / 3, 1 / 6
    expected = np.array(
        [[a, a, b, 0, 0, 0, c, c, 0], [0, 0, 0, 0, 0, 0, 0, 1, 0]]
    )
    helpers.assert_close(weights[:, 0], expected)
    helpers.assert_close(
        context[:, 0], np.einsum("bi,bid->bd", expected, memory)
    )
    assert not helpers.as_numpy(weights)[:, 0][expected == 0].any()


def test_a_head_sees_its_last_blocks_only():
    memory = helpers.random(1, 7, 4)
    _, weights = even(2, blocks=2)(memory[:, :1], memory)
    helpers.assert_close(weights[0, 0], np.array([0] * 3 + [0.25] * 4))


def test_spans_of_one_are_multi_head_attention():
    query, memory = helpers.random(3, 2, 4), helpers.random(3, 5, 6, seed=1)
    mask = np.array([[1, 1, 1, 1, 1], [1, 0, 1, 1, 0], [0, 0, 0, 0, 0]], bool)
    single, plain = MultiScaleAttention((1, 1), 3), MultiHeadDotAttention(2, 3)
    single(query, memory)
    plain(query, memory)
    helpers.randomize(single)
    plain.set_weights(single.get_weights())
    helpers.assert_close(
        single(query, memory, mask), plain(query, memory, mask)
    )


def sliding(window, spans=(1, 4, 3), blocks=2):
    cell = SelfAttentionCell(
        RHNCell(3, depth=2), MultiScaleAttention(spans, 2, blocks), window
    )
    cell.build((None, 2))
    cell.built = True
    helpers.randomize(cell)
    return cell


@pytest.mark.parametrize("window", [4, 7])
def test_blocks_slide_with_the_window(window):
    """Each step by itself, by the oracle, from the first one on."""
    cell = sliding(window)
    sequence = helpers.random(2, 13, 2)
    outputs = SelfAttentionRNN(cell, return_sequences=True)(sequence)
    hidden = keras.layers.RNN(cell.cell, return_sequences=True)(sequence)
    hidden = helpers.as_numpy(hidden)
    kernel = helpers.as_numpy(cell.attending.kernel.value)
    for t in range(13):
        context = np.zeros((2, 3))
        if t:
            seen = hidden[:, max(0, t - window) : t]
            query = hidden[:, t : t + 1]
            context = attend(cell.attention, query, seen)[0][:, 0]
        combined = np.concatenate([context, hidden[:, t]], axis=-1) @ kernel
        helpers.assert_close(outputs[:, t], np.tanh(combined))


@pytest.mark.slow_on_jax
def test_it_is_causal_and_the_same_in_windows():
    cell = sliding(7)
    layer = SelfAttentionRNN(cell, return_sequences=True, return_state=True)
    sequence = helpers.random(2, 12, 2)
    outputs, *_ = layer(sequence)
    changed = sequence.copy()
    changed[:, 8:] += 1
    helpers.assert_close(layer(changed)[0][:, :8], outputs[:, :8], 0, 1e-6)
    parts, states = [], None
    for start in (0, 1, 6):
        stop = {0: 1, 1: 6, 6: 12}[start]
        part, *states = layer(sequence[:, start:stop], initial_state=states)
        parts.append(part)
    helpers.assert_close(keras.ops.concatenate(parts, axis=1), outputs)


@pytest.mark.slow_on_jax
def test_skipped_steps_are_in_no_block():
    cell = sliding(7)
    layer = SelfAttentionRNN(cell, return_sequences=True)
    sequence = helpers.random(2, 9, 2)
    mask = np.tile(np.arange(9) % 3 != 1, (2, 1))
    whole = helpers.as_numpy(layer(sequence, mask=mask))
    helpers.assert_close(whole[:, mask[0]], layer(sequence[:, mask[0]]))


def test_gradients_of_the_fast_layer_are_those_of_the_loop():
    cell = sliding(3)
    arrays = [helpers.random(2, 7, 2)]
    cotangents = [helpers.random(2, 7, 3, seed=1)]
    found = []
    for layer_class in (SelfAttentionRNN, keras.layers.RNN):
        layer = layer_class(cell, return_sequences=True)
        layer.build((2, 7, 2))
        found.append(small_layers.backpropagate(layer, arrays, cotangents))
    helpers.assert_close(*found)


@pytest.mark.parametrize(
    "kwargs, message",
    [
        ({"spans": ()}, "Received: num_heads=0"),
        ({"spans": (1, 0)}, "`spans` must be.*Received: spans=0"),
        ({"blocks": 0}, "`blocks` must be.*Received: blocks=0"),
    ],
)
def test_bad_arguments(kwargs, message):
    with pytest.raises(ValueError, match=message):
        MultiScaleAttention(**{"spans": (1, 2), "head_dim": 3} | kwargs)
