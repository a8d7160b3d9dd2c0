"""The loop of GAM-RHN, with its gradient by hand."""

import keras
from keras import ops

from kerasrnn.layers.gam_through_time import Read
from kerasrnn.layers.gam_through_time import Write
from kerasrnn.layers.gam_through_time import add_skipped
from kerasrnn.layers.gam_through_time import cast_like
from kerasrnn.layers.gam_through_time import keep
from kerasrnn.layers.gam_through_time import let_through
from kerasrnn.layers.gam_through_time import product
from kerasrnn.layers.gam_through_time import split_at
from kerasrnn.layers.through_time import bias_gradient
from kerasrnn.layers.through_time import kernel_gradient
from kerasrnn.layers.through_time import scan_and_save
from kerasrnn.layers.through_time import times_transposed
from kerasrnn.layers.through_time import wide


class GRUStep:
    """The micro-step "gru", forward and back; see `GAMRHNCell`.

    Args:
        kernel: Tensor of shape `(units, units)`, of `r * s`.
    """

    def __init__(self, kernel):
        self.kernel = kernel
        self.units = kernel.shape[0]

    def forward(self, from_read, from_state, state, used):
        """One micro-step.

        Args:
            from_read: The share of what was read in `r, z, h`, with their
                biases, `(batch, 3 * units)`.
            from_state: The share of the state in `r, z`.
            state: The state that is carried, `(batch, units)`.
            used: The state as products take it, dropped.

        Returns:
            The new state, and what `slopes` needs.
        """
        gates = ops.sigmoid(from_read[:, : 2 * self.units] + from_state)
        r, z = ops.split(gates, 2, axis=-1)
        h = from_read[:, 2 * self.units :] + product(r * used, self.kernel)
        h = ops.tanh(h)
        return h + z * (state - h), {"r": r, "z": z, "h": h, "state": state}

    def transpose(self):
        """Prepares for `back`, before its loop."""
        self.kernel_back = times_transposed(self.kernel)

    def slopes(self, saved, used):
        """What takes gradients back, for all steps at once."""
        r, z, h = saved["r"], saved["z"], saved["h"]
        return {
            "r": used * r * (1 - r),
            "z": (saved["state"] - h) * z * (1 - z),
            "h": (1 - z) * (1 - h * h),
            "kept": r,
            "carry": z,
        }

    def back(self, grad, slopes):
        """The gradients of `r, z, h`, and of the state, carried and used."""
        h = grad * slopes["h"]
        kept = wide(self.kernel_back(ops.cast(h, self.kernel.dtype)))
        gates = _join(kept * slopes["r"], grad * slopes["z"], h)
        return gates, grad * slopes["carry"], kept * slopes["kept"]

    def gradient(self, saved, used, gates):
        """The gradient of the kernel, from all steps."""
        kept = ops.cast(saved["r"] * used, self.kernel.dtype)
        return kernel_gradient(kept, gates[..., 2 * self.units :])


class HighwayStep:
    """The micro-step "highway", as `GRUStep` but with `h, t` and no kernel."""

    def forward(self, from_read, from_state, state, used):
        h, t = ops.split(from_read + from_state, 2, axis=-1)
        h, t = ops.tanh(h), ops.sigmoid(t)
        return state + t * (h - state), {"h": h, "t": t, "state": state}

    def transpose(self):
        pass

    def slopes(self, saved, used):
        h, t = saved["h"], saved["t"]
        return {
            "h": t * (1 - h * h),
            "t": (h - saved["state"]) * t * (1 - t),
            "carry": 1 - t,
        }

    def back(self, grad, slopes):
        gates = _join(grad * slopes["h"], grad * slopes["t"])
        return gates, grad * slopes["carry"], 0.0


def gam_rhn_through_time(
    products, state, memory, weights, state_mask=None, mask=None
):
    """Runs GAM-RHN over a sequence; see `GAMRHNCell` for the equations.

    Args:
        products: Tensor of shape
            `(time, batch, head_units + units + num_groups)`, the input's
            share in head, reset gate and candidates, with the biases.
        state: Tensor of shape `(batch, units)`.
        memory: Tensor of shape `(batch, slots, groups)`.
        weights: What `loop_weights` of the cell gave.
        state_mask: Dropout mask of the state, `(batch, units)`, or `None`.
        mask: Tensor of shape `(time, batch, 1)`, 0 where a step is skipped,
            or `None`.

    Returns:
        The states of all steps, of shape `(time, batch, units)`, and the
        last memory.
    """
    depth, units = len(weights["read"]), state.shape[-1]
    head_units = weights["read"][0].shape[0]
    dtype = weights["read"][0].dtype

    def dropped(state):
        return state if state_mask is None else state * state_mask

    def cast(x):
        return ops.cast(x, dtype)

    @ops.custom_gradient
    def run(products, state, memory, weights):
        write = Write(weights)
        reads = [
            Read(weights["read"][layer], weights["read_bias"][layer])
            for layer in range(depth)
        ]
        if "state" in weights:
            inner = [GRUStep(weights["state"][layer]) for layer in range(depth)]
        else:
            inner = [HighwayStep() for _ in range(depth)]
        # One product takes what reads the state at a micro-step: head and
        # gates, and at the first one the reset gate of the write as well.
        from_read, from_state = weights["from_read"], weights["from_state"]
        biases = [weights["bias"][layer] for layer in range(depth)]

        def step(states, inputs):
            state, memory = states
            given, *kept = inputs
            before, saved = states, []
            used = dropped(state)
            head, reset, candidate = split_at(given, head_units, units)
            shared = product(used, from_state[0])
            shared_head, shared_reset, gates = split_at(
                shared, head_units, units
            )
            head = head + shared_head
            memory, at_write = write.forward(
                candidate, head, reset + shared_reset, used, memory
            )
            for layer in range(depth):
                if layer > 0:
                    used = dropped(state)
                    shared = product(used, from_state[layer])
                    head, gates = split_at(shared, head_units)
                value, at_read = reads[layer].forward(head, memory)
                read = product(value, from_read[layer]) + biases[layer]
                state, at_step = inner[layer].forward(read, gates, state, used)
                saved.append((at_read, at_step))
            states = keep((state, memory), before, kept)
            return states, (states[0], (at_write, memory, saved))

        inputs = (products,) if mask is None else (products, mask)
        (_, last_memory), (states, saved) = scan_and_save(
            step, (state, memory), inputs
        )

        def gradient(*upstream):
            upstream, memory_grad = keras.tree.flatten(upstream)
            at_write, memories, at_layers = saved
            used = [dropped(at_step["state"]) for _, at_step in at_layers]
            for part in (write, *reads, *inner):
                part.transpose()
            slopes = [
                step.slopes(at_step, used_by_step)
                for step, (_, at_step), used_by_step in zip(
                    inner, at_layers, used, strict=True
                )
            ]
            from_read_back = [times_transposed(kernel) for kernel in from_read]
            from_state_back = [
                times_transposed(kernel) for kernel in from_state
            ]

            def step_back(grads, inputs):
                upstream, first, at_write, memory, at_reads, slopes, *kept = (
                    inputs
                )
                grad, memory_grad = grads
                (grad, memory_grad), skipped = let_through(
                    (grad + upstream, memory_grad), kept
                )
                emitted = [None] * depth
                for layer in reversed(range(depth)):
                    gates, grad, used = inner[layer].back(grad, slopes[layer])
                    value = wide(from_read_back[layer](cast(gates)))
                    head, through, scores = reads[layer].back(
                        value, at_reads[layer], memory
                    )
                    memory_grad = memory_grad + through
                    if layer > 0:
                        shared = cast(_join(head, gates[:, : 2 * units]))
                        used = used + wide(from_state_back[layer](shared))
                        grad = grad + dropped(used)
                        emitted[layer] = (cast(gates), scores, shared)
                        continue
                    head_w, reset, candidate, used_w, memory_grad, scores_w = (
                        write.back(memory_grad, at_write, first)
                    )
                    head = head + head_w
                    shared = cast(_join(head, reset, gates[:, : 2 * units]))
                    used = used + used_w + wide(from_state_back[0](shared))
                    grad = grad + dropped(used)
                    emitted[0] = (cast(gates), scores, shared)
                written = (_join(head, reset, candidate), scores_w)
                grads = add_skipped((grad, memory_grad), skipped)
                return grads, (written, emitted)

            start = (ops.zeros_like(state), memory_grad)
            at_reads = [at_read for at_read, _ in at_layers]
            inputs = (upstream, used[0], at_write, memories, at_reads, slopes)
            if mask is not None:
                inputs += (mask,)
            grads, (written, emitted) = scan_and_save(
                step_back, start, inputs, reverse=True
            )
            given, scores = written
            candidate = given[..., head_units + units :]
            found = write.gradients(at_write, used[0], candidate, scores)
            found |= {name: [] for name in weights if name not in found}
            for layer in range(depth):
                gates, scores, shared = emitted[layer]
                at_read, at_step = at_layers[layer]
                kernel, bias = reads[layer].gradients(at_read, scores)
                found["read"].append(kernel)
                found["read_bias"].append(bias)
                found["from_read"].append(
                    kernel_gradient(cast(at_read["read"]), gates)
                )
                found["bias"].append(bias_gradient(gates))
                if "state" in weights:
                    found["state"].append(
                        inner[layer].gradient(at_step, used[layer], gates)
                    )
                found["from_state"].append(
                    kernel_gradient(cast(used[layer]), shared)
                )
            found["read_bias"] = ops.stack(found["read_bias"])
            found["bias"] = ops.stack(found["bias"])
            return given, *grads, cast_like(found, weights)

        return (states, last_memory), gradient

    return run(products, state, memory, weights)


def _join(*parts):
    return ops.concatenate(parts, axis=-1)
