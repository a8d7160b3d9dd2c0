"""The oracles, with the weights of the layers they check."""

import numpy as np

from kerasrnn.layers import positive
from tests.reference import cells
from tests.reference import recurrent_cells


def weights_of(layer):
    """The weights of a layer, in float64."""
    return [np.asarray(w, "float64") for w in layer.get_weights()]


def named_weights_of(layer):
    """The weights of a layer by their names, in float64."""
    return {
        weight.name: np.array(value, "float64")
        for weight, value in zip(
            layer.weights, layer.get_weights(), strict=True
        )
    }


def step_of(cell, **masks):
    """`step(x, state) -> state` of a cell.

    A state begins with the output: `h`, `(h, c)`, or for stacked GRUs the
    `h` of the last of them first. It is a tuple for the cells of this package.
    """
    if type(cell).__name__ in OURS:
        return step_with(cell, named_weights_of(cell), **masks)
    if hasattr(cell, "cells"):
        steps = [step_of(inner) for inner in cell.cells]

        def stacked(x, states):
            new = []
            for step, state in zip(steps, reversed(states), strict=True):
                x = step(x, state)
                new.insert(0, x)
            return tuple(new)

        return stacked
    weights = weights_of(cell)
    if type(cell).__name__ == "LSTMCell":
        return lambda x, state: cells.lstm_step(x, *state, *weights)
    return lambda x, h: cells.gru_step(
        x, h, *weights, reset_after=cell.reset_after
    )


def step_with(cell, weights, **masks):
    """`step(x, state) -> state` of a cell of this package.

    Args:
        cell: The cell, of which the options are taken.
        weights: What `named_weights_of` gave, or other such values.
        **masks: Dropout masks `x_mask` and `s_mask`.
    """
    return OURS[type(cell).__name__](cell, weights, **masks)


def run(step, sequence, state):
    """Outputs of all steps and the last state, from what `step_of` gave."""
    outputs = []
    for x in np.swapaxes(sequence, 0, 1):
        state = step(x, state)
        outputs.append(state[0])
    return np.stack(outputs, 1), state


def _layers(weights, name):
    """The weights `name_0`, `name_1` and so on, `(layers, ...)`."""
    count = sum(other.startswith(f"{name}_") for other in weights)
    return np.array([weights[f"{name}_{layer}"] for layer in range(count)])


def _by_gate(gates, weight):
    """A dict of what lies side by side on the last axis."""
    return dict(zip(gates, np.split(weight, len(gates), -1), strict=True))


def _gains(gates, weight):
    """A dict of the gains `(..., gates, units)`, or `None` without them."""
    if weight is None:
        return None
    return {gate: weight[..., i, :] for i, gate in enumerate(gates)}


def _rhn(cell, weights, **masks):
    gates = "ht" if cell.couple_carry else "htc"
    by_letter = {
        "W": weights["kernel"],
        "R": _layers(weights, "recurrent_kernel"),
        "b": weights["bias"],
    }
    named = {
        f"{letter}_{gate}": value
        for letter, weight in by_letter.items()
        for gate, value in _by_gate(gates, weight).items()
    }
    gains = _gains(gates, weights.get("gains"))
    return lambda x, state: (
        recurrent_cells.rhn_step(x, *state, **named, gains=gains, **masks),
    )


def _write(weights):
    return {
        "W_k": weights["head_kernel"],
        "W_a": weights["write_kernel"],
        "W_r": weights["reset_kernel"],
        "b_r": weights["reset_bias"],
        "W_m": weights["candidate_kernel"],
        "b_m": weights["candidate_bias"],
    }


def _write_gains(weights):
    if "reset_gains" not in weights:
        return None
    return {
        "r": weights["reset_gains"][0],
        "m": weights["candidate_gains"][0],
    }


def _gam(cell, weights, **masks):
    read = {"W_a": weights["read_kernel_0"], "b_a": weights["read_bias"][0]}
    return lambda x, state: recurrent_cells.gam_step(
        x,
        *state,
        _write(weights),
        read,
        cell.num_groups,
        cell.group_size,
        gains=_write_gains(weights),
        head_norm=cell.head_norm,
        **masks,
    )


def _gam_rhn(cell, weights, **masks):
    read = {
        "W_k": _layers(weights, "next_head_kernel"),
        "W_a": _layers(weights, "read_kernel"),
        "b_a": weights["read_bias"],
    }
    gates = {"gru": "rz", "highway": "ht"}[cell.inner]
    kernels = _by_gate(gates, _layers(weights, "gate_kernel"))
    biases = _by_gate(gates, weights["gate_bias"])
    gains = _gains(gates, weights.get("gate_gains"))
    if cell.inner == "gru":
        kernels["s"] = _layers(weights, "state_kernel")
        biases["s"] = weights["state_bias"]
        if gains is not None:
            gains["s"] = weights["state_gains"][:, 0]
    inner = {
        **{f"W_{gate}": kernel for gate, kernel in kernels.items()},
        **{f"b_{gate}": bias for gate, bias in biases.items()},
    }
    return lambda x, state: recurrent_cells.gam_rhn_step(
        x,
        *state,
        _write(weights),
        read,
        inner,
        cell.num_groups,
        cell.group_size,
        cell.inner,
        write_gains=_write_gains(weights),
        inner_gains=gains,
        head_norm=cell.head_norm,
        **masks,
    )


def _peephole_lstm(cell, weights, x_mask=1, s_mask=1):
    W = _by_gate("ifco", weights["kernel"])
    U = _by_gate("ifco", weights["recurrent_kernel"])
    b = _by_gate("ifco", weights["bias"])
    gains = _gains("ifco", weights.get("gains"))

    def step(x, state):
        # Here `h` meets nothing but kernels, and the oracle knows no masks.
        x, h, c = x * x_mask, state[0] * s_mask, state[1]
        if gains is None:
            products, kernels, nothing = x, W, U
        else:
            # Nor does it know gains: it is given the normalized products of
            # all gates as an input, from which a kernel picks those of one.
            products = np.concatenate(
                [
                    recurrent_cells.layer_norm(x @ W[g] + h @ U[g], gains[g])
                    for g in "ifco"
                ],
                axis=-1,
            )
            kernels = _by_gate("ifco", np.eye(4 * cell.units))
            nothing = {gate: 0 * kernel for gate, kernel in U.items()}
        return recurrent_cells.peephole_lstm_step(
            products, h, c, kernels, nothing, b, *weights["peepholes"]
        )

    return step


def _linear(step, gates):
    """The step of a cell whose state meets no kernel."""

    def step_of_cell(cell, weights, x_mask=1):
        named = {
            f"{letter}_{gate}": value
            for letter, name in (("W", "kernel"), ("b", "bias"))
            for gate, value in _by_gate(gates, weights[name]).items()
        }
        if "decay" in weights:
            named["decay"] = weights["decay"]
        elif cell.activation is positive:
            named["log_space"] = True
        gains = _gains(gates, weights.get("gains"))
        return lambda x, state: (
            step(x * x_mask, *state, **named, gains=gains),
        )

    return step_of_cell


def _slstm(cell, weights, **masks):
    W, R, b = (
        _by_gate("ifzo", weights[name])
        for name in ("kernel", "recurrent_kernel", "bias")
    )
    return lambda x, state: recurrent_cells.slstm_step(
        x,
        *state,
        W,
        R,
        b,
        cell.forget_gate,
        gains=_gains("ifzo", weights.get("gains")),
        **masks,
    )


def _lstm(cell, weights):
    return lambda x, state: cells.lstm_step(x, *state, **weights)


def _gru(cell, weights):
    return lambda x, state: (
        cells.gru_step(x, *state, **weights, reset_after=cell.reset_after),
    )


OURS = {
    "FastLSTMCell": _lstm,
    "FastGRUCell": _gru,
    "RHNCell": _rhn,
    "GAMCell": _gam,
    "GAMRHNCell": _gam_rhn,
    "PeepholeLSTMCell": _peephole_lstm,
    "SLSTMCell": _slstm,
    "MinGRUCell": _linear(recurrent_cells.min_gru_step, "zg"),
    "MinLSTMCell": _linear(recurrent_cells.min_lstm_step, "ifg"),
    "RGLRUCell": _linear(recurrent_cells.rg_lru_step, "ri"),
}
