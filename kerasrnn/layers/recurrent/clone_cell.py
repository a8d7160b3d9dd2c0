"""Copies of recurrent cells, for the layers of a model."""

import keras

from kerasrnn.layers.initializers import derived_seed
from kerasrnn.layers.loop.cells import output_size
from kerasrnn.layers.loop.cells import state_sizes
from kerasrnn.saving import template

# How Keras serializes arrays, whose dtype is not that of a layer.
_ARRAYS = "__numpy__", "__tensor__"


def clone_cell(cell, *path, dtype=None):
    """Returns a new cell with the configuration of `cell` and no weights.

    Args:
        cell: The cell to copy.
        *path: What tells the copies in one model apart, such as the number of
            a layer. Its seeds, such as those of initializers, depend on it, so
            that the copies draw different numbers.
        dtype: Dtype policy of the copy and of the cells inside it, or its
            name; `None` for that of `cell`.

    Raises:
        ValueError: when the new cell has other widths.
    """
    config = _reseeded(template(cell), path)
    if dtype is not None:
        policy = keras.dtype_policies.get(dtype)
        config = _of_policy(config, keras.dtype_policies.serialize(policy))
    copy = type(cell).from_config(config)
    widths, expected = ((output_size(x), state_sizes(x)) for x in (copy, cell))
    if widths != expected:
        raise ValueError(
            f"`{type(cell).__name__}.get_config` must hold every argument of "
            "the constructor: a cell made from it has other widths. Expected: "
            f"output_size and state_size {expected}. Received: {widths}"
        )
    return copy


def _reseeded(config, path):
    """Returns a configuration with other seeds."""
    if isinstance(config, dict):
        return {
            name: derived_seed(value, *path)
            if name == "seed"
            else _reseeded(value, (*path, name))
            for name, value in config.items()
        }
    if isinstance(config, list):
        return [
            _reseeded(value, (*path, index))
            for index, value in enumerate(config)
        ]
    return config


def _of_policy(config, policy):
    """Returns a configuration with another dtype policy."""
    if isinstance(config, dict) and config.get("class_name") not in _ARRAYS:
        return {
            name: policy if name == "dtype" else _of_policy(value, policy)
            for name, value in config.items()
        }
    if isinstance(config, list):
        return [_of_policy(value, policy) for value in config]
    return config
