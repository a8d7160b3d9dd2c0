"""SegRNN (Lin et al. 2023) in NumPy, one column of one series at a time.

    z_t = (x_t - mean) / deviation - (x_L - mean) / deviation
    e_i = ReLU(z_i W + b)                         segment i of the window
    h_i = cell(e_i, h_{i-1})
    y_j = cell([p_j; c] + k_j K + s S, h_n) V + v at once
    y_j = h_{n+j-1} V + v                         one by one

One by one, y_j is read as segment n + j, and c, and what is known of the next
segment, are added to every e_i before the ReLU.
"""

import numpy as np


def forecast(past, step, state, weights, unit, segment, horizon):
    """The forecast of one column, `(horizon,)`, in the units of the column.

    Args:
        past: Array of shape `(time,)`, whole segments without missing values.
        step: Function `(x, state) -> state` of arrays of one row.
        state: The first state, a tuple of such arrays.
        weights: Dictionary of `W`, `b`, `V`, `v` and of `c`, the embedding of
            the column; of `p`, those of positions at once; and of `known`, what
            is added to each segment, `(segments, width)`.
        unit: The deviation of the column.
        segment, horizon: Integers.
    """
    w = weights
    last = past[-1]
    z = ((past - last) / unit).reshape(-1, segment)
    ahead = -(-horizon // segment)
    at_once = "p" in w
    extra = w["known"] if at_once else w["known"][1:] + w["c"]
    for i, values in enumerate(z):
        x = np.maximum(values @ w["W"] + w["b"] + extra[i], 0)
        state = step(x[None], state)
    found = []
    for j in range(ahead):
        if at_once:
            x = np.concatenate([w["p"][j], w["c"]]) + extra[len(z) + j]
            y = step(x[None], state)[0][0] @ w["V"] + w["v"]
        else:
            y = state[0][0] @ w["V"] + w["v"]
            if j + 1 < ahead:
                more = extra[len(z) + j]
                x = np.maximum(y @ w["W"] + w["b"] + more, 0)
                state = step(x[None], state)
        found.append(y)
    return last + unit * np.concatenate(found)[:horizon]
