"""The loop of a gated recurrent unit, with a hand-written gradient."""

from keras import ops

from kerasrnn.layers.through_time.loop import Loop
from kerasrnn.layers.through_time.normalization import bias_or_norm
from kerasrnn.layers.through_time.products import GateProducts
from kerasrnn.layers.through_time.products import bias_gradient
from kerasrnn.layers.through_time.products import join
from kerasrnn.layers.through_time.products import split_at
from kerasrnn.layers.through_time.products import wide


class GRULoop(Loop):
    """The steps of `FastGRUCell`, forward and backward.

    A step gets the input's part of the products of `z, r, g`,
    `(batch, 3 * units)`. The state is `h`.

    Args:
        weights: "kernel", the recurrent kernel, of shape
            `(units, 3 * units)` and in the dtype of the products;
            "recalled_bias" of shape `(units,)`, the bias that the reset gate
            multiplies; "gates" and "candidate", dictionaries of the arguments
            of `bias_or_norm` for `z, r` and for `g`.
        state_mask: Dropout mask of h, `(batch, units)`, a list of one for
            each gate, or `None`.
    """

    def __init__(self, weights, state_mask=None):
        super().__init__(state_mask)
        self.dtype = weights["kernel"].dtype
        self.units = weights["kernel"].shape[0]
        self.products = GateProducts(weights["kernel"], state_mask)
        self.bias = weights["recalled_bias"]
        self.gates = bias_or_norm(**weights["gates"])
        self.candidate = bias_or_norm(**weights["candidate"])

    def split(self, x):
        """Splits into the gates `z, r`, and the candidate."""
        return split_at(x, 2 * self.units)

    def step(self, states, given):
        (h,) = states
        given_gates, given_g = self.split(given)
        gates, recalled = self.split(self.products.forward(h))
        gates, at_gates = self.gates.forward(given_gates + gates)
        z, r = ops.split(ops.sigmoid(gates), 2, axis=-1)
        recalled = recalled + self.bias
        g, at_g = self.candidate.forward(given_g + r * recalled)
        g = ops.tanh(g)
        saved = (h, z, r, recalled, g, at_gates, at_g)
        return (g + z * (h - g),), saved

    def transpose(self):
        self.products.transpose()

    def step_back(self, grads, saved):
        (grad_h,) = grads
        h, z, r, recalled, g, at_gates, at_g = saved
        grad_z = grad_h * (h - g) * z * (1 - z)
        grad_g = grad_h * (1 - z) * (1 - g * g)
        grad_g, kept_g = self.candidate.back(grad_g, at_g)
        grad_r = grad_g * recalled * r * (1 - r)
        gates, kept = self.gates.back(join(grad_z, grad_r), at_gates)
        # The last is the input's part, which the reset gate does not multiply.
        products = ops.cast(join(gates, grad_g * r, grad_g), self.dtype)
        recurrent, _ = split_at(products, 3 * self.units)
        grad_h = grad_h * z + self.products.back(recurrent)
        return (grad_h,), (products, kept, kept_g)

    def gradients(self, saved, emitted):
        h, *_, at_gates, at_g = saved
        products, kept, kept_g = emitted
        gates, recalled, g = split_at(products, 2 * self.units, self.units)
        recurrent = join(gates, recalled)
        return wide(join(gates, g)), {
            "kernel": self.products.gradient(h, recurrent),
            "recalled_bias": bias_gradient(recalled),
            "gates": self.gates.gradients(
                at_gates, self.gates.of_gates(gates, kept)
            ),
            "candidate": self.candidate.gradients(
                at_g, self.candidate.of_gates(g, kept_g)
            ),
        }
