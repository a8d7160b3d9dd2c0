import keras
import numpy as np
import pytest

from kerasrnn.layers import FastGRUCell
from kerasrnn.layers import FastLSTMCell
from kerasrnn.layers import RHNCell
from kerasrnn.models.rnn_stack import RNNStack
from tests import helpers

SEQUENCE = helpers.random(2, 5, 3)
MASK = np.array([[0, 1, 1, 1, 0], [1, 1, 1, 1, 1]], bool)


def small(cell=FastLSTMCell, **options):
    stack = RNNStack(cell(4), 2, **options)
    stack.build((None, None, 3))
    helpers.randomize(stack)
    return stack


@pytest.mark.parametrize("directions", [{}, {"bidirectional": True}])
def test_it_runs_one_layer_after_another(directions):
    stack = small(**directions)
    outputs, states = stack(SEQUENCE, mask=MASK)
    x, expected = SEQUENCE, []
    for layer, forward in enumerate(stack.forward_rnns):
        y, *last = forward(x, mask=MASK)
        expected += last
        if directions:
            z, *last = stack.backward_rnns[layer](x, mask=MASK)
            expected += last
            y = np.concatenate([y, np.flip(z, 1)], -1)
        x = y
    helpers.assert_close((outputs, states), (x, expected))
    assert stack.output_size == outputs.shape[-1]
    assert stack.state_sizes == [state.shape[-1] for state in states]


def test_two_halves_are_the_whole():
    stack = small()
    whole = stack(SEQUENCE)
    first, states = stack(SEQUENCE[:, :2])
    second, states = stack(SEQUENCE[:, 2:], initial_state=states)
    helpers.assert_close((np.concatenate([first, second], 1), states), whole)
    zeros = stack.initial_states(2)
    helpers.assert_close(stack(SEQUENCE, initial_state=zeros), whole)


def test_a_state_that_moves_little_moves_step_by_step():
    """In half precision, by less than it can tell apart in each step."""
    cell = RHNCell(4, transform_bias=-7.0, dtype="mixed_bfloat16")
    stack, x = RNNStack(cell), np.ones((1, 150, 4), "float32")
    start = [np.ones((1, 4), "float32")]
    _, [whole] = stack(x, initial_state=start)
    states = start
    for part in np.split(x, 15, axis=1):
        _, states = stack(part, initial_state=states)
    assert np.all(helpers.as_numpy(whole) < 0.95)
    helpers.assert_close(states, [whole], rtol=1e-5)


def test_backwards_is_forwards_in_a_mirror():
    forward, backward = small(), small(go_backwards=True)
    expected, states = forward(np.flip(SEQUENCE, 1))
    expected = np.flip(helpers.as_numpy(expected), 1), states
    helpers.assert_close(backward(SEQUENCE), expected)


def test_copies_of_a_seeded_cell_draw_numbers_of_their_own():
    initializer = keras.initializers.Orthogonal(seed=1)
    cell = FastGRUCell(3, recurrent_initializer=initializer)
    stack = RNNStack(cell, 2, bidirectional=True)
    stack.build((None, None, 3))
    kernels = (rnn.cell.recurrent_kernel.value for rnn in stack.rnns)
    assert len({helpers.as_numpy(x).tobytes() for x in kernels}) == 4


def test_dropout():
    """Of units after each layer, or variational and of the input, too."""
    ones = np.ones((4, 6, 3), "float32")
    x, _ = small(dropout=0.5)(ones, training=True)
    zero = helpers.as_numpy(x) == 0
    assert np.any(zero[:, 1:] != zero[:, :-1])
    x, _ = small(dropout=0.5, variational=True)(ones, training=True)
    zero = helpers.as_numpy(x) == 0
    assert zero.any() and np.all(zero[:, 1:] == zero[:, :-1])
    of_input = small(dropout=0.5, variational=True)
    for layer in of_input.dropouts[1:]:
        layer.rate = 0.0
    of_cells = small(lambda units: FastLSTMCell(units, dropout=0.5))
    for stack in (of_input, of_cells):
        found, dropped = (stack(ones, training=x)[0] for x in (False, True))
        assert np.abs(helpers.as_numpy(found - dropped)).max() > 1e-3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: small(bidirectional=True, go_backwards=True),
            "bidirectional=False",
        ),
        *(
            (
                lambda count=count: small()(
                    SEQUENCE, initial_state=[helpers.random(2, 4)] * count
                ),
                f"Expected: 4 .* Received: {count}",
            )
            for count in (2, 5)
        ),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()
