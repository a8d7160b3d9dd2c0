"""A recurrent cell that attends to its own last outputs, in NumPy.

Shapes: `sequence` is `(batch, time, features)`. `step_fn(x, state)` gives the
output `h` `(batch, units)` of a step and the next state, of any kind.
`attend_fn(query, memory)` takes a query `(batch, units)` and a memory
`(batch, positions, units)` of one position or more to a context
`(batch, context_dim)`.
"""

import numpy as np


def self_attention(
    sequence,
    state,
    step_fn,
    attend_fn,
    output_kernel=None,
    *,
    window,
    context_dim,
):
    """Attend to the h of the last `window` steps, before or after the step.

    Before, without an output kernel:

        c_t = attend(h_{t-1}, (h_{t-window}, ..., h_{t-1}))
        h_t, s_t = step([x_t; c_t], s_{t-1})    the output h_t

    After, with the output kernel W_c `(context_dim + units, output_dim)`:

        h_t, s_t = step(x_t, s_{t-1})
        c_t = attend(h_t, (h_{t-window}, ..., h_{t-1}))
        h~_t = tanh([c_t; h_t] W_c)    the output

    The memory holds the outputs of the steps taken. At t = 1 there are none,
    and c_1 = 0. Returns the outputs `(batch, time, units)` or
    `(batch, time, output_dim)`, the `h` of all steps, and the last state.
    """
    sequence = np.asarray(sequence, dtype="float64")
    batch, time, _ = sequence.shape

    def attend(query, memory):
        if not memory:
            return np.zeros((batch, context_dim))
        context = attend_fn(query, np.stack(memory, axis=1))
        assert context.shape == (batch, context_dim)
        return context

    past, outputs = [], []  # past: the h of every step taken
    for t in range(time):
        x = sequence[:, t]
        memory = past[max(0, t - window) : t]
        if output_kernel is None:
            context = attend(past[-1] if past else None, memory)
            h, state = step_fn(np.concatenate([x, context], axis=-1), state)
            output = h
        else:
            h, state = step_fn(x, state)
            context = attend(h, memory)
            output = np.tanh(np.concatenate([context, h], -1) @ output_kernel)
        past.append(h)
        outputs.append(output)
    return np.stack(outputs, axis=1), np.stack(past, axis=1), state
