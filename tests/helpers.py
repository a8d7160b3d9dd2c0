"""What several tests need, the same on every backend."""

import inspect
import io

import h5py
import keras
import numpy as np
import pytest
from keras import ops

ON_JAX = keras.backend.backend() == "jax"
ON_TORCH = keras.backend.backend() == "torch"


def slow_on_jax(test):
    """Marks what JAX compiles for many seconds, and TensorFlow tests, too."""
    return pytest.mark.thorough(test) if ON_JAX else test


def some_now(values, now):
    """Parameters of which some are tested at once; others are `thorough`.

    For a test whose cases go few ways: those named take each way once.
    """
    values, now = list(values), list(now)
    assert all(value in values for value in now)
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=() if value in now else pytest.mark.thorough,
        )
        for value in values
    ]


def one_now(values):
    """Parameters of which the first is tested at once; others are `thorough`.

    For what costs seconds a value and goes the same way in all of them.
    """
    values = list(values)
    return some_now(values, values[:1])


def random(*shape, seed=0):
    """Standard normal numbers of a shape, in float32."""
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def as_numpy(nest):
    return keras.tree.map_structure(ops.convert_to_numpy, nest)


def assert_close(actual, expected, rtol=1e-4, atol=1e-5):
    """Compares two nests of tensors leaf by leaf."""
    actual, expected = (keras.tree.flatten(x) for x in (actual, expected))
    assert len(actual) == len(expected)
    for a, b in zip(as_numpy(actual), as_numpy(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


def randomize(layer, scale=0.5, seed=1):
    """Gives every weight that is trained a random value: biases, too."""
    rng = np.random.default_rng(seed)
    for weight in layer.trainable_weights:
        weight.assign(rng.normal(size=weight.shape) * scale)


def functional(layer, arrays, **kwargs):
    """A Functional model of one layer.

    Batch size and time are left open: the second axis of ids, of masks and
    of sequences, but not of `(batch, features)`.

    Args:
        layer: The layer, or any function of Keras tensors.
        arrays: Dictionary from argument names to arrays like its inputs.
        **kwargs: Further arguments of the call, such as `training=True`.
    """
    inputs = {}
    for name, x in arrays.items():
        has_time = x.ndim == 3 or x.dtype.kind != "f"
        shape = (None, *x.shape[2:]) if has_time else x.shape[1:]
        inputs[name] = keras.Input(shape, dtype=str(x.dtype), name=name)
    return keras.Model(inputs, layer(**inputs, **kwargs))


def compiled(layer, arrays, **kwargs):
    """What a layer returns from inside a compiled graph."""
    return functional(layer, arrays, **kwargs).predict_on_batch(arrays)


def gradients(model, inputs, cotangents):
    """Gradients of `sum(outputs * cotangents)`, by weight path.

    They are read off one step of plain gradient descent, which every backend
    has and which runs the compiled training step.
    """
    model.compile(
        keras.optimizers.SGD(1.0),
        loss=lambda y_true, y_pred: ops.sum(y_true * y_pred),
    )
    before = as_numpy([w.value for w in model.trainable_weights])
    model.train_on_batch(inputs, cotangents)
    after = as_numpy([w.value for w in model.trainable_weights])
    return [a - b for a, b in zip(before, after, strict=True)]


def flipped(content):
    """The content of an HDF5 file with one other bit in its first array."""
    arrays = []
    with h5py.File(io.BytesIO(content)) as file:
        file.visititems(lambda _, x: arrays.append(x))
        at = next(x.id.get_offset() for x in arrays if getattr(x, "size", 0))
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def reloaded(model, folder):
    """The model after a trip through a `.keras` file."""
    path = folder / "model.keras"
    model.save(path)
    return keras.saving.load_model(path)


def copy_of(layer):
    """A layer made anew from its configuration, which has every argument."""
    arguments = inspect.signature(type(layer)).parameters
    assert layer.get_config().keys() >= arguments.keys() - {"kwargs"}
    config = keras.saving.serialize_keras_object(layer)
    return keras.saving.deserialize_keras_object(config)


def schedule(optimizer):
    """Steps in all, steps of warmup, and the highest learning rate."""
    config = optimizer.get_config()["learning_rate"]["config"]
    warmup = config["warmup_steps"]
    return config["decay_steps"] + warmup, warmup, config["warmup_target"]
