"""Small recurrent layers and their gradients, for the tests of this folder.

All of them read sequences of width 2. A layer has random weights, and the
fast one has those of the loop of the same name.
"""

import keras
import numpy as np
import pytest
from keras import ops

from kerasrnn.layers import GAM
from kerasrnn.layers import GAMRHN
from kerasrnn.layers import RGLRU
from kerasrnn.layers import RHN
from kerasrnn.layers import SLSTM
from kerasrnn.layers import GAMCell
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import MinGRU
from kerasrnn.layers import MinGRUCell
from kerasrnn.layers import MinLSTM
from kerasrnn.layers import MinLSTMCell
from kerasrnn.layers import PeepholeLSTM
from kerasrnn.layers import PeepholeLSTMCell
from kerasrnn.layers import RGLRUCell
from kerasrnn.layers import RHNCell
from kerasrnn.layers import SLSTMCell
from kerasrnn.layers.loop import cells
from tests import helpers
from tests.reference import layers as reference
from tests.reference.recurrent_cells import finite_differences

RHN_SIZES = {"units": 3, "depth": 2}
GAM_SIZES = {"num_groups": 3, "group_size": 2, "head_units": 4}
GAM_RHN_SIZES = {**RHN_SIZES, **GAM_SIZES, "num_groups": 2}
# A cell, the layer that runs it fast, and their arguments.
LAYERS = {
    "rhn": (RHNCell, RHN, RHN_SIZES),
    "rhn_own_carry": (RHNCell, RHN, RHN_SIZES | {"couple_carry": False}),
    "gam": (GAMCell, GAM, GAM_SIZES),
    "gam_rhn": (GAMRHNCell, GAMRHN, GAM_RHN_SIZES),
    "gam_rhn_highway": (
        GAMRHNCell,
        GAMRHN,
        GAM_RHN_SIZES | {"inner": "highway"},
    ),
    "peephole_lstm": (PeepholeLSTMCell, PeepholeLSTM, {"units": 3}),
    "slstm": (SLSTMCell, SLSTM, {"units": 3}),
    "min_gru": (MinGRUCell, MinGRU, {"units": 3}),
    "min_lstm": (MinLSTMCell, MinLSTM, {"units": 3}),
    "rg_lru": (RGLRUCell, RGLRU, {"units": 2}),
}
# The other three go the way of one of these: their step differs in a line.
_KINDS = [
    "rhn",
    "gam",
    "gam_rhn",
    "peephole_lstm",
    "slstm",
    "min_gru",
    "rg_lru",
]
# What becomes of weights: of each argument another class.
ARGUMENTS = {
    "kernel_initializer": keras.initializers.HeNormal(),
    "recurrent_initializer": keras.initializers.HeUniform(),
    "bias_initializer": keras.initializers.LecunNormal(),
    "kernel_regularizer": keras.regularizers.L1(),
    "recurrent_regularizer": keras.regularizers.L2(),
    "bias_regularizer": keras.regularizers.L1L2(),
    "kernel_constraint": keras.constraints.NonNeg(),
    "recurrent_constraint": keras.constraints.UnitNorm(),
    "bias_constraint": keras.constraints.MaxNorm(),
}
# Without matrix products of their states.
LINEAR = ["min_gru", "min_lstm", "rg_lru"]
# Keras knows no float64 on JAX, and multiplies in float32 on PyTorch.
FLOAT64 = keras.backend.backend() == "tensorflow"
WIDEST = "float64" if FLOAT64 else "float32"


def one_of_a_kind(test):
    """Runs a test for each of `LAYERS`; those alike are `thorough`."""
    cases = helpers.some_now(LAYERS, _KINDS)
    return pytest.mark.parametrize("name", cases)(test)


def one_of_each_way(test):
    """The same for what is not of the cell: a loop of states, and a scan."""
    cases = helpers.some_now(LAYERS, ["slstm", "min_gru"])
    return pytest.mark.parametrize("name", cases)(test)


def new_cell(name, **options):
    cell_class, _, sizes = LAYERS[name]
    return cell_class(**sizes | known(name, options))


def cell(name, **options):
    """A cell with random weights."""
    cell = new_cell(name, **options)
    cell.build((None, 2))
    cell.built = True
    helpers.randomize(cell)
    return cell


def with_weights(cell, **values):
    """The cell for inputs of width 1, and all its weights set by name."""
    cell.build((None, 1))
    assert {weight.name for weight in cell.weights} == values.keys()
    for weight in cell.weights:
        weight.assign(np.array(values[weight.name]))
    return cell


def loop(name, rnn=None, batch_size=None, **options):
    """`keras.layers.RNN` of a cell.

    Args:
        name: One of `LAYERS`.
        rnn: Arguments of `keras.layers.RNN` besides `return_sequences`.
        batch_size: What a stateful layer has to know.
        **options: Further arguments of the cell.
    """
    cell = new_cell(name, **options)
    rnn = {"return_sequences": True, "dtype": cell.dtype_policy} | (rnn or {})
    return _randomized(keras.layers.RNN(cell, **rnn), batch_size)


def fast(name, rnn=None, batch_size=None, **options):
    """The fast layer with the weights of `loop`, and the same arguments."""
    _, layer_class, sizes = LAYERS[name]
    rnn = {"return_sequences": True} | (rnn or {})
    options = sizes | known(name, options)
    return _randomized(layer_class(**options, **rnn), batch_size)


def known(name, options):
    """The options that a cell has."""
    lacking = {"recurrent_dropout": LINEAR, "activation": ["rg_lru"]}
    return {
        key: value
        for key, value in options.items()
        if name not in lacking.get(key, ())
    }


def _randomized(layer, batch_size):
    layer.build((batch_size, None, 2))
    helpers.randomize(layer)
    return layer


def some_states(cell, batch_size=2, dtype="float32"):
    """Random states."""
    return [
        helpers.random(batch_size, width, seed=4 + index).astype(dtype)
        for index, width in enumerate(cells.flat_state_sizes(cell))
    ]


def step(cell, x, states, **kwargs):
    """The states after one step of a cell, of which one is the output."""
    states = [ops.convert_to_tensor(state) for state in states]
    output, states = cell(ops.convert_to_tensor(x), states, **kwargs)
    np.testing.assert_array_equal(*helpers.as_numpy([output, states[0]]))
    return helpers.as_numpy(states)


def compiled_step(cell, x, states):
    """`step` in a compiled graph whose batch size is open."""
    names = [f"state_{index}" for index in range(len(states))]

    def call(inputs, **states):
        return cell(inputs, [states[name] for name in names])[1]

    arrays = {"inputs": x, **dict(zip(names, states, strict=True))}
    return helpers.compiled(call, arrays)


def backpropagate(layer, arrays, cotangents, call=None, **kwargs):
    """Runs a layer forward and back.

    Args:
        layer: A built layer.
        arrays: List of positional arguments, to be differentiated as well.
        cotangents: Arrays like the outputs.
        call: Function to run in place of the layer.
        **kwargs: Further arguments of the call.

    Returns:
        The outputs, the gradients of `sum(outputs * cotangents)` with respect
        to the weights, and those with respect to the arrays.
    """
    weights = layer.trainable_weights
    call = call or layer

    def run(arrays):
        return keras.tree.flatten(call(*arrays, **kwargs))

    arrays, cotangents = keras.tree.map_structure(
        ops.convert_to_tensor, (arrays, cotangents)
    )
    if keras.backend.backend() == "jax":
        import jax

        def stateless(values, arrays):
            with keras.StatelessScope(zip(weights, values, strict=True)):
                return run(arrays)

        @jax.jit
        def run_and_back(values, arrays, cotangents):
            outputs, back = jax.vjp(stateless, values, arrays)
            return outputs, *back(cotangents)

        values = [weight.value for weight in weights]
        found = run_and_back(values, arrays, cotangents)
    elif keras.backend.backend() == "torch":
        import torch

        values = [weight.value for weight in weights]
        read = [x.requires_grad_() for x in keras.tree.flatten(arrays)]
        outputs = run(arrays)
        found = torch.autograd.grad(
            outputs,
            values + read,
            keras.tree.flatten(cotangents),
            allow_unused=True,
            materialize_grads=True,
        )
        count = len(values)
        found = outputs, list(found[:count]), list(found[count:])
    else:
        import tensorflow as tf

        with tf.GradientTape() as tape:
            tape.watch(arrays)
            outputs = run(arrays)
        values = [weight.value for weight in weights]
        found = (
            outputs,
            *tape.gradient(
                outputs,
                (values, arrays),
                cotangents,
                unconnected_gradients="zero",
            ),
        )
    outputs, weights, arrays = helpers.as_numpy(found)
    return outputs, weights, keras.tree.flatten(arrays)


def check_gradients(layer, step_with=reference.step_with, **kwargs):
    """Checks all gradients of a layer by finite differences of the oracle.

    Args:
        layer: A built layer that returns sequences and states, of the dtype
            `WIDEST`.
        step_with: Function of the cell and its named weights that returns
            the oracle's step.
        **kwargs: Further arguments of the call.
    """
    cell = layer.cell
    sequence = helpers.random(2, 3, 2).astype(WIDEST)
    states = some_states(cell, dtype=WIDEST)
    cotangents = [
        helpers.random(2, 3, cell.output_size, seed=8).astype(WIDEST),
        *(helpers.random(*s.shape, seed=9).astype(WIDEST) for s in states),
    ]
    outputs, *gradients = backpropagate(
        layer, [sequence, states], cotangents, **kwargs
    )

    def flat(arrays):
        return np.concatenate([np.ravel(x) for x in arrays])

    weights = reference.named_weights_of(cell)
    sequence, *states = (x.astype("float64") for x in (sequence, *states))

    def oracle():
        step = step_with(cell, weights)
        outputs, state = reference.run(step, sequence, tuple(states))
        return flat([outputs, *state])

    rtol, atol = (1e-6, 1e-8) if FLOAT64 else (1e-4, 1e-5)
    helpers.assert_close(flat(outputs), oracle(), rtol, atol)
    expected = [
        finite_differences(oracle, array, flat(cotangents))
        for array in (*weights.values(), sequence, *states)
    ]
    helpers.assert_close(gradients, expected, rtol, atol)
