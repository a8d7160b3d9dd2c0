"""Loops over time whose gradients are written by hand.

Differentiated automatically, a loop adds to the gradient of every weight at
every step: a product as dear as the step's own, and memory traffic as wide as
the weight. Here the loop back through time only finds the gradients of the
preactivations; one product over all steps then gives that of each weight.

All sequences in this part of the package are `(time, batch, width)`.
"""

import keras
from keras import ops


def scan_and_save(step, state, sequences, reverse=False):
    """Runs a loop whose steps save what differs from its state.

    Args:
        step: Function `(state, inputs) -> (state, saved)`.
        state: Nest of tensors `(batch, ...)`, the state to start from.
        sequences: Nest of tensors `(time, batch, ...)`.
        reverse: Whether to run from the last step to the first.

    Returns:
        The final state and what was saved, a nest of `(time, batch, ...)`.
    """
    batch_size = ops.shape(keras.tree.flatten(state)[0])[0]
    # One step more, of which only the shapes are used: in a graph nothing of
    # it is ever computed.
    _, saved = step(state, keras.tree.map_structure(lambda x: x[0], sequences))
    blank = keras.tree.map_structure(
        lambda x: ops.zeros((batch_size, *x.shape[1:]), x.dtype), saved
    )

    # On TensorFlow, `keras.ops.scan` wants a step's output to look like its
    # carry: what is saved rides along in it, written and never read.
    def body(carry, inputs):
        carry = step(carry[0], inputs)
        return carry, carry

    (state, _), (_, saved) = ops.scan(
        body, (state, blank), sequences, reverse=reverse
    )
    return state, saved


def times_transposed(kernel):
    """Returns the function `x -> x K'` for many calls with one kernel.

    On a CPU, float32 products take half the time once the kernel lies there
    transposed, and bfloat16 ones are faster without.
    """
    if kernel.dtype == "bfloat16":
        return lambda x: ops.einsum("bj,ij->bi", x, kernel)
    transposed = ops.transpose(kernel)
    return lambda x: ops.matmul(x, transposed)


def kernel_gradient(inputs, preactivations):
    """The gradient of a kernel, in one product over all steps.

    Args:
        inputs: What the kernel met, `(time, batch, input_dim)`.
        preactivations: Gradients of its products, `(time, batch, width)`.

    Returns:
        Float32 tensor of shape `(input_dim, width)`.
    """
    inputs, preactivations = (
        ops.reshape(x, (-1, x.shape[-1])) for x in (inputs, preactivations)
    )
    return wide(ops.matmul(ops.transpose(inputs), preactivations))


def bias_gradient(preactivations):
    """The gradient of a bias, `(width,)`, from `(time, batch, width)`."""
    return ops.sum(wide(preactivations), axis=(0, 1))


def wide(x):
    """Casts to float32, or leaves what is wider."""
    return ops.cast(x, keras.backend.result_type(x.dtype, "float32"))
