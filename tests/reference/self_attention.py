"""A recurrent cell that attends to its own last outputs, in NumPy.

Shapes: `sequence` is `(batch, time, features)`. `step_fn(x, state)` gives the
next state, which is `h` `(batch, units)`, or a tuple that begins with it.
`attend_fn(query, memory)` takes a query `(batch, units)` and a memory
`(batch, places, units)` of one place or more to a context
`(batch, context_dim)`.
"""

import numpy as np

from tests.reference.attention_rnn import hidden


def self_attention(
    sequence,
    state,
    step_fn,
    attend_fn,
    output_kernel=None,
    *,
    window,
    context_dim=None,
):
    """Attend to the h of the last `window` steps, before or after the step.

    Before, without an output kernel:

        c_t = attend(h_{t-1}, (h_{t-window}, ..., h_{t-1}))
        h_t = step([x_t; c_t], h_{t-1})    the output

    After, with the output kernel W_c `(context_dim + units, output_dim)`:

        h_t = step(x_t, h_{t-1})
        c_t = attend(h_t, (h_{t-window}, ..., h_{t-1}))
        h~_t = tanh([c_t; h_t] W_c)    the output

    The memory holds the steps taken, t = 1 on, and so not the state h_0 given
    as `state`. At t = 1 there are none, and c_1 = 0. `context_dim` is units
    unless given. Returns the outputs `(batch, time, units)` or
    `(batch, time, output_dim)`, and the last state (h, not h~).
    """
    sequence = np.asarray(sequence, dtype="float64")
    batch, time, _ = sequence.shape
    if context_dim is None:
        context_dim = hidden(state).shape[-1]

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
            context = attend(hidden(state), memory)
            state = step_fn(np.concatenate([x, context], axis=-1), state)
            output = hidden(state)
        else:
            state = step_fn(x, state)
            context = attend(hidden(state), memory)
            joined = np.concatenate([context, hidden(state)], axis=-1)
            output = np.tanh(joined @ output_kernel)
        past.append(hidden(state))
        outputs.append(output)
    return np.stack(outputs, axis=1), state
