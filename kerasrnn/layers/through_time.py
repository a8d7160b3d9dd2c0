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
    # carry: what is saved rides along in it, written and never read. And it
    # fails on several sequences whose length is open: it runs over indices.
    def body(carry, index):
        inputs = keras.tree.map_structure(
            lambda x: ops.take(x, index, axis=0), sequences
        )
        carry = step(carry[0], inputs)
        return carry, carry

    time = ops.shape(keras.tree.flatten(sequences)[0])[0]
    (state, _), (_, saved) = ops.scan(
        body, (state, blank), ops.arange(time), reverse=reverse
    )
    return state, saved


def run_loop(make_loop, products, states, weights, mask=None):
    """Runs a loop over time with its gradient by hand.

    What `make_loop` returns has five methods:

        step(states, given) -> (states, saved)
        transpose()                         prepares for the steps back
        for_back(saved) -> inputs           of the steps back
        step_back(grads, inputs) -> (grads, emitted)
        gradients(saved, emitted) -> (products_grad, weights_grad)

    where `grads` are the gradients of the states, and `saved`, `inputs` and
    `emitted` nests of tensors; `for_back` and `gradients` see those of all
    steps, `(time, batch, ...)`.

    Args:
        make_loop: Function of the weights.
        products: Tensor of shape `(time, batch, width)`, what the steps are
            given: the products of the input.
        states: Tuple of tensors `(batch, ...)`, the states to start from; the
            first is the output of a step.
        weights: Dictionary of tensors or of lists of them.
        mask: Tensor of shape `(time, batch, 1)`, 0 where a step is skipped,
            or `None`.

    Returns:
        A tuple: the outputs of all steps, `(time, batch, units)`, and the
        last of the other states.
    """
    masks = () if mask is None else (mask,)

    @ops.custom_gradient
    def run(products, states, weights):
        loop = make_loop(weights)

        def step(states, inputs):
            given, *here = inputs
            new, saved = loop.step(states, given)
            new = _choose(here, new, states)
            return new, (new[0], saved)

        last, (outputs, saved) = scan_and_save(step, states, (products, *masks))

        def gradient(*upstream):
            upstream, *last_grads = keras.tree.flatten(upstream)
            loop.transpose()

            def step_back(grads, inputs):
                upstream, given, *here = inputs
                grads = (grads[0] + upstream, *grads[1:])
                if not here:
                    return loop.step_back(grads, given)
                none = keras.tree.map_structure(ops.zeros_like, grads)
                skipped = _choose(here, none, grads)
                grads = _choose(here, grads, none)
                grads, emitted = loop.step_back(grads, given)
                return keras.tree.map_structure(
                    ops.add, grads, skipped
                ), emitted

            grads, emitted = scan_and_save(
                step_back,
                (ops.zeros_like(states[0]), *last_grads),
                (upstream, loop.for_back(saved), *masks),
                reverse=True,
            )
            products_grad, weights_grad = loop.gradients(saved, emitted)
            weights_grad = {name: weights_grad[name] for name in weights}
            return (
                products_grad,
                grads,
                keras.tree.map_structure(
                    lambda gradient, weight: ops.cast(gradient, weight.dtype),
                    weights_grad,
                    weights,
                ),
            )

        return (outputs, *last[1:]), gradient

    return run(products, states, weights)


def _choose(mask, new, old):
    """`new` where the mask, if there is one, is 1, and `old` where it is 0."""
    if not mask:
        return new

    def choose(new, old):
        here = ops.reshape(mask[0], (-1, *[1] * (len(new.shape) - 1)))
        return ops.where(here > 0, new, old)

    return keras.tree.map_structure(choose, new, old)


def product(inputs, kernel):
    """A product in the dtype of its kernel, given back wide."""
    return wide(ops.matmul(ops.cast(inputs, kernel.dtype), kernel))


def join(*parts):
    """Joins tensors along their last axis."""
    return ops.concatenate(parts, axis=-1)


def split_at(x, *widths):
    """Splits the last axis into parts of the given widths and the rest."""
    ends, total = [], 0
    for width in widths:
        total += width
        ends.append(total)
    return ops.split(x, ends, axis=-1)


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
        preactivations: Gradients of its products, `(time, batch, width)`, in
            the dtype to multiply in.

    Returns:
        Float32 tensor of shape `(input_dim, width)`.
    """
    inputs, preactivations = (
        ops.reshape(ops.cast(x, preactivations.dtype), (-1, x.shape[-1]))
        for x in (inputs, preactivations)
    )
    return wide(ops.matmul(ops.transpose(inputs), preactivations))


def bias_gradient(preactivations):
    """The gradient of a bias, `(width,)`, from `(time, batch, width)`."""
    return ops.sum(wide(preactivations), axis=(0, 1))


def wide(x):
    """Casts to float32, or leaves what is wider."""
    return ops.cast(x, keras.backend.result_type(x.dtype, "float32"))
