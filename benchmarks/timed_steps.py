"""Steps of a layer as functions, and the time that they take."""

import devices
import keras


def functions(layer, x):
    """A training step and inference of a layer, without arguments."""
    if not layer.built:
        layer.build(x.shape)
    if keras.backend.backend() == "jax":
        return _jax_functions(layer, x)
    import tensorflow as tf

    x = tf.constant(x)
    weights = [weight.value for weight in layer.trainable_weights]

    @tf.function
    def train():
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.cast(layer(x, training=True), tf.float32))
        return tape.gradient(loss, [x, *weights])

    infer = tf.function(lambda: layer(x, training=False))
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
        jax.grad(lambda *given: call(*given, True).sum(), argnums=(0, 1))
    )
    forward = jax.jit(lambda *given: call(*given, False))
    return (
        lambda: jax.block_until_ready(gradients(values, x)),
        lambda: jax.block_until_ready(forward(values, x)),
    )


def least(steps, repeats):
    """Least milliseconds of each of some functions, run in turns."""
    _, now = devices.clock()
    for step in steps:
        step()
        step()
    found = [[] for _ in steps]
    for _ in range(repeats):
        for step, times in zip(steps, found, strict=True):
            start = now()
            step()
            times.append(now() - start)
    return [1000 * min(times) for times in found]
