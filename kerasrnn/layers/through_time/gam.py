"""The loop of grouped auxiliary memory, with a hand-written gradient.

Here memories, and addresses after their softmax over the slots, have the shape
`(batch, slots, groups)`.
"""

from keras import ops

from kerasrnn.layers.through_time.loop import Loop
from kerasrnn.layers.through_time.products import bias_gradient
from kerasrnn.layers.through_time.products import join
from kerasrnn.layers.through_time.products import kernel_gradient
from kerasrnn.layers.through_time.products import product
from kerasrnn.layers.through_time.products import split_at
from kerasrnn.layers.through_time.products import times_transposed
from kerasrnn.layers.through_time.products import wide


def over_slots(scores, like):
    """softmax_S of `(batch, slots * groups)`, as `(batch, slots, groups)`."""
    scores = ops.reshape(scores, ops.shape(like))
    # Keras rejects the maximum of an empty batch without an initial value.
    greatest = ops.max(scores, axis=1, keepdims=True, initial=-1e30)
    weights = ops.exp(scores - greatest)
    return weights / ops.sum(weights, axis=1, keepdims=True)


def flat(x):
    """`(batch, slots, groups)` -> `(batch, slots * groups)`."""
    return ops.reshape(x, (-1, x.shape[1] * x.shape[2]))


class Write:
    """The write of a step, forward and backward; see `GAMCell`.

    Args:
        weights: What `loop_weights` of a cell returned, of which "write" has
            the shape `(head_units, slots * groups)` and "candidate" has the
            shape `(units, groups)`.
    """

    def __init__(self, weights):
        self.kernel = weights["write"]
        self.candidate = weights["candidate"]
        self.units, self.groups = self.candidate.shape

    def forward(self, given, head, reset, state, memory):
        """Computes one write.

        Args:
            given: The input's part of the candidates, `(batch, groups)`.
            head: Tensor of shape `(batch, head_units)`.
            reset: Preactivation of the reset gate, `(batch, units)`.
            state: Tensor of shape `(batch, units)`, after dropout.
            memory: Tensor of shape `(batch, slots, groups)`.

        Returns:
            The new memory, and what `back` and `gradients` need.
        """
        address = over_slots(product(head, self.kernel), memory)
        reset = ops.sigmoid(reset)
        kept = reset * state
        candidate = ops.tanh(given + product(kept, self.candidate))
        # How much an address of 1 changes each slot.
        move = ops.expand_dims(candidate, 1) - memory
        return memory + address * move, {
            "head": head,
            "address": address,
            "reset": reset,
            "candidate": candidate,
            "move": move,
        }

    def transpose(self):
        """Prepares for `back`, before its loop."""
        self.kernel_back = times_transposed(self.kernel)
        self.candidate_back = times_transposed(self.candidate)

    def back(self, grad, saved, state):
        """Computes the gradients of a write from that of the new memory.

        Args:
            grad: Gradient of the new memory, `(batch, slots, groups)`.
            saved: What `forward` saved.
            state: The state that `forward` was given.

        Returns:
            The gradients of the head's products `(batch, head_units)`, of
            the preactivations of the reset gate and of the candidates, of
            the state, of the old memory, and of the address's scores.
        """
        address, reset = saved["address"], saved["reset"]
        scores = address * grad * saved["move"]
        scores = scores - address * ops.sum(scores, axis=1, keepdims=True)
        candidate = ops.sum(address * grad, axis=1)
        candidate = candidate * (1 - saved["candidate"] ** 2)
        kept = wide(self.candidate_back(self._cast(candidate)))
        gate = kept * state * reset * (1 - reset)
        scores = self._cast(flat(scores))
        head = wide(self.kernel_back(scores))
        before = (1 - address) * grad
        return head, gate, candidate, kept * reset, before, scores

    def gradients(self, saved, states, candidates, scores):
        """Returns the gradients of "write" and "candidate", over all steps."""
        kept = saved["reset"] * states
        return {
            "write": kernel_gradient(saved["head"], scores),
            "candidate": kernel_gradient(kept, self._cast(candidates)),
        }

    def _cast(self, x):
        return ops.cast(x, self.kernel.dtype)


class Read:
    """One of the reads of a step, forward and backward; see `GAMCell`.

    Args:
        kernel: Tensor of shape `(head_units, slots * groups)`.
        bias: Tensor of shape `(slots * groups,)`.
    """

    def __init__(self, kernel, bias):
        self.kernel = kernel
        self.bias = bias

    def forward(self, head, memory):
        """Returns the read vector, `(batch, groups)`, and what `back` needs."""
        address = over_slots(product(head, self.kernel) + self.bias, memory)
        read = ops.sum(address * memory, axis=1)
        return read, {"head": head, "address": address, "read": read}

    def transpose(self):
        """Prepares for `back`, before its loop."""
        self.kernel_back = times_transposed(self.kernel)

    def back(self, grad, saved, memory):
        """Returns the gradients of the head, the memory and the scores."""
        through = saved["address"] * ops.expand_dims(grad, 1)
        scores = through * (memory - ops.expand_dims(saved["read"], 1))
        scores = ops.cast(flat(scores), self.kernel.dtype)
        return wide(self.kernel_back(scores)), through, scores

    def gradients(self, saved, scores):
        """Returns the gradients of kernel and bias, summed over all steps."""
        return kernel_gradient(saved["head"], scores), bias_gradient(scores)


class GAMLoop(Loop):
    """The steps of `GAMCell`, forward and backward.

    A step gets the input's part of head, reset gate and candidates, with the
    biases, `(batch, head_units + 2 * groups)`. Its states are the output
    `(batch, groups)` and the memory `(batch, slots, groups)`.

    Args:
        weights: What `loop_weights` of the cell returned.
        state_mask: Dropout mask of the state, `(batch, groups)`, or `None`.
    """

    def __init__(self, weights, state_mask=None):
        super().__init__(state_mask)
        self.groups, self.head_units = weights["head"].shape
        self.kernel = join(weights["head"], weights["reset"])
        self.write = Write(weights)
        self.read = Read(weights["read"][0], weights["read_bias"][0])

    def split(self, x):
        """Splits into head, reset gate and candidates."""
        return split_at(x, self.head_units, self.groups)

    def step(self, states, given):
        before, memory = states
        used = self.dropped(before)
        head, reset, candidate = self.split(given)
        shared = product(used, self.kernel)
        memory, at_write = self.write.forward(
            candidate,
            head + shared[:, : self.head_units],
            reset + shared[:, self.head_units :],
            used,
            memory,
        )
        value, at_read = self.read.forward(at_write["head"], memory)
        return (value, memory), (before, memory, at_write, at_read)

    def transpose(self):
        self.write.transpose()
        self.read.transpose()
        self.kernel_back = times_transposed(self.kernel)

    def step_back(self, grads, saved):
        grad, memory_grad = grads
        before, memory, at_write, at_read = saved
        used = self.dropped(before)
        head, through, read_scores = self.read.back(grad, at_read, memory)
        write_head, gate, candidate, used_grad, memory_grad, scores = (
            self.write.back(memory_grad + through, at_write, used)
        )
        shared = join(head + write_head, gate)
        through = self.kernel_back(ops.cast(shared, self.kernel.dtype))
        grad = self.dropped(used_grad + wide(through))
        emitted = (join(shared, candidate), read_scores, scores)
        return (grad, memory_grad), emitted

    def gradients(self, saved, emitted):
        before, _, at_write, at_read = saved
        given, read_scores, scores = emitted
        used = self.dropped(before)
        head, reset, candidate = self.split(given)
        kernel, bias = self.read.gradients(at_read, read_scores)
        dtype = self.kernel.dtype
        return given, {
            "head": kernel_gradient(used, ops.cast(head, dtype)),
            "reset": kernel_gradient(used, ops.cast(reset, dtype)),
            "read": [kernel],
            "read_bias": ops.expand_dims(bias, 0),
            **self.write.gradients(at_write, used, candidate, scores),
        }
