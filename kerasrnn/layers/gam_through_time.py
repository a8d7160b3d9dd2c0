"""The loop of grouped auxiliary memory, with its gradient by hand.

Here a memory is `(batch, slots, groups)`, and so is an address once it went
through its softmax over the slots.
"""

import keras
from keras import ops

from kerasrnn.layers.through_time import bias_gradient
from kerasrnn.layers.through_time import kernel_gradient
from kerasrnn.layers.through_time import scan_and_save
from kerasrnn.layers.through_time import times_transposed
from kerasrnn.layers.through_time import wide


def split_at(x, *widths):
    """Splits the last axis into parts of the given widths and the rest."""
    ends, total = [], 0
    for width in widths:
        total += width
        ends.append(total)
    return ops.split(x, ends, axis=-1)


def product(inputs, kernel):
    """A product in the dtype of its kernel, given back wide."""
    return wide(ops.matmul(ops.cast(inputs, kernel.dtype), kernel))


def over_slots(scores, like):
    """softmax_S of `(batch, slots * groups)`, as `(batch, slots, groups)`."""
    scores = ops.reshape(scores, ops.shape(like))
    weights = ops.exp(scores - ops.max(scores, axis=1, keepdims=True))
    return weights / ops.sum(weights, axis=1, keepdims=True)


def flat(x):
    """`(batch, slots, groups)` -> `(batch, slots * groups)`."""
    return ops.reshape(x, (-1, x.shape[1] * x.shape[2]))


class Write:
    """The write of a step, forward and back; see `GAMCell`.

    Args:
        weights: What `loop_weights` of a cell gave: of it "write" of shape
            `(head_units, slots * groups)` and "candidate" of shape
            `(units, groups)`.
    """

    def __init__(self, weights):
        self.kernel = weights["write"]
        self.candidate = weights["candidate"]
        self.units, self.groups = self.candidate.shape

    def forward(self, given, head, reset, state, memory):
        """One write.

        Args:
            given: The input's candidates, `(batch, groups)`.
            head: Tensor of shape `(batch, head_units)`.
            reset: Preactivation of the reset gate, `(batch, units)`.
            state: Tensor of shape `(batch, units)`, as products take it.
            memory: Tensor of shape `(batch, slots, groups)`.

        Returns:
            The memory, and what `back` and `gradients` need.
        """
        address = over_slots(product(head, self.kernel), memory)
        reset = ops.sigmoid(reset)
        kept = reset * state
        candidate = ops.tanh(given + product(kept, self.candidate))
        # What the write moves each place by, for an address of 1.
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
        """From the gradient of the memory to those of what it came from.

        Args:
            grad: Gradient of the memory, `(batch, slots, groups)`.
            saved: What `forward` saved.
            state: The state that `forward` was given.

        Returns:
            The gradients of the head's products `(batch, head_units)`, of
            the preactivations of the reset gate and of the candidates, of
            the state, of the memory before, and of the address's scores.
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
        """The gradients of "write" and "candidate", from all steps."""
        kept = self._cast(saved["reset"] * states)
        candidates = self._cast(candidates)
        return {
            "write": kernel_gradient(self._cast(saved["head"]), scores),
            "candidate": kernel_gradient(kept, candidates),
        }

    def _cast(self, x):
        return ops.cast(x, self.kernel.dtype)


class Read:
    """One of the reads of a step, forward and back; see `GAMCell`.

    Args:
        kernel: Tensor of shape `(head_units, slots * groups)`.
        bias: Tensor of shape `(slots * groups,)`.
    """

    def __init__(self, kernel, bias):
        self.kernel = kernel
        self.bias = bias

    def forward(self, head, memory):
        """Returns what is read, `(batch, groups)`, and what `back` needs."""
        address = over_slots(product(head, self.kernel) + self.bias, memory)
        read = ops.sum(address * memory, axis=1)
        return read, {"head": head, "address": address, "read": read}

    def transpose(self):
        """Prepares for `back`, before its loop."""
        self.kernel_back = times_transposed(self.kernel)

    def back(self, grad, saved, memory):
        """The gradients of the head, of the memory and of the scores."""
        through = saved["address"] * ops.expand_dims(grad, 1)
        scores = through * (memory - ops.expand_dims(saved["read"], 1))
        scores = ops.cast(flat(scores), self.kernel.dtype)
        return wide(self.kernel_back(scores)), through, scores

    def gradients(self, saved, scores):
        """The gradients of kernel and bias, from all steps."""
        heads = ops.cast(saved["head"], self.kernel.dtype)
        return kernel_gradient(heads, scores), bias_gradient(scores)


def gam_through_time(
    products, state, memory, weights, state_mask=None, mask=None
):
    """Runs grouped auxiliary memory alone; see `GAMCell`.

    Args:
        products: Tensor of shape `(time, batch, head_units + 2 * groups)`,
            the input's share in head, reset gate and candidates, with the
            biases.
        state: Tensor of shape `(batch, groups)`.
        memory: Tensor of shape `(batch, slots, groups)`.
        weights: What `loop_weights` of the cell gave.
        state_mask: Dropout mask of the state, `(batch, groups)`, or `None`.
        mask: Tensor of shape `(time, batch, 1)`, 0 where a step is skipped,
            or `None`.

    Returns:
        The states of all steps, of shape `(time, batch, groups)`, and the
        last memory.
    """
    groups, head_units = weights["head"].shape
    dtype = weights["head"].dtype

    def dropped(state):
        return state if state_mask is None else state * state_mask

    @ops.custom_gradient
    def run(products, state, memory, weights):
        write = Write(weights)
        read = Read(weights["read"][0], weights["read_bias"][0])
        kernel = ops.concatenate([weights["head"], weights["reset"]], axis=-1)

        def step(states, inputs):
            state, memory = states
            given, *kept = inputs
            head, reset, candidate = split_at(given, head_units, groups)
            used = dropped(state)
            shared = product(used, kernel)
            written, at_write = write.forward(
                candidate,
                head + shared[:, :head_units],
                reset + shared[:, head_units:],
                used,
                memory,
            )
            value, at_read = read.forward(at_write["head"], written)
            saved = (state, at_write, at_read, written)
            states = keep((value, written), (state, memory), kept)
            return states, (states[0], saved)

        inputs = (products,) if mask is None else (products, mask)
        (_, memory_out), (states, saved) = scan_and_save(
            step, (state, memory), inputs
        )

        def gradient(*upstream):
            upstream, memory_grad = keras.tree.flatten(upstream)
            write.transpose()
            read.transpose()
            kernel_back = times_transposed(kernel)

            def step_back(grads, inputs):
                upstream, saved, *kept = inputs
                before, at_write, at_read, written = saved
                grad, memory_grad = grads
                (grad, memory_grad), skipped = let_through(
                    (grad + upstream, memory_grad), kept
                )
                head, through, read_scores = read.back(grad, at_read, written)
                write_head, gate, candidate, state_grad, memory_grad, scores = (
                    write.back(memory_grad + through, at_write, dropped(before))
                )
                head = head + write_head
                emitted = ops.concatenate([head, gate, candidate], axis=-1)
                shared = ops.cast(emitted[:, : head_units + groups], dtype)
                grad = dropped(state_grad + wide(kernel_back(shared)))
                grads = add_skipped((grad, memory_grad), skipped)
                return grads, (emitted, read_scores, scores)

            start = (ops.zeros_like(state), memory_grad)
            inputs = (upstream, saved, *([] if mask is None else [mask]))
            (grad, memory_grad), (emitted, read_scores, scores) = scan_and_save(
                step_back, start, inputs, reverse=True
            )
            before, at_write, at_read, _ = saved
            head, reset, candidate = split_at(emitted, head_units, groups)
            before = dropped(before)
            used = ops.cast(before, dtype)
            kernel_grad, bias_grad = read.gradients(at_read, read_scores)
            found = {
                "head": kernel_gradient(used, ops.cast(head, dtype)),
                "reset": kernel_gradient(used, ops.cast(reset, dtype)),
                "read": [kernel_grad],
                "read_bias": ops.expand_dims(bias_grad, 0),
                **write.gradients(at_write, before, candidate, scores),
            }
            return emitted, grad, memory_grad, cast_like(found, weights)

        return (states, memory_out), gradient

    return run(products, state, memory, weights)


def keep(new, old, mask):
    """The new states where the mask, if there is one, is 1."""
    if not mask:
        return new

    def choose(new, old):
        here = ops.reshape(mask[0], (-1, *[1] * (len(new.shape) - 1)))
        return old + here * (new - old)

    return keras.tree.map_structure(choose, new, old)


def let_through(grads, mask):
    """Gradients of the states of a step, and those of the states it keeps."""
    if not mask:
        return grads, None
    zeros = keras.tree.map_structure(ops.zeros_like, grads)
    return keep(grads, zeros, mask), keep(zeros, grads, mask)


def add_skipped(grads, skipped):
    if skipped is None:
        return grads
    return keras.tree.map_structure(ops.add, grads, skipped)


def cast_like(gradients, weights):
    """The gradients by the names and in the dtypes of the weights."""
    gradients = {name: gradients[name] for name in weights}
    return keras.tree.map_structure(
        lambda gradient, weight: ops.cast(gradient, weight.dtype),
        gradients,
        weights,
    )
