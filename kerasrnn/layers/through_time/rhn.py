"""The loop of a recurrent highway network, with a hand-written gradient."""

from keras import ops

from kerasrnn.layers.through_time.loop import Loop
from kerasrnn.layers.through_time.normalization import bias_or_norm
from kerasrnn.layers.through_time.products import GateProducts
from kerasrnn.layers.through_time.products import join
from kerasrnn.layers.through_time.products import wide


class RHNLoop(Loop):
    """The micro-steps of `RHNCell`, forward and backward.

    A step gets the products with the input, `(batch, gates * units)`.

    Args:
        weights: "kernel", the recurrent kernel of each micro-step, of shape
            `(units, gates * units)` and in the dtype of the products, and
            "gates", the arguments of `bias_or_norm` for each micro-step. Two
            gates are `h, t`; a third is the carry gate.
        state_mask: Dropout mask of the state, `(batch, units)`, or `None`.
    """

    def __init__(self, weights, state_mask=None):
        super().__init__(state_mask)
        kernels = weights["kernel"]
        self.dtype = kernels[0].dtype
        self.units, self.width = kernels[0].shape
        self.is_coupled = self.width == 2 * self.units
        self.products = [GateProducts(k, state_mask) for k in kernels]
        self.norms = [bias_or_norm(**gates) for gates in weights["gates"]]

    def step(self, states, given):
        (state,) = states
        saved = []
        for products, norm in zip(self.products, self.norms, strict=True):
            gates = products.forward(state)
            if not saved:
                gates = gates + given
            gates, at_norm = norm.forward(gates)
            h = ops.tanh(gates[:, : self.units])
            others = ops.sigmoid(gates[:, self.units :])
            saved.append((state, h, others, at_norm))
            if self.is_coupled:
                state = state + others * (h - state)
            else:
                t, c = ops.split(others, 2, axis=-1)
                state = h * t + state * c
        return (state,), saved

    def transpose(self):
        for products in self.products:
            products.transpose()

    def step_back(self, grads, saved):
        (grad,) = grads
        emitted = []
        for products, norm, (*gates, at_norm) in zip(
            *map(reversed, (self.products, self.norms, saved)), strict=True
        ):
            gates, carried = self.gates_back(grad, *gates)
            gates, kept = norm.back(gates, at_norm)
            gates = ops.cast(gates, self.dtype)
            grad = carried + products.back(gates)
            emitted.append((gates, kept))
        return (grad,), emitted[::-1]

    def gates_back(self, grad, state, h, others):
        """Returns the gradients of the gates and of s_{l-1}, from s_l's."""
        if self.is_coupled:
            t, carry = others, 1 - others
            grads = [(h - state) * t * carry]
        else:
            t, carry = ops.split(others, 2, axis=-1)
            grads = [h * t * (1 - t), state * carry * (1 - carry)]
        grads = [grad * slope for slope in (t * (1 - h * h), *grads)]
        return join(*grads), grad * carry

    def gradients(self, saved, emitted):
        return wide(emitted[0][0]), {
            "kernel": [
                products.gradient(state, grads)
                for products, (state, *_), (grads, _) in zip(
                    self.products, saved, emitted, strict=True
                )
            ],
            "gates": [
                norm.gradients(at_norm, norm.of_gates(*grads))
                for norm, (*_, at_norm), grads in zip(
                    self.norms, saved, emitted, strict=True
                )
            ],
        }
