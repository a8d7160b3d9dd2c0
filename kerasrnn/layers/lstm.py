"""The LSTM of Keras, run over a whole sequence at once."""

import keras
from keras import ops

from kerasrnn.layers.fast_rnn import FastRNN
from kerasrnn.layers.fast_rnn import input_products
from kerasrnn.layers.lstm_through_time import LSTMLoop
from kerasrnn.layers.through_time import run_loop


@keras.saving.register_keras_serializable("kerasrnn")
class FastLSTMCell(keras.layers.LSTMCell):
    """`keras.layers.LSTMCell`, which can run over a whole sequence at once.

        i, f, o = sigmoid(x W + h R + b)    g = tanh(x W_g + h R_g + b_g)
        c = f * c + i * g                   h = o * tanh(c)

    Arguments, weights, states and results are those of Keras's cell. The
    models of this package put it in the place of that one by themselves.

    Args:
        units: Positive integer, width of the states.
        **kwargs: Further arguments of `keras.layers.LSTMCell`.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[h, c]`, each of shape `(batch, units)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output `h` of shape `(batch, units)`, and the new states.

    Example:

    >>> cell = FastLSTMCell(8)
    >>> x, zeros = np.ones((2, 4)), np.zeros((2, 8))
    >>> cell(x, [zeros, zeros])[0].shape
    (2, 8)

    Reference:
        [Hochreiter & Schmidhuber, 1997](https://doi.org/10.1162/neco.1997.9.8.1735).
    """

    def __init__(self, units, **kwargs):
        super().__init__(units, **kwargs)

    @property
    def can_run_at_once(self):
        # With dropout of the state, Keras's cell has four masks, and four
        # products in each step.
        return (
            self.implementation == 2
            and self.activation is keras.activations.tanh
            and self.recurrent_activation is keras.activations.sigmoid
        )

    def run(self, sequence, states, mask=None, training=False):
        """Runs over a whole sequence; `FastLSTM` is the layer that does.

        Args:
            sequence: Tensor of shape `(time, batch, input_dim)`.
            states: `[h, c]`, each of shape `(batch, units)`, in float32 or
                wider.
            mask: Optional tensor of shape `(time, batch, 1)`, 1 where a step
                counts and 0 where it is skipped.
            training: Whether to drop out.

        Returns:
            The outputs of shape `(time, batch, units)`, and the last states.
        """
        products = input_products(self, sequence, self.bias, training)
        weights = {
            "kernel": ops.cast(self.recurrent_kernel, self.compute_dtype)
        }
        outputs, carry = run_loop(
            LSTMLoop, products, tuple(states), weights, mask
        )
        return outputs, [outputs[-1], carry]


@keras.saving.register_keras_serializable("kerasrnn")
class FastLSTM(FastRNN):
    """What `keras.layers.LSTM` computes, in about half the time on a CPU.

    The products of the input are taken for all steps at once, and so is the
    gradient of each weight. Under `mixed_bfloat16` the products are in
    bfloat16 and the states stay in float32. With `recurrent_dropout`,
    `unroll` or activations other than the defaults it falls back to the loop
    of `keras.layers.RNN`.

    Args:
        units: Positive integer, width of the states.
        **kwargs: Further arguments of `keras.layers.LSTMCell`, and those of
            `keras.layers.RNN`: `return_sequences`, `return_state`,
            `go_backwards`, `stateful`, `unroll`, `zero_output_for_mask`.

    Call arguments:
        sequences: Tensor of shape `(batch, time, input_dim)`.
        initial_state: Optional `[h, c]`, each of shape `(batch, units)`.
        mask: Optional boolean tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The outputs of shape `(batch, time, units)` with `return_sequences`,
        otherwise the last one, `(batch, units)`; with `return_state` followed
        by the last states.

    Masking: a masked step leaves the states as they are and repeats the
    output before it, or gives 0 with `zero_output_for_mask`.

    Example:

    >>> FastLSTM(8, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Hochreiter & Schmidhuber, 1997](https://doi.org/10.1162/neco.1997.9.8.1735).
    """

    cell_class = FastLSTMCell

    def __init__(self, units, **kwargs):
        super().__init__(units, **kwargs)
