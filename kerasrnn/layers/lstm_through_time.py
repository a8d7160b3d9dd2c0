"""The loop of a long short-term memory, with its gradient by hand."""

from keras import ops

from kerasrnn.layers.through_time import join
from kerasrnn.layers.through_time import kernel_gradient
from kerasrnn.layers.through_time import product
from kerasrnn.layers.through_time import times_transposed
from kerasrnn.layers.through_time import wide


class LSTMLoop:
    """The steps of `keras.layers.LSTMCell`, forward and back; see `run_loop`.

    A step is given the input's share in the preactivations of the gates
    `i, f, g, o`, with their biases, `(batch, 4 * units)`. The states are
    `h, c`.

    Args:
        weights: "kernel", the recurrent kernel, of shape
            `(units, 4 * units)` and in the dtype of the products.
    """

    def __init__(self, weights):
        self.kernel = weights["kernel"]

    def step(self, states, given):
        h, c = states
        gates = product(h, self.kernel) + given
        i, f, g, o = ops.split(gates, 4, axis=-1)
        i, f, g, o = ops.sigmoid(i), ops.sigmoid(f), ops.tanh(g), ops.sigmoid(o)
        new_c = f * c + i * g
        squashed = ops.tanh(new_c)
        return (o * squashed, new_c), (h, c, i, f, g, o, squashed)

    def transpose(self):
        self.back = times_transposed(self.kernel)

    def for_back(self, saved):
        """What takes the gradients of h and c to the gates, and to c."""
        _, c, i, f, g, o, squashed = saved
        slopes_of_c = join(g * i * (1 - i), c * f * (1 - f), i * (1 - g * g))
        slopes_of_h = squashed * o * (1 - o)
        return slopes_of_c, slopes_of_h, o * (1 - squashed * squashed), f

    def step_back(self, grads, slopes):
        grad_h, grad_c = grads
        slopes_of_c, slopes_of_h, to_c, f = slopes
        grad_c = grad_c + grad_h * to_c
        gates = join(
            ops.tile(grad_c, (1, 3)) * slopes_of_c, grad_h * slopes_of_h
        )
        gates = ops.cast(gates, self.kernel.dtype)
        return (wide(self.back(gates)), grad_c * f), gates

    def gradients(self, saved, emitted):
        h, *_ = saved
        return wide(emitted), {"kernel": kernel_gradient(h, emitted)}
