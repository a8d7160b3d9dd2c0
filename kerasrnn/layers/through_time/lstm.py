"""The loop of a long short-term memory, with a hand-written gradient."""

from keras import ops

from kerasrnn.layers.through_time.loop import Loop
from kerasrnn.layers.through_time.normalization import bias_or_norm
from kerasrnn.layers.through_time.products import GateProducts
from kerasrnn.layers.through_time.products import join
from kerasrnn.layers.through_time.products import wide


class LSTMLoop(Loop):
    """The steps of `FastLSTMCell`, forward and backward.

    A step gets the input's part of the products of the gates `i, f, g, o`,
    `(batch, 4 * units)`. The states are `h, c`.

    Args:
        weights: "kernel", the recurrent kernel, of shape
            `(units, 4 * units)` and in the dtype of the products, and
            "gates", a dictionary of the arguments of `bias_or_norm`.
        state_mask: Dropout mask of h, `(batch, units)`, a list of one for
            each gate, or `None`.
    """

    def __init__(self, weights, state_mask=None):
        super().__init__(state_mask)
        self.dtype = weights["kernel"].dtype
        self.products = GateProducts(weights["kernel"], state_mask)
        self.norm = bias_or_norm(**weights["gates"])

    def step(self, states, given):
        h, c = states
        gates, at_norm = self.norm.forward(self.products.forward(h) + given)
        i, f, g, o = ops.split(gates, 4, axis=-1)
        i, f, g, o = ops.sigmoid(i), ops.sigmoid(f), ops.tanh(g), ops.sigmoid(o)
        new_c = f * c + i * g
        squashed = ops.tanh(new_c)
        saved = (h, c, i, f, g, o, squashed, at_norm)
        return (o * squashed, new_c), saved

    def transpose(self):
        self.products.transpose()

    def step_back(self, grads, saved):
        *saved, at_norm = saved
        gates, grad_c = self.gates_back(*grads, *saved)
        products, kept = self.norm.back(join(*gates), at_norm)
        products = ops.cast(products, self.dtype)
        return (self.products.back(products), grad_c), (products, kept)

    def gates_back(self, grad_h, grad_c, _, c, i, f, g, o, squashed):
        """Returns the gradients of the gates and of the previous c.

        The gradients are those of the new h and c; the other arguments are
        what `step` saved.
        """
        grad_o = grad_h * squashed * o * (1 - o)
        grad_c = grad_c + grad_h * o * (1 - squashed * squashed)
        grad_i = grad_c * g * i * (1 - i)
        grad_f = grad_c * c * f * (1 - f)
        grad_g = grad_c * i * (1 - g * g)
        return (grad_i, grad_f, grad_g, grad_o), grad_c * f

    def gradients(self, saved, emitted):
        h, *_, at_norm = saved
        products, kept = emitted
        gates = self.norm.of_gates(products, kept)
        return wide(products), {
            "kernel": self.products.gradient(h, products),
            "gates": self.norm.gradients(at_norm, gates),
        }
