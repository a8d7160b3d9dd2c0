"""What the annotations of public signatures stand for."""

import os
from collections.abc import Callable
from collections.abc import Sequence
from typing import Any
from typing import TypedDict

import keras

Tensor = Any
"""A tensor of the backend, a `keras.KerasTensor`, or an array."""

States = list[Tensor]
"""The states of a recurrent cell, in the order of its `state_size`."""

Nest = Any
"""Tensors in lists, tuples and dictionaries, or a tensor alone."""

Shape = tuple[Any, ...]
"""The shape of a tensor, `None` where a dimension is not known."""

Config = dict[str, Any]
"""What `get_config` returns and `from_config` takes."""

Activation = str | Callable[[Tensor], Tensor] | None
"""What `keras.activations.get` takes."""

Initializer = str | Config | keras.initializers.Initializer | None
"""What `keras.initializers.get` takes."""

Regularizer = str | Config | keras.regularizers.Regularizer | None
"""What `keras.regularizers.get` takes."""

Constraint = str | Config | keras.constraints.Constraint | None
"""What `keras.constraints.get` takes."""

DType = str | keras.DTypePolicy | None
"""What a layer takes as `dtype`."""

PathLike = str | os.PathLike[str]
"""The path of a file or folder."""

Batches = Any
"""A `tf.data.Dataset` or a `keras.utils.PyDataset`."""

History = dict[str, list[float]]
"""The log of a training: for every logged name, one number an epoch."""

Pairs = Sequence[tuple[str, str]]
"""Sentences and their translations, `(source, target)`."""

Strings = Sequence[str]
"""Texts. A single string is refused where it would be read as its letters."""

Rolls = Sequence[Any]
"""Piano rolls: arrays of shape `(time, keys)`, 1 where a key sounds."""


class LayerOptions(TypedDict, total=False):
    """The arguments of every Keras layer."""

    name: str | None
    """Name of the layer, unique in a model."""
    dtype: Any
    """Dtype, or dtype policy such as `"mixed_bfloat16"`."""
    trainable: bool
    """Whether training changes the weights."""
    activity_regularizer: Any
    """Regularizer of the output."""
