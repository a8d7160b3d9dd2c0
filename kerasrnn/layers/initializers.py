"""Initializers that draw different numbers, and that of a forget gate."""

import hashlib

import keras
from keras import ops


def derived_seed(seed, *path):
    """Returns a seed that depends on another one and on a path.

    Seeds that are sums, of a layer's and of a weight's number, say, would
    soon be equal.

    Args:
        seed: Integer, or anything else, which is returned unchanged.
        *path: Names and numbers that tell apart what shares the seed.
    """
    if not isinstance(seed, int) or isinstance(seed, bool):
        return seed
    digest = hashlib.sha256(repr((seed, *path)).encode()).digest()
    return int.from_bytes(digest[:4], "little") >> 1


def reseeded(initializer, *path):
    """Returns a copy of an initializer, for one of the weights that share it.

    An initializer draws the same values each time it is called, so two weights
    of one shape would start out equal: each gets a copy with its own seed.

    Args:
        initializer: A Keras initializer, or any function of a shape and a
            dtype, which is returned unchanged.
        *path: What tells the weight apart from the others, such as its name.
    """
    if not isinstance(initializer, keras.initializers.Initializer):
        return initializer
    config = initializer.get_config()
    if "seed" in config:
        config["seed"] = derived_seed(config["seed"], *path)
    return type(initializer).from_config(config)


def by_heads(initializer):
    """Returns an initializer of block-diagonal kernels, block by block.

    Args:
        initializer: Initializer of a matrix `(dim, width)`.
    """

    def initialize(shape, dtype=None):
        heads, dim, gates, units = shape
        blocks = [
            reseeded(initializer, head)((dim, gates * units), dtype=dtype)
            for head in range(heads)
        ]
        return ops.reshape(ops.stack(blocks), shape)

    return initialize


def with_forget_bias(initializer, units):
    """Returns an initializer of biases that are 1 for the second of the gates.

    That is the forget gate of an LSTM (Jozefowicz et al. 2015).

    Args:
        initializer: Initializer of the other biases.
        units: Integer, how many biases a gate has.
    """

    def initialize(shape, dtype=None):
        bias = initializer(shape, dtype=dtype)
        i, f, *others = ops.split(bias, shape[0] // units)
        return ops.concatenate([i, ops.ones_like(f), *others])

    return initialize
