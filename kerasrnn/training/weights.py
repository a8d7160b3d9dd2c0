"""Sets the weights of a model from files or another model."""

from collections.abc import Sequence

import keras
import numpy as np

from kerasrnn.files import reading
from kerasrnn.training.checkpoint import constant_rate
from kerasrnn.training.checkpoint import load_weights
from kerasrnn.typing import PathLike


def load_average(model: keras.Model, paths: Sequence[PathLike]) -> None:
    """Sets the weights of a model to the mean of the weights in files.

    Integers, such as keys of a table, are taken from the last file.

    Args:
        model: A built `keras.Model`.
        paths: List of strings or paths of files that `model.save_weights`
            wrote.

    Raises:
        ValueError: when `paths` is empty, or a file is damaged or belongs to
            another model.

    Example:

    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    >>> for value in (1.0, 2.0):
    ...     model.layers[0].bias.assign([value])
    ...     model.save_weights(f"{value}.weights.h5")
    >>> load_average(model, ["1.0.weights.h5", "2.0.weights.h5"])
    >>> float(model.layers[0].bias[0])
    1.5
    """
    loaded = []
    for path in paths:
        with reading(
            path, "Expected: files that `save_weights` of this model wrote."
        ):
            load_weights(model, path)
        loaded.append(model.get_weights())
    model.set_weights(
        [
            of_files[-1]
            if np.issubdtype(of_files[-1].dtype, np.integer)
            else sum(of_files) / len(paths)
            for of_files in zip(*loaded, strict=True)
        ]
    )


def start_from(model: keras.Model, source: keras.Model) -> bool:
    """Copies the weights of another model, for fine-tuning.

    The state of the optimizer is also copied if both models are compiled with
    the same class of optimizer and the learning rate of `model` is constant. It
    is not copied with a schedule, which must count its steps from 0. The
    learning rate of `model` is not changed.

    Args:
        model: A built `keras.Model`. To set the optimizer, it must be compiled.
        source: A `keras.Model` with weights of the same shapes, such as
            `keras.saving.load_model` returns.

    Returns:
        Boolean, whether the state of the optimizer was copied.

    Raises:
        ValueError: when the weights have other shapes.

    Example:

    >>> def build():
    ...     layers = [keras.Input((1,)), keras.layers.Dense(1)]
    ...     model = keras.Sequential(layers)
    ...     model.compile("adam", "mse")
    ...     return model
    >>> model, source = build(), build()
    >>> history = source.fit(np.ones((4, 1)), np.ones((4, 1)), verbose=0)
    >>> start_from(model, source)
    True
    """
    model.set_weights(source.get_weights())
    own, other = (getattr(x, "optimizer", None) for x in (model, source))
    if own is None or other is None or type(own) is not type(other):
        return False
    rate = constant_rate(own)
    if rate is None or not other.built:
        return False
    own.build(model.trainable_variables)
    shapes = [[tuple(x.shape) for x in of.variables] for of in (own, other)]
    if shapes[0] != shapes[1]:
        return False
    for variable, value in zip(own.variables, other.variables, strict=True):
        variable.assign(value)
    own.learning_rate = rate
    return True
