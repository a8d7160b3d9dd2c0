"""The loop of a recurrent highway network, with its gradient by hand."""

import keras
from keras import ops

from kerasrnn.layers.through_time import bias_gradient
from kerasrnn.layers.through_time import kernel_gradient
from kerasrnn.layers.through_time import scan_and_save
from kerasrnn.layers.through_time import times_transposed
from kerasrnn.layers.through_time import wide


def rhn_through_time(
    products, state, kernels, bias, state_mask=None, mask=None
):
    """Runs the micro-steps of all steps; see `RHNCell` for the equations.

    Args:
        products: Tensor of shape `(time, batch, gates * units)`, the input's
            share in the preactivations of the first micro-step, with its
            biases. Two gates are `h, t`; a third is the carry gate.
        state: Tensor of shape `(batch, units)`.
        kernels: Recurrent kernel of each micro-step, of shape
            `(units, gates * units)`, in the dtype of the products.
        bias: Tensor of shape `(depth - 1, gates * units)`, of the other
            micro-steps.
        state_mask: Dropout mask of the state, `(batch, units)`, or `None`.
        mask: Tensor of shape `(time, batch, 1)`, 0 where a step is skipped,
            or `None`.

    Returns:
        The states of all steps, of shape `(time, batch, units)`.
    """
    depth = len(kernels)
    units, width = kernels[0].shape
    num_gates = width // units
    dtype = kernels[0].dtype

    def fed(state):
        """The state as a product takes it, dropped and in its dtype."""
        if state_mask is not None:
            state = state * ops.cast(state_mask, state.dtype)
        return ops.cast(state, dtype)

    @ops.custom_gradient
    def run(products, state, kernels, bias):
        biases = [bias[layer] for layer in range(depth - 1)]

        def step(state, inputs):
            given, *kept = inputs
            before, saved = state, []
            for layer in range(depth):
                gates = wide(ops.matmul(fed(state), kernels[layer]))
                gates += biases[layer - 1] if layer else given
                h = ops.tanh(gates[:, :units])
                others = ops.sigmoid(gates[:, units:])
                saved.append((state, h, others))
                if num_gates == 2:
                    state = state + others * (h - state)
                else:
                    t, c = ops.split(others, 2, axis=-1)
                    state = h * t + state * c
            if kept:
                state = before + kept[0] * (state - before)
            return state, (state, saved)

        inputs = (products,) if mask is None else (products, mask)
        _, (states, saved) = scan_and_save(step, state, inputs)

        def gradient(*upstream):
            (upstream,) = keras.tree.flatten(upstream)
            slopes = [_slopes(*layer, num_gates) for layer in saved]
            back = [times_transposed(kernel) for kernel in kernels]

            def step_back(grad, inputs):
                upstream, slopes, *kept = inputs
                grad = grad + upstream
                skipped = 0.0
                if kept:
                    skipped = (1 - kept[0]) * grad
                    grad = kept[0] * grad
                emitted = [None] * depth
                for layer in reversed(range(depth)):
                    slope, carry = slopes[layer]
                    gates = ops.expand_dims(grad, 1) * slope
                    gates = ops.cast(ops.reshape(gates, (-1, width)), dtype)
                    emitted[layer] = gates
                    through = wide(back[layer](gates))
                    if state_mask is not None:
                        through *= ops.cast(state_mask, through.dtype)
                    grad = grad * carry + through
                return grad + skipped, emitted

            start = ops.zeros_like(state)
            inputs = (upstream, slopes, *([] if mask is None else [mask]))
            grad, gates = scan_and_save(step_back, start, inputs, reverse=True)
            kernel_gradients = [
                ops.cast(kernel_gradient(fed(at[0]), of_layer), dtype)
                for at, of_layer in zip(saved, gates, strict=True)
            ]
            return (
                wide(gates[0]),
                grad,
                kernel_gradients,
                _stack([bias_gradient(g) for g in gates[1:]], bias),
            )

        return states, gradient

    return run(products, state, kernels, bias)


def _slopes(state, h, others, num_gates):
    """What takes the gradient of s_l to its gates and to s_{l-1}.

    Computed for all steps at once, so that the loop has one product to take.

    Returns:
        Tensors of shapes `(time, batch, gates, units)` and
        `(time, batch, units)`.
    """
    if num_gates == 2:
        t, carry = others, 1 - others
        slopes = [t * (1 - h * h), (h - state) * t * carry]
    else:
        t, carry = ops.split(others, 2, axis=-1)
        slopes = [t * (1 - h * h), h * t * (1 - t), state * carry * (1 - carry)]
    return ops.stack(slopes, axis=2), carry


def _stack(gradients, like):
    return ops.stack(gradients) if gradients else ops.zeros_like(like)
