"""The matrix products of a recurrent layer, without the rest of it.

Shapes and dtypes are those of a training step of the layer. The products of
the input and the gradients of the kernels are taken over all steps in one
product, those of the state one after the other in a loop, where each waits for
the last.
"""

import keras
from keras import ops

from kerasrnn.layers.loop.products import times_transposed
from kerasrnn.layers.loop.products_over_time import kernel_gradient


def kernel_shapes(cell, input_dim):
    """The shapes of the kernels that meet the input, and of those in a loop."""
    units = cell.units
    kind = type(cell).__name__
    if kind == "GAMRHNCell":
        groups, head = cell.num_groups, cell.head_units
        address = (head, groups * cell.group_size)
        inside = [address, (units, groups)]
        for layer in range(cell.depth):
            reset = units if layer == 0 else 0
            inside += [
                (units, head + reset + 2 * units),
                address,
                (groups, 3 * units),
                (units, units),
            ]
        return [(input_dim, head + units + groups)], inside
    gates = {"RHNCell": 2, "FastLSTMCell": 4, "FastGRUCell": 3}[kind]
    depth = getattr(cell, "depth", 1)
    return [(input_dim, gates * units)], [(units, gates * units)] * depth


def products_step(cell, input_dim, batch_size, time, dtype):
    """Returns a function of no arguments: the products of a training step."""
    given, inside = kernel_shapes(cell, input_dim)
    shapes = given + inside

    def sequence(width):
        return ops.cast(keras.random.normal((time, batch_size, width)), dtype)

    inputs = [sequence(rows) for rows, _ in shapes]
    grads = [sequence(columns) for _, columns in shapes]
    kernels = [
        ops.cast(0.01 * keras.random.normal(shape), dtype) for shape in shapes
    ]
    first = len(given)

    def step(inputs, grads, kernels):
        found = [
            kernel_gradient(x, g) for x, g in zip(inputs, grads, strict=True)
        ]
        for x, g, kernel in zip(
            inputs[:first], grads[:first], kernels[:first], strict=True
        ):
            found += [
                ops.matmul(x, kernel),
                ops.matmul(g, ops.transpose(kernel)),
            ]
        forward = [lambda x, kernel=k: ops.matmul(x, kernel) for k in kernels]
        back = [times_transposed(kernel) for kernel in kernels]
        found.append(in_turn(inputs[first:], forward[first:]))
        found.append(in_turn(grads[first:], back[first:]))
        return found

    step = compiled(step)
    return lambda: finished(step(inputs, grads, kernels))


def in_turn(sequences, products):
    """Takes products at all steps in a loop, each after the last."""

    def body(last, index):
        for sequence, product in zip(sequences, products, strict=True):
            last = product(sequence[index] + last)[:1, :1]
        return last, last

    first, *_ = sequences
    last, _ = ops.scan(
        body, ops.zeros((1, 1), first.dtype), ops.arange(len(first))
    )
    return last


def compiled(function):
    if keras.backend.backend() == "jax":
        import jax

        return jax.jit(function)
    import tensorflow as tf

    return tf.function(function)


def finished(tensors):
    """Waits for what JAX has only begun."""
    if keras.backend.backend() == "jax":
        import jax

        jax.block_until_ready(tensors)


def layer_step(layer, input_dim, batch_size, time):
    """Returns a function of no arguments: forward and all gradients."""
    sequence = keras.random.normal((batch_size, time, input_dim))
    layer.build(sequence.shape)
    upstream = keras.random.normal((batch_size, time, layer.cell.output_size))

    if keras.backend.backend() == "jax":
        import jax

        others = [v.value for v in layer.non_trainable_variables]

        def loss(weights, sequence):
            outputs, _ = layer.stateless_call(
                weights, others, sequence, training=True
            )
            return ops.sum(ops.cast(outputs, "float32") * upstream)

        step = jax.jit(jax.grad(loss, argnums=(0, 1)))
        weights = [v.value for v in layer.trainable_variables]
        return lambda: finished(step(weights, sequence))

    import tensorflow as tf

    @tf.function
    def step(sequence):
        weights = [v.value for v in layer.trainable_variables]
        with tf.GradientTape() as tape:
            tape.watch(sequence)
            outputs = ops.cast(layer(sequence, training=True), "float32")
            loss = ops.sum(outputs * upstream)
        return tape.gradient(loss, [sequence, *weights])

    return lambda: step(sequence)
