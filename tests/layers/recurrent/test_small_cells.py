"""The cells of the guide, taken from its page, compute what it says."""

import pathlib

import keras
import numpy as np
import pytest
from keras.layers import RNN

from kerasrnn.layers import FastRNN
from tests import helpers
from tests import pages
from tests.layers import small_layers
from tests.reference.cells import sigmoid

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "guides" / "small_cells.md"
UNITS = 3


def split(x, *ends):
    return np.split(x, [end * UNITS for end in ends], axis=-1)


def mgu(w, x, h):
    W_f, W_g = split(w["kernel"], 1)
    b_f, b_g = split(w["bias"], 1)
    f = sigmoid(x @ W_f + h @ w["forget_kernel"] + b_f)
    g = np.tanh(x @ W_g + (f * h) @ w["recurrent_kernel"] + b_g)
    return [(1 - f) * h + f * g]


def ind_rnn(w, x, h):
    u = np.minimum(w["recurrent_weight"], 2 ** (1 / 100))
    u = np.maximum(u, -(2 ** (1 / 100)))
    return [np.maximum(x @ w["kernel"] + u * h + w["bias"], 0)]


def normal(x):
    """Of mean 0 and variance 1 over the units."""
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-3)


def li_gru(w, x, h):
    W_z, W_g = split(w["kernel"], 1)
    U_z, U_g = split(w["recurrent_kernel"], 1)
    a_z, a_g = split(w["gains"], 1)
    b_z, b_g = split(w["bias"], 1)
    z = sigmoid(normal(x @ W_z) * a_z + b_z + h @ U_z)
    g = np.maximum(normal(x @ W_g) * a_g + b_g + h @ U_g, 0)
    return [z * h + (1 - z) * g]


def janet(w, x, h):
    W_f, W_g = split(w["kernel"], 1)
    U_f, U_g = split(w["recurrent_kernel"], 1)
    b_f, b_g = split(w["bias"], 1)
    s = x @ W_f + h @ U_f + b_f
    g = np.tanh(x @ W_g + h @ U_g + b_g)
    return [sigmoid(s) * h + (1 - sigmoid(s - 1)) * g]


def ugrnn(w, x, h):
    W_c, W_g = split(w["kernel"], 1)
    U_c, U_g = split(w["recurrent_kernel"], 1)
    b_c, b_g = split(w["bias"], 1)
    c = np.tanh(x @ W_c + h @ U_c + b_c)
    g = sigmoid(x @ W_g + h @ U_g + b_g)
    return [g * h + (1 - g) * c]


def lem(w, x, y, z):
    V_d, V_e, V_z, V_y = split(w["kernel"], 1, 2, 3)
    W_d, W_e, W_z = split(w["of_y"], 1, 2)
    b_d, b_e, b_z, b_y = split(w["bias"], 1, 2, 3)
    d = sigmoid(y @ W_d + x @ V_d + b_d)
    e = sigmoid(y @ W_e + x @ V_e + b_e)
    z = (1 - d) * z + d * np.tanh(y @ W_z + x @ V_z + b_z)
    return [(1 - e) * y + e * np.tanh(z @ w["of_z"] + x @ V_y + b_y), z]


def antisymmetric(w, x, h):
    W = w["recurrent_kernel"]
    matrix = W - W.T - 0.01 * np.eye(UNITS)
    return [h + 0.1 * np.tanh(h @ matrix + x @ w["kernel"] + w["bias"])]


def multiplicative_lstm(w, x, h, c):
    W_m, W = split(w["kernel"], 1)
    m = (x @ W_m) * (h @ w["of_h"])
    i, f, o, g = split(x @ W + m @ w["of_m"] + w["bias"], 1, 2, 3)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return [sigmoid(o) * np.tanh(c), c]


STEPS = {
    "MGUCell": mgu,
    "IndRNNCell": ind_rnn,
    "LiGRUCell": li_gru,
    "JANETCell": janet,
    "UGRNNCell": ugrnn,
    "LEMCell": lem,
    "AntisymmetricCell": antisymmetric,
    "MultiplicativeLSTMCell": multiplicative_lstm,
}
every_cell = pytest.mark.parametrize("name", STEPS)


@pytest.fixture(scope="module")
def page():
    """The classes of the page, from its blocks that define one."""
    first, *blocks = (
        block["code"] for block in pages.BLOCK.finditer(PAGE.read_text("utf-8"))
    )
    names = {}
    for code in [first, *(code for code in blocks if "class " in code)]:
        exec(code, names)
    return names


def test_every_cell_of_the_page_is_here(page):
    bases = {"RecurrentCell"}
    assert {name for name in page if name.endswith("Cell")} - bases == set(
        STEPS
    )


@every_cell
def test_a_sequence_equals_the_equations(name, page):
    layer = FastRNN(page[name](UNITS), return_sequences=True)
    x = helpers.random(2, 5, 4)
    assert layer.slow_because is None
    layer.build(x.shape)
    helpers.randomize(layer, scale=1.0)
    weights = {
        w.name: helpers.as_numpy(w.value).astype("float64")
        for w in layer.cell.weights
    }
    states = [np.zeros((2, UNITS))] * len(
        keras.tree.flatten(layer.cell.state_size)
    )
    expected = []
    for now in x.swapaxes(0, 1):
        states = STEPS[name](weights, now, *states)
        expected.append(states[0])
    helpers.assert_close(layer(x), np.stack(expected, axis=1))


@every_cell
def test_gradients_equal_those_of_the_loop_of_keras(name, page):
    x, cotangents = helpers.random(2, 4, 4), helpers.random(2, 4, UNITS)
    found = []
    for rnn in (FastRNN, RNN):
        layer = rnn(page[name](UNITS), return_sequences=True)
        layer.build(x.shape)
        helpers.randomize(layer)
        found.append(small_layers.backpropagate(layer, [x], [cotangents]))
    helpers.assert_close(*found)
    _, of_weights, _ = found[0]
    assert all(np.abs(gradient).max() > 1e-4 for gradient in of_weights)


@every_cell
def test_a_cell_is_made_anew_from_its_configuration(name, page):
    cell = page[name](UNITS, dropout=0.1)
    assert helpers.copy_of(cell).get_config() == cell.get_config()
