"""One step of the recurrent cells of this package, in NumPy.

Shapes: `x` is `(batch, input_dim)`, `s`, `h` and `c` are `(batch, units)`.
Weights that each layer has its own of are lists, with l = 1..L at the indices
0..L-1. `x_mask` and `s_mask` are the dropout masks, scaled as they are to be
used: 1, or `(batch, input_dim)` and `(batch, units)`. They meet what enters a
kernel, never the state that is carried along.

A group memory `m` is `(batch, N * S)`, N groups (`num_groups`) of S slots
(`group_size`): group i lies at the indices i * S .. i * S + S - 1.

`gains` are the gains of layer normalization by gate, each `(width,)`, or
`None` for no normalization. With them LN(a; g) below is `layer_norm(a, g)`,
without them it is a. N(k) is the key, with `head_norm` divided by its root mean
square.
"""

import numpy as np

from tests.reference.cells import layer_norm
from tests.reference.cells import sigmoid


def _norm(a, gains, gate, layer=None):
    """LN(a; gains of the gate, and of the layer if there are layers)."""
    if gains is None:
        return a
    gain = gains[gate] if layer is None else gains[gate][layer]
    return layer_norm(a, gain)


def rhn_step(
    x,
    s,
    W_h,
    W_t,
    R_h,
    R_t,
    b_h,
    b_t,
    W_c=None,
    R_c=None,
    b_c=None,
    x_mask=1,
    s_mask=1,
    gains=None,
):
    """The next `s` of a recurrent highway network (Zilly et al. 2017).

        s^0 = s, d^l = s_mask * s^l, and for l = 1..L
        h_l = tanh(LN([l = 1] (x_mask * x) W_h + d^{l-1} R_h^l) + b_h^l)
        t_l = sigmoid(LN([l = 1] (x_mask * x) W_t + d^{l-1} R_t^l) + b_t^l)
        c_l = sigmoid(LN([l = 1] (x_mask * x) W_c + d^{l-1} R_c^l) + b_c^l)
              or, without W_c, 1 - t_l
        s^l = h_l * t_l + s^{l-1} * c_l

    `W_*` is `(input_dim, units)`, and the lists `R_*` and `b_*` hold L arrays
    `(units, units)` and `(units,)`. `gains` has the keys "h", "t" and, with
    W_c, "c", each a list of L. Returns s^L `(batch, units)`.
    """
    x = np.asarray(x, dtype="float64") * x_mask
    s = np.asarray(s, dtype="float64")
    for n in range(len(R_h)):
        first = 1 if n == 0 else 0
        d = s * s_mask
        a_h = first * (x @ W_h) + d @ R_h[n]
        a_t = first * (x @ W_t) + d @ R_t[n]
        h = np.tanh(_norm(a_h, gains, "h", n) + b_h[n])
        t = sigmoid(_norm(a_t, gains, "t", n) + b_t[n])
        if W_c is None:
            c = 1 - t
        else:
            a_c = first * (x @ W_c) + d @ R_c[n]
            c = sigmoid(_norm(a_c, gains, "c", n) + b_c[n])
        s = h * t + s * c
    return s


def _group_softmax(scores, num_groups, group_size):
    """Softmax over the slots of each group; each group sums to 1.

    `scores` is `(batch, N * S)`, the result is `(batch, N, S)`.
    """
    scores = np.reshape(scores, (-1, num_groups, group_size))
    exps = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return exps / np.sum(exps, axis=-1, keepdims=True)


def _head(k, head_norm):
    """N(k): k, or k divided by its root mean square."""
    if not head_norm:
        return k
    return k / np.sqrt(np.mean(k**2, axis=-1, keepdims=True) + 1e-6)


def gam_write(
    x,
    s,
    m,
    W_k,
    W_a,
    W_r,
    b_r,
    W_m,
    b_m,
    num_groups,
    group_size,
    x_mask=1,
    s_mask=1,
    gains=None,
    head_norm=False,
):
    """The key and the next memory of a group memory.

        y = x_mask * x, d = s_mask * s
        k = [y; d] W_k
        a = softmax over the slots of each group of N(k) W_a
        r = sigmoid(LN([y; d] W_r) + b_r)
        u = tanh(LN([y; r * d] W_m) + b_m)
        m_ij = (1 - a_ij) * m_ij + a_ij * u_i    for group i, slot j

    `W_k` is `(input_dim + units, key_dim)`, `W_a` is `(key_dim, N * S)`,
    `W_r` is `(input_dim + units, units)`, `W_m` is `(input_dim + units, N)`.
    `gains` has the keys "r" and "m". Returns k `(batch, key_dim)` and m
    `(batch, N * S)`.
    """
    y = np.asarray(x, dtype="float64") * x_mask
    d = np.asarray(s, dtype="float64") * s_mask
    m = np.asarray(m, dtype="float64")
    yd = np.concatenate([y, d], axis=-1)
    k = yd @ W_k
    a = _group_softmax(_head(k, head_norm) @ W_a, num_groups, group_size)
    r = sigmoid(_norm(yd @ W_r, gains, "r") + b_r)
    yrd = np.concatenate([y, r * d], axis=-1)
    u = np.tanh(_norm(yrd @ W_m, gains, "m") + b_m)
    m_new = np.zeros_like(m)
    for i in range(num_groups):
        for j in range(group_size):
            ij = i * group_size + j
            m_new[:, ij] = (1 - a[:, i, j]) * m[:, ij] + a[:, i, j] * u[:, i]
    return k, m_new


def gam_read(k, m, W_a, b_a, num_groups, group_size, head_norm=False):
    """What a key reads from a group memory.

        a = softmax over the slots of each group of N(k) W_a + b_a
        v_i = sum_j a_ij m_ij    for group i, slots j

    `k` is `(batch, key_dim)`, `W_a` is `(key_dim, N * S)`, `b_a` is
    `(N * S,)`. Returns v `(batch, N)`.
    """
    k = np.asarray(k, dtype="float64")
    m = np.asarray(m, dtype="float64")
    scores = _head(k, head_norm) @ W_a + b_a
    a = _group_softmax(scores, num_groups, group_size)
    v = np.zeros((len(k), num_groups))
    for i in range(num_groups):
        for j in range(group_size):
            v[:, i] += a[:, i, j] * m[:, i * group_size + j]
    return v


def gam_step(
    x,
    s,
    m,
    write,
    read,
    num_groups,
    group_size,
    x_mask=1,
    s_mask=1,
    gains=None,
    head_norm=False,
):
    """The next `s` and `m` of a cell whose state is what it reads.

        k, m = gam_write(x, s, m)
        s = gam_read(k, m)    with the same k and the new m

    `s` is `(batch, N)`. `write` is a dict of W_k, W_a, W_r, b_r, W_m, b_m as
    in `gam_write`, whose `gains` these are; `read` is a dict of its own W_a
    and b_a as in `gam_read`. Returns `(s, m)`.
    """
    k, m = gam_write(
        x,
        s,
        m,
        num_groups=num_groups,
        group_size=group_size,
        x_mask=x_mask,
        s_mask=s_mask,
        gains=gains,
        head_norm=head_norm,
        **write,
    )
    sizes = num_groups, group_size, head_norm
    return gam_read(k, m, read["W_a"], read["b_a"], *sizes), m


def _inner_gru(v, s, s_mask, weights, gains, n):
    """Layer n + 1 of `gam_rhn_step` with the inner cell "gru"."""
    d = s * s_mask
    vd = np.concatenate([v, d], axis=-1)
    a_r = vd @ weights["W_r"][n]
    a_z = vd @ weights["W_z"][n]
    r = sigmoid(_norm(a_r, gains, "r", n) + weights["b_r"][n])
    z = sigmoid(_norm(a_z, gains, "z", n) + weights["b_z"][n])
    vrd = np.concatenate([v, r * d], axis=-1)
    a_s = vrd @ weights["W_s"][n]
    g = np.tanh(_norm(a_s, gains, "s", n) + weights["b_s"][n])
    return z * s + (1 - z) * g


def _inner_highway(v, s, s_mask, weights, gains, n):
    """Layer n + 1 of `gam_rhn_step` with the inner cell "highway"."""
    d = s * s_mask
    vd = np.concatenate([v, d], axis=-1)
    a_h = vd @ weights["W_h"][n]
    a_t = vd @ weights["W_t"][n]
    h = np.tanh(_norm(a_h, gains, "h", n) + weights["b_h"][n])
    t = sigmoid(_norm(a_t, gains, "t", n) + weights["b_t"][n])
    return h * t + s * (1 - t)


def gam_rhn_step(
    x,
    s,
    m,
    write,
    read,
    inner,
    num_groups,
    group_size,
    inner_cell="gru",
    x_mask=1,
    s_mask=1,
    write_gains=None,
    inner_gains=None,
    head_norm=False,
):
    """The next `s` and `m` of a deep cell with a group memory.

        k_1, m = gam_write(x, s, m)
        s^0 = s, d^l = s_mask * s^l, and for l = 1..L
        k_l = d^{l-1} W_k^l    for l > 1
        v_l = gam_read(k_l, m, W_a^l, b_a^l)    from the new m

    and then, with the inner cell "gru",

        r = sigmoid(LN([v_l; d^{l-1}] W_r^l) + b_r^l)
        z = sigmoid(LN([v_l; d^{l-1}] W_z^l) + b_z^l)
        g = tanh(LN([v_l; r * d^{l-1}] W_s^l) + b_s^l)
        s^l = z * s^{l-1} + (1 - z) * g

    or, with the inner cell "highway",

        h = tanh(LN([v_l; d^{l-1}] W_h^l) + b_h^l)
        t = sigmoid(LN([v_l; d^{l-1}] W_t^l) + b_t^l)
        s^l = h * t + s^{l-1} * (1 - t)

    Each group of weights is a dict:

    - `write`: W_k, W_a, W_r, b_r, W_m, b_m as in `gam_write`, whose `gains`
      are `write_gains`, with the keys "r" and "m".
    - `read`: the lists W_k of the L - 1 arrays W_k^2..W_k^L
      `(units, key_dim)`, W_a of L `(key_dim, N * S)`, b_a of L `(N * S,)`.
    - `inner`: lists of L arrays, W_r, W_z, W_s and b_r, b_z, b_s, or W_h, W_t
      and b_h, b_t; a W is `(N + units, units)`, a b `(units,)`. `inner_gains`
      has the keys "r", "z", "s", or "h", "t", each a list of L.

    Returns s^L `(batch, units)` and m `(batch, N * S)`.
    """
    inner_step = {"gru": _inner_gru, "highway": _inner_highway}[inner_cell]
    s = np.asarray(s, dtype="float64")
    k, m = gam_write(
        x,
        s,
        m,
        num_groups=num_groups,
        group_size=group_size,
        x_mask=x_mask,
        s_mask=s_mask,
        gains=write_gains,
        head_norm=head_norm,
        **write,
    )
    for n in range(len(read["W_a"])):
        if n > 0:
            k = (s * s_mask) @ read["W_k"][n - 1]
        sizes = num_groups, group_size, head_norm
        v = gam_read(k, m, read["W_a"][n], read["b_a"][n], *sizes)
        s = inner_step(v, s, s_mask, inner, inner_gains, n)
    return s, m


def peephole_lstm_step(x, h, c, W, U, b, p_i, p_f, p_o):
    """The next `h` and `c` of an LSTM whose gates see the cell.

        i = sigmoid(x W_i + h U_i + p_i * c + b_i)
        f = sigmoid(x W_f + h U_f + p_f * c + b_f)
        g = tanh(x W_c + h U_c + b_c)
        c' = f * c + i * g
        o = sigmoid(x W_o + h U_o + p_o * c' + b_o)    with the new c'
        h' = o * tanh(c')

    `W`, `U` and `b` are dicts with the keys "i", "f", "c", "o" and arrays
    `(input_dim, units)`, `(units, units)` and `(units,)`; `p_i`, `p_f` and
    `p_o` are `(units,)`. Returns `(h', c')`, each `(batch, units)`.
    """
    x, h = np.asarray(x, dtype="float64"), np.asarray(h, dtype="float64")
    c = np.asarray(c, dtype="float64")
    i = sigmoid(x @ W["i"] + h @ U["i"] + p_i * c + b["i"])
    f = sigmoid(x @ W["f"] + h @ U["f"] + p_f * c + b["f"])
    g = np.tanh(x @ W["c"] + h @ U["c"] + b["c"])
    c = f * c + i * g
    o = sigmoid(x @ W["o"] + h @ U["o"] + p_o * c + b["o"])
    return o * np.tanh(c), c


def slstm_step(
    x,
    h,
    c,
    n,
    m,
    W,
    R,
    b,
    forget_gate="sigmoid",
    x_mask=1,
    s_mask=1,
    gains=None,
):
    """The next `h`, `c`, `n` and `m` of an sLSTM (Beck et al. 2024).

        a_g = LN((x_mask * x) W_g + (s_mask * h) R_g) + b_g    for i, f, z, o
        l = log sigmoid(a_f), or a_f with the forget gate "exp"
        m' = max(l + m, a_i)
        i' = exp(a_i - m')
        f' = exp(l + m - m')
        c' = f' * c + i' * tanh(a_z)
        n' = f' * n + i'
        h' = sigmoid(a_o) * c' / n'

    Where n <= 0, nothing was seen yet, and m counts as minus infinity. `W`,
    `R`, `b` and `gains` are dicts with the keys "i", "f", "z", "o". Returns
    `(h', c', n', m')`, each `(batch, units)`.
    """
    x, h, c, n, m = (np.asarray(a, dtype="float64") for a in (x, h, c, n, m))
    x, h = x * x_mask, h * s_mask
    a = {g: _norm(x @ W[g] + h @ R[g], gains, g) + b[g] for g in "ifzo"}
    log_f = a["f"] if forget_gate == "exp" else np.log(sigmoid(a["f"]))
    m = np.where(n > 0, m, -np.inf)
    m_new = np.maximum(log_f + m, a["i"])
    i = np.exp(a["i"] - m_new)
    f = np.exp(log_f + m - m_new)
    c = f * c + i * np.tanh(a["z"])
    n = f * n + i
    return sigmoid(a["o"]) * c / n, c, n, m_new


def min_gru_step(x, h, W_z, W_g, b_z, b_g, log_space=False, gains=None):
    """The next `h` of a minGRU (Feng et al. 2024).

        z = sigmoid(LN(x W_z) + b_z)
        g = LN(x W_g) + b_g
        h' = (1 - z) * h + z * g

    In log space the candidate is `min_candidate(g)`. `W_*` is
    `(input_dim, units)`, `b_*` is `(units,)`. `gains` has the keys "z" and
    "g". Returns h' `(batch, units)`.
    """
    x, h = np.asarray(x, dtype="float64"), np.asarray(h, dtype="float64")
    z = sigmoid(_norm(x @ W_z, gains, "z") + b_z)
    g = _norm(x @ W_g, gains, "g") + b_g
    g = min_candidate(g) if log_space else g
    return (1 - z) * h + z * g


def min_lstm_step(
    x, h, W_i, W_f, W_g, b_i, b_f, b_g, log_space=False, gains=None
):
    """The next `h` of a minLSTM (Feng et al. 2024).

        i = sigmoid(LN(x W_i) + b_i)
        f = sigmoid(LN(x W_f) + b_f)
        g = LN(x W_g) + b_g
        h' = f / (f + i) * h + i / (f + i) * g

    The arguments are like those of `min_gru_step`.
    """
    x, h = np.asarray(x, dtype="float64"), np.asarray(h, dtype="float64")
    i = sigmoid(_norm(x @ W_i, gains, "i") + b_i)
    f = sigmoid(_norm(x @ W_f, gains, "f") + b_f)
    g = _norm(x @ W_g, gains, "g") + b_g
    g = min_candidate(g) if log_space else g
    return f / (f + i) * h + i / (f + i) * g


def min_candidate(x):
    """x + 0.5 where x >= 0, sigmoid(x) elsewhere (Feng et al. 2024)."""
    return np.where(x >= 0, x + 0.5, sigmoid(x))


def rg_lru_step(x, h, W_r, W_i, b_r, b_i, decay, gains=None):
    """The next `h` of an RG-LRU (De et al. 2024).

        r = sigmoid(LN(x W_r) + b_r)
        i = sigmoid(LN(x W_i) + b_i)
        a = sigmoid(decay)^(8 r)
        h' = a * h + sqrt(1 - a^2) * (i * x)

    `x` and `decay` are as wide as `h`. Returns h' `(batch, units)`.
    """
    x, h = np.asarray(x, dtype="float64"), np.asarray(h, dtype="float64")
    r = sigmoid(_norm(x @ W_r, gains, "r") + b_r)
    i = sigmoid(_norm(x @ W_i, gains, "i") + b_i)
    a = sigmoid(decay) ** (8 * r)
    return a * h + np.sqrt(1 - a**2) * (i * x)


def finite_differences(function, array, cotangent, epsilon=1e-6):
    """The gradient of sum(function() * cotangent) by central differences.

        (L(array_i + epsilon) - L(array_i - epsilon)) / (2 * epsilon)
        with L = sum(function() * cotangent)

    `function` takes nothing and reads `array` (float64), each entry of which
    is changed in place and put back. `cotangent` has the shape of what
    `function` returns. Returns the gradient, of the shape of `array`.
    """
    assert array.dtype == "float64"
    gradient = np.zeros_like(array)
    for i in np.ndindex(array.shape):
        value = array[i]
        array[i] = value + epsilon
        above = np.sum(function() * cotangent)
        array[i] = value - epsilon
        below = np.sum(function() * cotangent)
        array[i] = value
        gradient[i] = (above - below) / (2 * epsilon)
    return gradient
