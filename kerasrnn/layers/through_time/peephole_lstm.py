"""The loop of an LSTM with peepholes, with a hand-written gradient."""

from keras import ops

from kerasrnn.layers.through_time.lstm import LSTMLoop
from kerasrnn.layers.through_time.products import wide


class PeepholeLSTMLoop(LSTMLoop):
    """The steps of `PeepholeLSTMCell`, forward and backward; see `LSTMLoop`.

    Args:
        weights: Those of `LSTMLoop`, and "peepholes" of shape `(3, units)`,
            those of `i, f, o`.
        state_mask: As that of `LSTMLoop`.
    """

    def __init__(self, weights, state_mask=None):
        super().__init__(weights, state_mask)
        self.peepholes = ops.unstack(weights["peepholes"])

    def step(self, states, given):
        h, c = states
        p_i, p_f, p_o = self.peepholes
        gates, at_norm = self.norm.forward(self.products.forward(h) + given)
        i, f, g, o = ops.split(gates, 4, axis=-1)
        i, f, g = (
            ops.sigmoid(i + p_i * c),
            ops.sigmoid(f + p_f * c),
            ops.tanh(g),
        )
        new_c = f * c + i * g
        o = ops.sigmoid(o + p_o * new_c)
        squashed = ops.tanh(new_c)
        saved = (h, c, i, f, g, o, squashed, at_norm)
        return (o * squashed, new_c), saved

    def gates_back(self, grad_h, grad_c, _, c, i, f, g, o, squashed):
        """As for `LSTMLoop`, with what flows through the peepholes to c."""
        p_i, p_f, p_o = self.peepholes
        grad_o = grad_h * squashed * o * (1 - o)
        grad_c = grad_c + grad_h * o * (1 - squashed * squashed) + grad_o * p_o
        grad_i = grad_c * g * i * (1 - i)
        grad_f = grad_c * c * f * (1 - f)
        grad_g = grad_c * i * (1 - g * g)
        grad_c = grad_c * f + grad_i * p_i + grad_f * p_f
        return (grad_i, grad_f, grad_g, grad_o), grad_c

    def gradients(self, saved, emitted):
        given, weights = super().gradients(saved, emitted)
        _, c, i, f, g, *_ = saved
        grads = ops.split(wide(self.norm.of_gates(*emitted)), 4, axis=-1)
        seen = {0: c, 1: c, 3: f * c + i * g}
        weights["peepholes"] = ops.stack(
            [ops.sum(grads[gate] * x, axis=(0, 1)) for gate, x in seen.items()]
        )
        return given, weights
