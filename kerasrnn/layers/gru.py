"""The GRU of Keras, run over a whole sequence at once."""

import keras
from keras import ops

from kerasrnn.layers.fast_rnn import FastRNN
from kerasrnn.layers.fast_rnn import input_products
from kerasrnn.layers.gru_through_time import GRULoop
from kerasrnn.layers.through_time import run_loop
from kerasrnn.layers.through_time import wide


@keras.saving.register_keras_serializable("kerasrnn")
class FastGRUCell(keras.layers.GRUCell):
    """`keras.layers.GRUCell`, which can run over a whole sequence at once.

        z, r = sigmoid(x W + h R + b)
        g = tanh(x W_g + b_g + r * (h R_g + c_g))
        h = z * h + (1 - z) * g

    Arguments, weights, states and results are those of Keras's cell. The
    models of this package put it in the place of that one by themselves.

    Args:
        units: Positive integer, width of the state.
        **kwargs: Further arguments of `keras.layers.GRUCell`.

    Call arguments:
        inputs: Tensor of shape `(batch, input_dim)`.
        states: `[h]`, of shape `(batch, units)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The output `h` of shape `(batch, units)`, and the new states.

    Example:

    >>> cell = FastGRUCell(8)
    >>> cell(np.ones((2, 4)), [np.zeros((2, 8))])[0].shape
    (2, 8)

    Reference:
        [Cho et al., 2014](https://arxiv.org/abs/1406.1078).
    """

    def __init__(self, units, **kwargs):
        super().__init__(units, **kwargs)

    @property
    def can_run_at_once(self):
        # With dropout of the state, Keras's cell has three masks, and three
        # products in each step.
        return (
            self.implementation == 2
            and self.reset_after
            and self.activation is keras.activations.tanh
            and self.recurrent_activation is keras.activations.sigmoid
        )

    def run(self, sequence, states, mask=None, training=False):
        """Runs over a whole sequence; `FastGRU` is the layer that does.

        Args:
            sequence: Tensor of shape `(time, batch, input_dim)`.
            states: `[h]`, of shape `(batch, units)`, in float32 or wider.
            mask: Optional tensor of shape `(time, batch, 1)`, 1 where a step
                counts and 0 where it is skipped.
            training: Whether to drop out.

        Returns:
            The outputs of shape `(time, batch, units)`, and the last states.
        """
        weights = {
            "kernel": ops.cast(self.recurrent_kernel, self.compute_dtype)
        }
        bias = None
        if self.use_bias:
            bias, weights["bias"] = ops.unstack(wide(self.bias))
        products = input_products(self, sequence, bias, training)
        (outputs,) = run_loop(GRULoop, products, tuple(states), weights, mask)
        return outputs, [outputs[-1]]


@keras.saving.register_keras_serializable("kerasrnn")
class FastGRU(FastRNN):
    """What `keras.layers.GRU` computes, faster on a CPU.

    The products of the input are taken for all steps at once, and so is the
    gradient of each weight. Under `mixed_bfloat16` the products are in
    bfloat16 and the state stays in float32. With `recurrent_dropout`,
    `reset_after=False`, `unroll` or activations other than the defaults it
    falls back to the loop of `keras.layers.RNN`.

    Args:
        units: Positive integer, width of the state.
        **kwargs: Further arguments of `keras.layers.GRUCell`, and those of
            `keras.layers.RNN`: `return_sequences`, `return_state`,
            `go_backwards`, `stateful`, `unroll`, `zero_output_for_mask`.

    Call arguments:
        sequences: Tensor of shape `(batch, time, input_dim)`.
        initial_state: Optional `[h]`, of shape `(batch, units)`.
        mask: Optional boolean tensor of shape `(batch, time)`.
        training: Whether to behave as in training (dropout).

    Returns:
        The outputs of shape `(batch, time, units)` with `return_sequences`,
        otherwise the last one, `(batch, units)`; with `return_state` followed
        by the last state.

    Masking: a masked step leaves the state as it is and repeats the output
    before it, or gives 0 with `zero_output_for_mask`.

    Example:

    >>> FastGRU(8, return_sequences=True)(np.ones((2, 5, 4))).shape
    (2, 5, 8)

    Reference:
        [Cho et al., 2014](https://arxiv.org/abs/1406.1078).
    """

    cell_class = FastGRUCell

    def __init__(self, units, **kwargs):
        super().__init__(units, **kwargs)
