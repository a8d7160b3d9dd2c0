"""One step of Keras's GRU and LSTM, in NumPy.

Shapes: `x` is `(batch, input_dim)`, `h` and `c` are `(batch, units)`,
`kernel` is `(input_dim, gates * units)`, `recurrent_kernel` is
`(units, gates * units)`.
"""

import numpy as np


def sigmoid(x):
    """1 / (1 + exp(-x)), without overflow."""
    return np.exp(-np.logaddexp(0.0, -x))


def layer_norm(a, gain, epsilon=1e-3):
    """(a - mean) / sqrt(var + epsilon) * gain, over the last axis.

    `a` is `(..., width)`, `gain` is `(width,)`. There is no bias.
    """
    a = np.asarray(a, dtype="float64")
    mean = np.mean(a, axis=-1, keepdims=True)
    var = np.mean((a - mean) ** 2, axis=-1, keepdims=True)
    return (a - mean) / np.sqrt(var + epsilon) * gain


def gru_step(
    x, h, kernel, recurrent_kernel, bias, reset_after=False, gains=None
):
    """The next `h` `(batch, units)`; gates in the order z, r, h.

        z = sigmoid(x W_z + h U_z + b_z)
        r = sigmoid(x W_r + h U_r + b_r)
        g = tanh(x W_h + (r * h) U_h + b_h)
        h = z * h + (1 - z) * g

    `bias` is `(3 * units,)`. With `reset_after` it is `(2, 3 * units)`, row
    0 for the input and row 1, d, for the state, and

        g = tanh(x W_h + b_h + r * (h U_h + d_h))

    With `gains`, `(3, units)`, it has `reset_after`, and

        z = sigmoid(LN(x W_z + h U_z) + b_z + d_z)    so r
        g = tanh(LN(x W_h + r * (h U_h + d_h)) + b_h)
    """
    x, h = np.asarray(x, dtype="float64"), np.asarray(h, dtype="float64")
    w_z, w_r, w_h = np.split(np.asarray(kernel, "float64"), 3, axis=-1)
    u_z, u_r, u_h = np.split(np.asarray(recurrent_kernel, "float64"), 3, -1)
    biases = np.split(np.asarray(bias, dtype="float64"), 3, axis=-1)
    if gains is not None:
        (b_z, d_z), (b_r, d_r), (b_h, d_h) = biases
        z = sigmoid(layer_norm(x @ w_z + h @ u_z, gains[0]) + b_z + d_z)
        r = sigmoid(layer_norm(x @ w_r + h @ u_r, gains[1]) + b_r + d_r)
        g = layer_norm(x @ w_h + r * (h @ u_h + d_h), gains[2])
        g = np.tanh(g + b_h)
    elif reset_after:
        (b_z, d_z), (b_r, d_r), (b_h, d_h) = biases
        z = sigmoid(x @ w_z + b_z + h @ u_z + d_z)
        r = sigmoid(x @ w_r + b_r + h @ u_r + d_r)
        g = np.tanh(x @ w_h + b_h + r * (h @ u_h + d_h))
    else:
        b_z, b_r, b_h = biases
        z = sigmoid(x @ w_z + h @ u_z + b_z)
        r = sigmoid(x @ w_r + h @ u_r + b_r)
        g = np.tanh(x @ w_h + (r * h) @ u_h + b_h)
    return z * h + (1 - z) * g


def lstm_step(x, h, c, kernel, recurrent_kernel, bias, gains=None):
    """The next `h` and `c`; gates in the order i, f, c, o.

        i, f, o = sigmoid(x W + h U + b)    each with its own weights
        g = tanh(x W_c + h U_c + b_c)
        c = f * c + i * g
        h = o * tanh(c)

    With `gains`, `(4, units)`, x W + h U becomes LN(x W + h U) for each gate.
    `bias` is `(4 * units,)`. Returns `(h, c)`, each `(batch, units)`.
    """
    x, h = np.asarray(x, dtype="float64"), np.asarray(h, dtype="float64")
    c = np.asarray(c, dtype="float64")
    w_i, w_f, w_c, w_o = np.split(np.asarray(kernel, "float64"), 4, axis=-1)
    u_i, u_f, u_c, u_o = np.split(
        np.asarray(recurrent_kernel, dtype="float64"), 4, axis=-1
    )
    b_i, b_f, b_c, b_o = np.split(np.asarray(bias, dtype="float64"), 4)
    products = [
        x @ w_i + h @ u_i,
        x @ w_f + h @ u_f,
        x @ w_c + h @ u_c,
        x @ w_o + h @ u_o,
    ]
    if gains is not None:
        products = map(layer_norm, products, gains)
    i, f, g, o = products
    i, f, g = sigmoid(i + b_i), sigmoid(f + b_f), np.tanh(g + b_c)
    o = sigmoid(o + b_o)
    c = f * c + i * g
    return o * np.tanh(c), c
