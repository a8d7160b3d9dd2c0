"""The loop of GAM-RHN, with a hand-written gradient."""

from keras import ops

from kerasrnn.layers.through_time.gam import Read
from kerasrnn.layers.through_time.gam import Write
from kerasrnn.layers.through_time.loop import Loop
from kerasrnn.layers.through_time.products import bias_gradient
from kerasrnn.layers.through_time.products import join
from kerasrnn.layers.through_time.products import kernel_gradient
from kerasrnn.layers.through_time.products import product
from kerasrnn.layers.through_time.products import split_at
from kerasrnn.layers.through_time.products import times_transposed
from kerasrnn.layers.through_time.products import wide


class GRUStep:
    """The micro-step "gru", forward and backward; see `GAMRHNCell`.

    Args:
        kernel: Tensor of shape `(units, units)`, which multiplies `r * s`.
    """

    def __init__(self, kernel):
        self.kernel = kernel
        self.units = kernel.shape[0]

    def forward(self, from_read, from_state, state, used):
        """Computes one micro-step.

        Args:
            from_read: The read vector's part of `r, z, h`, with their biases,
                `(batch, 3 * units)`.
            from_state: The state's part of `r, z`, `(batch, 2 * units)`.
            state: The state that is carried, `(batch, units)`.
            used: The state after dropout, as it enters products.

        Returns:
            The new state, and what `back` needs.
        """
        gates = ops.sigmoid(from_read[:, : 2 * self.units] + from_state)
        r, z = ops.split(gates, 2, axis=-1)
        h = from_read[:, 2 * self.units :] + product(r * used, self.kernel)
        h = ops.tanh(h)
        return h + z * (state - h), {"r": r, "z": z, "h": h, "state": state}

    def transpose(self):
        """Prepares for `back`, before its loop."""
        self.kernel_back = times_transposed(self.kernel)

    def back(self, grad, saved, used):
        """Returns the gradients of `r, z, h`, of `state` and of `used`."""
        r, z, h = saved["r"], saved["z"], saved["h"]
        grad_h = grad * (1 - z) * (1 - h * h)
        kept = wide(self.kernel_back(ops.cast(grad_h, self.kernel.dtype)))
        grad_z = grad * (saved["state"] - h) * z * (1 - z)
        grad_r = kept * used * r * (1 - r)
        return join(grad_r, grad_z, grad_h), grad * z, kept * r

    def gradient(self, saved, used, gates):
        """Returns the gradient of the kernel, summed over all steps."""
        return kernel_gradient(saved["r"] * used, gates[..., 2 * self.units :])


class HighwayStep:
    """The micro-step "highway": as `GRUStep`, but with `h, t` and no kernel."""

    def forward(self, from_read, from_state, state, used):
        h, t = ops.split(from_read + from_state, 2, axis=-1)
        h, t = ops.tanh(h), ops.sigmoid(t)
        return state + t * (h - state), {"h": h, "t": t, "state": state}

    def transpose(self):
        pass

    def back(self, grad, saved, used):
        h, t = saved["h"], saved["t"]
        grad_h = grad * t * (1 - h * h)
        carried = grad * (1 - t)
        grad_t = carried * t * (h - saved["state"])
        return join(grad_h, grad_t), carried, 0.0


class GAMRHNLoop(Loop):
    """The steps of `GAMRHNCell`, forward and backward.

    A step gets the input's part of head, reset gate and candidates, with the
    biases, `(batch, head_units + units + groups)`. Its states are the output
    `(batch, units)` and the memory `(batch, slots, groups)`.

    Args:
        weights: What `loop_weights` of the cell returned.
        state_mask: Dropout mask of the state, `(batch, units)`, or `None`.
    """

    def __init__(self, weights, state_mask=None):
        self.weights = weights
        super().__init__(state_mask)
        self.depth = len(weights["read"])
        self.head_units = weights["read"][0].shape[0]
        self.write = Write(weights)
        self.units = self.write.units
        self.reads = [
            Read(kernel, weights["read_bias"][layer])
            for layer, kernel in enumerate(weights["read"])
        ]
        if "state" in weights:
            self.inner = [GRUStep(kernel) for kernel in weights["state"]]
        else:
            self.inner = [HighwayStep() for _ in range(self.depth)]
        self.from_read = weights["from_read"]
        self.biases = [weights["bias"][layer] for layer in range(self.depth)]
        # One product per micro-step for all that depends on the state: head
        # and gates, and in the first one the reset gate of the write.
        self.from_state = weights["from_state"]

    def cast(self, x):
        return ops.cast(x, self.from_read[0].dtype)

    def step(self, states, given):
        state, memory = states
        saved = []
        for layer in range(self.depth):
            used = self.dropped(state)
            shared = product(used, self.from_state[layer])
            if layer == 0:
                shared, gates = split_at(shared, self.head_units + self.units)
                head, memory, at_write = self._write(
                    given, shared, used, memory
                )
            else:
                head, gates = split_at(shared, self.head_units)
            value, at_read = self.reads[layer].forward(head, memory)
            read = product(value, self.from_read[layer]) + self.biases[layer]
            state, at_step = self.inner[layer].forward(read, gates, state, used)
            saved.append((at_read, at_step))
        return (state, memory), (memory, at_write, saved)

    def _write(self, given, shared, used, memory):
        head, reset, candidate = split_at(given, self.head_units, self.units)
        head = head + shared[:, : self.head_units]
        reset = reset + shared[:, self.head_units :]
        return head, *self.write.forward(candidate, head, reset, used, memory)

    def transpose(self):
        for part in (self.write, *self.reads, *self.inner):
            part.transpose()
        self.from_read_back = [times_transposed(k) for k in self.from_read]
        self.from_state_back = [times_transposed(k) for k in self.from_state]

    def step_back(self, grads, saved):
        grad, memory_grad = grads
        memory, at_write, layers = saved
        emitted = [None] * self.depth
        for layer in reversed(range(self.depth)):
            at_read, at_step = layers[layer]
            used = self.dropped(at_step["state"])
            gates, grad, used_grad = self.inner[layer].back(grad, at_step, used)
            gates = self.cast(gates)
            value = wide(self.from_read_back[layer](gates))
            head, through, scores = self.reads[layer].back(
                value, at_read, memory
            )
            memory_grad = memory_grad + through
            if layer == 0:
                written, more, memory_grad, write_scores = self._write_back(
                    head, memory_grad, at_write, used
                )
                head = written[:, : self.head_units + self.units]
                used_grad = used_grad + more
            # Only what the joined product goes into: not h of "gru".
            shared = join(self.cast(head), gates[:, : 2 * self.units])
            used_grad = used_grad + wide(self.from_state_back[layer](shared))
            grad = grad + self.dropped(used_grad)
            emitted[layer] = (gates, scores, shared)
        return (grad, memory_grad), (written, write_scores, emitted)

    def _write_back(self, head, memory_grad, at_write, used):
        head_grad, reset, candidate, used_grad, memory_grad, scores = (
            self.write.back(memory_grad, at_write, used)
        )
        written = join(head + head_grad, reset, candidate)
        return written, used_grad, memory_grad, scores

    def gradients(self, saved, emitted):
        _, at_write, layers = saved
        given, write_scores, emitted = emitted
        used = [self.dropped(at_step["state"]) for _, at_step in layers]
        candidate = given[..., self.head_units + self.units :]
        found = self.write.gradients(at_write, used[0], candidate, write_scores)
        found |= {name: [] for name in self.weights if name not in found}
        for layer, (at_read, at_step) in enumerate(layers):
            gates, scores, shared = emitted[layer]
            kernel, bias = self.reads[layer].gradients(at_read, scores)
            found["read"].append(kernel)
            found["read_bias"].append(bias)
            found["from_read"].append(kernel_gradient(at_read["read"], gates))
            found["bias"].append(bias_gradient(gates))
            found["from_state"].append(kernel_gradient(used[layer], shared))
            if "state" in found:
                found["state"].append(
                    self.inner[layer].gradient(at_step, used[layer], gates)
                )
        for name in ("read_bias", "bias"):
            found[name] = ops.stack(found[name])
        return given, found
