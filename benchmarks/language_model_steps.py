"""Language models of one or more recurrent layers, and their steps.

The steps of a model are two functions of ids and targets, arrays of shape
`(batch, time)`: a training step by gradient descent, and the loss alone.
"""

import keras
import numpy as np
from keras import ops


def language_model(layers, width, vocabulary):
    """Returns a Keras model from ids `(batch, time)` to logits."""
    ids = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(vocabulary, width)(ids)
    for layer in layers:
        x = layer(x)
    return keras.Model(ids, keras.layers.Dense(vocabulary)(x))


def ids_and_targets(size, time, vocabulary):
    """Returns random ids of shape `(size, time)`, and the next ids."""
    rng = np.random.default_rng(0)
    ids = rng.integers(0, vocabulary, (size, time + 1)).astype("int32")
    return ids[:, :-1].copy(), ids[:, 1:].copy()


def mean_loss(targets, logits):
    logits = ops.cast(logits, "float32")
    return ops.mean(
        ops.sparse_categorical_crossentropy(targets, logits, from_logits=True)
    )


def keras_steps(model, rate=0.1):
    """Returns the two steps of a Keras model."""
    if keras.backend.backend() == "jax":
        return _jax_steps(model, rate)
    import tensorflow as tf

    @tf.function
    def train(ids, targets):
        with tf.GradientTape() as tape:
            loss = mean_loss(targets, model(ids, training=True))
        variables = [v.value for v in model.trainable_variables]
        for variable, gradient in zip(
            variables, tape.gradient(loss, variables), strict=True
        ):
            gradient = tf.convert_to_tensor(gradient)
            variable.assign_sub(rate * gradient)
        return loss

    @tf.function
    def infer(ids, targets):
        return mean_loss(targets, model(ids, training=False))

    def timed(step):
        return lambda *arrays: float(step(*map(tf.constant, arrays)))

    return timed(train), timed(infer)


def _jax_steps(model, rate):
    import jax

    def loss(weights, others, training, ids, targets):
        logits, _ = model.stateless_call(
            weights, others, ids, training=training
        )
        return mean_loss(targets, logits)

    @jax.jit
    def update(weights, others, ids, targets):
        value, gradients = jax.value_and_grad(loss)(
            weights, others, True, ids, targets
        )
        return value, [
            w - rate * g for w, g in zip(weights, gradients, strict=True)
        ]

    forward = jax.jit(loss, static_argnums=2)
    others = [v.value for v in model.non_trainable_variables]
    weights = [v.value for v in model.trainable_variables]

    def train(ids, targets):
        nonlocal weights
        value, weights = jax.block_until_ready(
            update(weights, others, ids, targets)
        )
        return float(value)

    def infer(ids, targets):
        return float(forward(weights, others, False, ids, targets))

    return train, infer


def torch_steps(model, dtype, device, rate=0.1):
    """Returns the two steps of a `torch_cells.LanguageModel`."""
    import torch

    model = model.to(device)
    cast = torch.autocast(device, torch.bfloat16, enabled=dtype != "float32")
    descent = torch.optim.SGD(model.parameters(), rate)

    def train(ids, targets):
        descent.zero_grad(set_to_none=True)
        with cast:
            loss = model.loss(*tensors(ids, targets))
        loss.backward()
        descent.step()
        # On a GPU, this waits for all pending work including the update.
        return loss.item()

    def infer(ids, targets):
        with torch.inference_mode(), cast:
            return model.loss(*tensors(ids, targets)).item()

    def tensors(*arrays):
        return [torch.from_numpy(x).long().to(device) for x in arrays]

    return train, infer
