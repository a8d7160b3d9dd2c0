"""The cells with a matrix memory, and the layers that run them in chunks."""

import keras
import numpy as np
import pytest

from kerasrnn.layers import MLSTM
from kerasrnn.layers import FastRNN
from kerasrnn.layers import GatedDelta
from kerasrnn.layers import GatedDeltaCell
from kerasrnn.layers import Mamba2
from kerasrnn.layers import Mamba2Cell
from kerasrnn.layers import MLSTMCell
from tests import helpers
from tests.layers import small_layers
from tests.reference.cells import sigmoid

CELLS = {
    "gated_delta": (GatedDeltaCell, {}),
    "negative": (GatedDeltaCell, {"allow_negative_eigenvalues": True}),
    "mlstm": (MLSTMCell, {}),
    "mlstm_conv": (MLSTMCell, {"conv_width": 3}),
    "mamba2": (Mamba2Cell, {}),
}
X = helpers.random(3, 21, 5)


def make(name, **options):
    cell_class, own = CELLS[name]
    cell = cell_class(4, heads=2, key_dim=3, value_dim=2, **own, **options)
    cell.build((None, 5))
    helpers.randomize(cell)
    return cell


def silu(x):
    return x * sigmoid(x)


def softplus(x):
    return np.log1p(np.exp(x))


def expected_outputs(name, cell, x):
    """The equations of a row `(time, input_dim)`, head by head."""
    w = {v.name: helpers.as_numpy(v).astype("float64") for v in cell.variables}
    joined = x @ w["kernel"]
    width = cell.conv_width
    if width:
        start = np.zeros((width - 1, joined.shape[1]))
        padded = np.concatenate([start, joined])
        joined = silu(
            w.get("conv_bias", 0)
            + sum(
                padded[i : i + len(x)] * w["conv_kernel"][i]
                for i in range(width)
            )
        )
    *keys, v = np.split(joined, [-10, -4] if cell.decisions > 1 else [3, 6], -1)
    q, k = (part.reshape(len(x), -1, 3) for part in keys)
    v = v.reshape(len(x), 2, 2)
    decisions = (x @ w["write_kernel"]).reshape(len(x), -1, 2)
    gate = x @ w["gate_kernel"]
    heads = []
    for h in range(2):
        memory, n, found = np.zeros((3, 2)), np.zeros(3), []
        for t in range(len(x)):
            q_t, k_t, v_t = q[t, h % q.shape[1]], k[t, h % q.shape[1]], v[t, h]
            if "mlstm" in name:
                i, f = 15 * np.tanh((decisions[t] + w["write_bias"])[:, h] / 15)
                memory = sigmoid(f) * memory + np.exp(i) * np.outer(k_t, v_t)
                n = sigmoid(f) * n + np.exp(i) * k_t
                read = memory.T @ q_t / 3**0.5
                read = read / max(abs(n @ q_t / 3**0.5), 1)
            elif name == "mamba2":
                step = softplus(decisions[t, 0, h] + w["step_bias"][h])
                memory = np.exp(-np.exp(w["log_rate"][h]) * step) * memory
                memory += np.outer(k_t, step * v_t)
                found.append(memory.T @ q_t + w["skip"][h] * v_t)
                continue
            else:
                q_t, k_t = (y / np.sqrt(y @ y + 1e-6) for y in (q_t, k_t))
                rate = softplus(decisions[t, 0, h] + w["decay_bias"][h])
                beta = sigmoid(decisions[t, 1, h]) * (1 + (name == "negative"))
                memory = np.exp(-np.exp(w["log_rate"][h]) * rate) * memory
                memory += np.outer(k_t, beta * (v_t - memory.T @ k_t))
                read = memory.T @ q_t / 3**0.5
            found.append(normalized(read, w["gains"]))
        heads.append(np.stack(found))
    gate = sigmoid(gate) if "mlstm" in name else silu(gate)
    found = np.concatenate(heads, -1) * gate
    if name == "mamba2":
        found = normalized(found, w["gains"])
    return found @ w["output_kernel"]


def normalized(x, gains):
    return x / np.sqrt(np.mean(x**2, -1, keepdims=True) + 1e-5) * gains


@pytest.mark.parametrize("name", CELLS)
def test_equations(name):
    cell = make(name)
    outputs = FastRNN(cell, return_sequences=True)(X)
    expected = [expected_outputs(name, cell, x) for x in X]
    helpers.assert_close(outputs, np.stack(expected), 1e-3, 1e-4)


def without_start(x):
    """Zeros before the first unmasked step, where Keras differs on JAX."""
    x = x.copy()
    x[0, :2] = x[2] = 0
    return x


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("masked", [False, True])
def test_the_layer_is_the_loop_with_its_gradients(name, masked):
    """Masked anywhere, and from states of an earlier call."""
    cell, mask = make(name), None
    if masked:
        mask = np.random.default_rng(0).random((3, 21)) < 0.6
        mask[0, :2], mask[1, -3:], mask[2] = False, False, False
    states = small_layers.some_states(cell, 3)
    found = []
    for layer_class in (FastRNN, keras.layers.RNN):
        layer = layer_class(cell, return_sequences=True, return_state=True)
        cotangents = [
            without_start(helpers.random(3, 21, 4)),
            *(helpers.random(*x.shape, seed=9) for x in states),
        ]
        found.append(
            small_layers.backpropagate(
                layer,
                [X, states],
                cotangents,
                call=lambda x, states, layer=layer: layer(
                    x, initial_state=states, mask=mask
                ),
            )
        )
    (outputs, *fast), (expected, *slow) = found
    if masked:
        outputs[0], expected[0] = map(without_start, (outputs[0], expected[0]))
    helpers.assert_close(outputs, expected, 1e-3, 1e-4)
    helpers.assert_close(fast, slow, 1e-3, 1e-3)


@pytest.mark.parametrize("layer_class", [GatedDelta, MLSTM, Mamba2])
@pytest.mark.parametrize("time", [7, None])
def test_a_model_of_any_batch_size_is_trained(layer_class, time):
    layer = layer_class(4, heads=2)
    model = keras.Sequential([keras.Input((time, 5)), layer])
    model.compile("sgd", "mse")
    x = helpers.random(5, 7, 5)
    before = model.predict(x, verbose=0)
    model.fit(x, x[:, 0, :4], batch_size=2, verbose=0)
    after = model.predict(x, verbose=0)
    assert np.isfinite(after).all() and (after != before).all()


@pytest.mark.parametrize("layer_class", [GatedDelta, MLSTM, Mamba2])
def test_the_layer_is_saved(layer_class, tmp_path):
    layer = layer_class(4, heads=2, return_sequences=True)
    model = keras.Sequential([keras.Input((None, 5)), layer])
    loaded = helpers.reloaded(model, tmp_path)
    helpers.assert_close(loaded(X), model(X))
    assert loaded.layers[0].heads == 2


@pytest.mark.parametrize("name", ["gated_delta", "mlstm", "mamba2"])
def test_half_precision_keeps_the_memory_in_float32(name):
    cell = make(name, dtype="mixed_bfloat16")
    layer = FastRNN(cell, return_sequences=True)
    outputs, states = layer.carry_on(X, layer.get_initial_state(3))
    assert keras.backend.standardize_dtype(outputs.dtype) == "bfloat16"
    assert keras.backend.standardize_dtype(states[1].dtype) == "float32"
    exact = FastRNN(make(name), return_sequences=True)(X)
    helpers.assert_close(
        keras.ops.cast(outputs, "float32"), exact, rtol=0.1, atol=0.1
    )


def test_first_values_are_those_of_the_papers():
    cell = GatedDeltaCell(8, heads=500, key_dim=1)
    cell.build((None, 2))
    rates = np.exp(helpers.as_numpy(cell.log_rate))
    steps = softplus(helpers.as_numpy(cell.decay_bias))
    assert 0 < rates.min() < 1 and 15 < rates.max() < 16
    assert 0.001 <= steps.min() < 0.0015 and 0.06 < steps.max() <= 0.1
    assert 0.007 < np.median(steps) < 0.014
    assert 0.49 < np.abs(helpers.as_numpy(cell.conv_kernel)).max() <= 0.5
    assert cell.head_dims == (1, 2)
    assert GatedDeltaCell(8, heads=2).head_dims == (3, 6)
    cell = MLSTMCell(8, heads=2)
    cell.build((None, 2))
    helpers.assert_close(cell.write_bias[1], np.array([3, 6]))
    assert cell.head_dims == (2, 4)
    cell = Mamba2Cell(64, heads=500)
    cell.build((None, 2))
    rates = np.exp(helpers.as_numpy(cell.log_rate))
    assert 1 <= rates.min() < 1.5 and 15 < rates.max() < 16
    assert helpers.as_numpy(cell.step_bias).max() < -2
    assert Mamba2Cell(64).heads == 2 and Mamba2Cell(64).head_dims == (128, 64)
