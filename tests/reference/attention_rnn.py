"""A recurrent cell that attends to a memory, in NumPy.

Shapes: `sequence` is `(batch, time, features)`, `memory` is
`(batch, positions, memory_dim)`, `mask` is `(batch, positions)` or `None`.
`attend_fn(query)` takes a query `(batch, query_dim)` to a context
`(batch, context_dim)` and weights `(batch, positions)`; it holds the memory and
the mask itself, which the functions below need only to check the weights.
`step_fn(x, h)` gives the next state. A state is `h` `(batch, units)`, or a
tuple that begins with it, such as the `(h, c)` of an LSTM.
"""

import numpy as np


def hidden(state):
    """The part of the state that is the cell's output, `(batch, units)`."""
    return state[0] if isinstance(state, tuple) else state


def check_weights(weights, memory, mask):
    """Every position of the memory has a weight, a masked one 0."""
    assert weights.shape[0] == memory.shape[0]
    assert weights.shape[-1] == memory.shape[1]
    if mask is not None:
        for b in range(len(mask)):
            masked = ~np.asarray(mask[b], dtype=bool)
            assert np.all(weights[b][..., masked] == 0)


def attention_before(sequence, h0, memory, mask, attend_fn, step_fn):
    """Attend with the last state, then step (Bahdanau et al. 2015).

        c_t, a_t = attend(h_{t-1})
        h_t = step([x_t; c_t], h_{t-1})

    Returns the outputs h_t `(batch, time, units)`, the last state, and the
    weights a_t `(batch, time, positions)`.
    """
    sequence = np.asarray(sequence, dtype="float64")
    h = h0
    outputs, all_weights = [], []
    for t in range(sequence.shape[1]):
        context, weights = attend_fn(hidden(h))
        check_weights(weights, memory, mask)
        x = np.concatenate([sequence[:, t], context], axis=-1)
        h = step_fn(x, h)
        outputs.append(hidden(h))
        all_weights.append(weights)
    return np.stack(outputs, axis=1), h, np.stack(all_weights, axis=1)


def attention_after(
    sequence,
    h0,
    memory,
    mask,
    attend_fn,
    step_fn,
    output_kernel,
    input_feeding=False,
    fed0=None,
):
    """Step, then attend with the new state (Luong et al. 2015).

        h_t = step(x_t, h_{t-1})    or, with input feeding,
        h_t = step([x_t; h~_{t-1}], h_{t-1})
        c_t, a_t = attend(h_t)
        h~_t = tanh([c_t; h_t] W_c)

    `output_kernel` W_c is `(context_dim + units, output_dim)`. `fed0`
    `(batch, output_dim)` is h~_0, zeros unless given. Returns the outputs
    h~_t `(batch, time, output_dim)`, the last state (h, not h~), and the
    weights a_t `(batch, time, positions)`.
    """
    sequence = np.asarray(sequence, dtype="float64")
    output_kernel = np.asarray(output_kernel, dtype="float64")
    h = h0
    fed = fed0
    if fed is None:
        fed = np.zeros((sequence.shape[0], output_kernel.shape[-1]))
    outputs, all_weights = [], []
    for t in range(sequence.shape[1]):
        x = sequence[:, t]
        if input_feeding:
            x = np.concatenate([x, fed], axis=-1)
        h = step_fn(x, h)
        context, weights = attend_fn(hidden(h))
        check_weights(weights, memory, mask)
        joined = np.concatenate([context, hidden(h)], axis=-1)
        fed = np.tanh(joined @ output_kernel)
        outputs.append(fed)
        all_weights.append(weights)
    return np.stack(outputs, axis=1), h, np.stack(all_weights, axis=1)
