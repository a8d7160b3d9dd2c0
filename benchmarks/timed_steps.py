"""Steps of a layer as functions, and their timing."""

import time

import devices
import keras
import numpy as np

CLOCK = "CPU" if devices.accelerator() is None else "wall"


def functions(layer, x, jit_compile=None):
    """Returns training step and inference of a layer as functions.

    A training step returns the sum of the outputs, and its gradients with
    respect to the input and all weights. `jit_compile` is that of
    `tf.function`.
    """
    if not layer.built:
        layer.build(x.shape)
    if keras.backend.backend() == "jax":
        return _jax_functions(layer, x)
    import tensorflow as tf

    x = tf.constant(x)
    weights = [weight.value for weight in layer.trainable_weights]

    @tf.function(jit_compile=jit_compile)
    def train():
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(tf.cast(layer(x, training=True), tf.float32))
        return total, tape.gradient(total, [x, *weights])

    @tf.function(jit_compile=jit_compile)
    def infer():
        return layer(x, training=False)

    return train, infer


def _jax_functions(layer, x):
    import jax

    x = jax.device_put(x)
    values = [weight.value for weight in layer.trainable_variables]
    others = [weight.value for weight in layer.non_trainable_variables]

    def call(values, x, training):
        found, _ = layer.stateless_call(values, others, x, training=training)
        return found.astype("float32")

    gradients = jax.jit(
        jax.value_and_grad(
            lambda *given: call(*given, True).sum(), argnums=(0, 1)
        )
    )
    forward = jax.jit(lambda *given: call(*given, False))
    return (
        lambda: jax.block_until_ready(gradients(values, x)),
        lambda: jax.block_until_ready(forward(values, x)),
    )


def take_turns(functions, repeats, reduce=np.median):
    """Returns wall and CPU seconds of functions that run alternately.

    Args:
        functions: List of functions without arguments.
        repeats: How often each is run, after two runs to compile it.
        reduce: Function of the seconds. Defaults to the median.

    Returns:
        For each function, an array of its wall and CPU seconds.
    """
    for function in functions:
        function()
        function()
    times = [[] for _ in functions]
    for _ in range(repeats):
        for function, found in zip(functions, times, strict=True):
            wall, cpu = time.perf_counter(), time.process_time()
            function()
            wall = time.perf_counter() - wall
            found.append((wall, time.process_time() - cpu))
    return [reduce(found, axis=0) for found in times]


def least(functions, repeats):
    """Returns minimum milliseconds: CPU time, or wall time on a GPU."""
    column = ("wall", "CPU").index(CLOCK)
    found = take_turns(functions, repeats, np.min)
    return [1000 * seconds[column] for seconds in found]
