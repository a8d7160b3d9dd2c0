"""The loop of a recurrent highway network, with its gradient by hand."""

from keras import ops

from kerasrnn.layers.through_time import bias_gradient
from kerasrnn.layers.through_time import kernel_gradient
from kerasrnn.layers.through_time import product
from kerasrnn.layers.through_time import times_transposed
from kerasrnn.layers.through_time import wide


class RHNLoop:
    """The micro-steps of `RHNCell`, forward and back; see `run_loop`.

    A step is given the input's share in the preactivations of its first
    micro-step, with its biases, `(batch, gates * units)`.

    Args:
        weights: "kernel", the recurrent kernel of each micro-step, of shape
            `(units, gates * units)` and in the dtype of the products, and
            "bias" of shape `(depth - 1, gates * units)`, of the micro-steps
            after the first. Two gates are `h, t`; a third is the carry gate.
        state_mask: Dropout mask of the state, `(batch, units)`, or `None`.
    """

    def __init__(self, weights, state_mask=None):
        self.kernels = weights["kernel"]
        self.bias = weights["bias"]
        self.state_mask = state_mask
        self.depth = len(self.kernels)
        self.units, self.width = self.kernels[0].shape
        self.is_coupled = self.width == 2 * self.units
        self.biases = [self.bias[layer] for layer in range(self.depth - 1)]

    def dropped(self, state):
        """The state as a product takes it."""
        return state if self.state_mask is None else state * self.state_mask

    def step(self, states, given):
        (state,) = states
        saved = []
        for kernel, share in zip(
            self.kernels, (given, *self.biases), strict=True
        ):
            gates = product(self.dropped(state), kernel) + share
            h = ops.tanh(gates[:, : self.units])
            others = ops.sigmoid(gates[:, self.units :])
            saved.append((state, h, others))
            if self.is_coupled:
                state = state + others * (h - state)
            else:
                t, c = ops.split(others, 2, axis=-1)
                state = h * t + state * c
        return (state,), saved

    def transpose(self):
        self.back = [times_transposed(kernel) for kernel in self.kernels]

    def for_back(self, saved):
        return [self._slopes(*layer) for layer in saved]

    def _slopes(self, state, h, others):
        """What takes the gradient of s_l to its gates, and to s_{l-1}."""
        if self.is_coupled:
            t, carry = others, 1 - others
            slopes = [t * (1 - h * h), (h - state) * t * carry]
        else:
            t, carry = ops.split(others, 2, axis=-1)
            slopes = [
                t * (1 - h * h),
                h * t * (1 - t),
                state * carry * (1 - carry),
            ]
        return ops.stack(slopes, axis=2), carry

    def step_back(self, grads, slopes):
        (grad,) = grads
        emitted = [None] * self.depth
        for layer in reversed(range(self.depth)):
            # Of shapes (batch, gates, units) and (batch, units).
            slope, carry = slopes[layer]
            gates = ops.reshape(
                ops.expand_dims(grad, 1) * slope, (-1, self.width)
            )
            gates = ops.cast(gates, self.kernels[layer].dtype)
            emitted[layer] = gates
            grad = grad * carry + self.dropped(wide(self.back[layer](gates)))
        return (grad,), emitted

    def gradients(self, saved, emitted):
        kernels = [
            kernel_gradient(self.dropped(state), gates)
            for (state, _, _), gates in zip(saved, emitted, strict=True)
        ]
        biases = [bias_gradient(gates) for gates in emitted[1:]]
        bias = ops.stack(biases) if biases else ops.zeros_like(self.bias)
        return wide(emitted[0]), {"kernel": kernels, "bias": bias}
