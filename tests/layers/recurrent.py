"""Small recurrent layers and their gradients, for the tests of this folder.

Everything reads sequences of width 2. Layers have random weights, and a fast
layer has those of the loop of the same name.
"""

import keras
import numpy as np
from keras import ops

from kerasrnn.layers import GAM
from kerasrnn.layers import GAMRHN
from kerasrnn.layers import RHN
from kerasrnn.layers import GAMCell
from kerasrnn.layers import GAMRHNCell
from kerasrnn.layers import PeepholeLSTMCell
from kerasrnn.layers import RHNCell
from tests import helpers

RHN_SIZES = {"units": 3, "depth": 2}
GAM_SIZES = {"num_groups": 3, "group_size": 2, "head_units": 4}
GAM_RHN_SIZES = {"units": 3, "depth": 2, **GAM_SIZES, "num_groups": 2}
# Each is a cell, the fast layer that runs it, and their arguments.
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
    "peephole_lstm": (PeepholeLSTMCell, None, {"units": 3}),
}
RNN_ARGUMENTS = {
    "return_sequences",
    "return_state",
    "go_backwards",
    "stateful",
    "unroll",
    "zero_output_for_mask",
}


def new_cell(name, **options):
    cell_class, _, sizes = LAYERS[name]
    return cell_class(**sizes | options)


def cell(name, input_dim=2, **options):
    """A cell with random weights."""
    cell = new_cell(name, **options)
    cell.build((None, input_dim))
    cell.built = True
    helpers.randomize(cell)
    return cell


def new_loop(name, return_sequences=True, **options):
    """`keras.layers.RNN` of a cell; options of either go to either."""
    rnn = {key: options.pop(key) for key in RNN_ARGUMENTS & options.keys()}
    cell = new_cell(name, **options)
    return keras.layers.RNN(
        cell, return_sequences=return_sequences, dtype=cell.dtype_policy, **rnn
    )


def new_fast(name, return_sequences=True, **options):
    _, layer_class, sizes = LAYERS[name]
    return layer_class(return_sequences=return_sequences, **sizes | options)


def _randomized(layer, batch_size=None):
    layer.build((batch_size, None, 2))
    helpers.randomize(layer)
    return layer


def loop(name, batch_size=None, **options):
    """`new_loop` with random weights; a stateful one wants a batch size."""
    return _randomized(new_loop(name, **options), batch_size)


def fast(name, batch_size=None, **options):
    """`new_fast` with the weights of `loop`."""
    return _randomized(new_fast(name, **options), batch_size)


def some_states(cell, batch_size=2, dtype="float32"):
    """Random states, but a clock that starts at 0."""
    return [
        helpers.random(batch_size, width, seed=4 + index).astype(dtype)
        for index, width in enumerate(cell.state_widths)
    ] + [np.zeros((batch_size, 1), dtype)] * (cell.zoneout > 0)


def step(cell, x, states, **kwargs):
    """Output and states of one step of a cell, as arrays."""
    states = [ops.convert_to_tensor(state) for state in states]
    output, states = cell(ops.convert_to_tensor(x), states, **kwargs)
    return helpers.as_numpy((output, *states))


def backpropagate(layer, arrays, cotangents, **kwargs):
    """Runs a layer forward and back.

    Args:
        layer: A built layer.
        arrays: List of positional arguments, to be differentiated as well.
        cotangents: Arrays like the outputs.
        **kwargs: Further arguments of the call.

    Returns:
        The outputs, the gradients of `sum(outputs * cotangents)` with respect
        to the weights, and those with respect to the arrays.
    """
    weights = layer.trainable_weights

    def call(arrays):
        outputs = keras.tree.flatten(layer(*arrays, **kwargs))
        return outputs

    arrays = keras.tree.map_structure(ops.convert_to_tensor, arrays)
    cotangents = [ops.convert_to_tensor(x) for x in cotangents]
    if keras.backend.backend() == "jax":
        import jax

        @jax.jit
        def run(values, arrays, cotangents):
            def stateless(values, arrays):
                with keras.StatelessScope(zip(weights, values, strict=True)):
                    return call(arrays)

            outputs, back = jax.vjp(stateless, values, arrays)
            return outputs, *back(cotangents)

        found = run([w.value for w in weights], arrays, cotangents)
    else:
        import tensorflow as tf

        with tf.GradientTape() as tape:
            tape.watch(arrays)
            outputs = call(arrays)
        found = (
            outputs,
            *tape.gradient(
                outputs,
                ([w.value for w in weights], arrays),
                cotangents,
                unconnected_gradients="zero",
            ),
        )
    outputs, weights, arrays = helpers.as_numpy(found)
    return outputs, weights, keras.tree.flatten(arrays)
