"""Initializers with a seed for each weight, and one for forget gates."""

import hashlib

import keras
from keras import ops


def derived_seed(seed, *path):
    """Returns a seed derived from another one and a path.

    Sums of seeds, such as a layer's number plus a weight's number, would soon
    be equal.

    Args:
        seed: Integer. Anything else is returned unchanged.
        *path: Names and numbers that distinguish the users of the seed.
    """
    if not isinstance(seed, int) or isinstance(seed, bool):
        return seed
    digest = hashlib.sha256(repr((seed, *path)).encode()).digest()
    return int.from_bytes(digest[:4], "little") >> 1


def reseeded(initializer, *path):
    """Returns a copy of an initializer with its own seed, for one weight.

    A seeded initializer draws the same values each time it is called, so two
    weights of the same shape would start out equal.

    Args:
        initializer: A Keras initializer. Any other function of a shape and a
            dtype is returned unchanged.
        *path: What distinguishes the weight from others, such as its name.
    """
    if not isinstance(initializer, keras.initializers.Initializer):
        return initializer
    config = initializer.get_config()
    if "seed" in config:
        config["seed"] = derived_seed(config["seed"], *path)
    return type(initializer).from_config(config)


def by_heads(initializer):
    """Returns an initializer that fills block-diagonal kernels by block.

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
    """Returns an initializer that sets the biases of the second gate to 1.

    The second gate is the forget gate of an LSTM (Jozefowicz et al. 2015).

    Args:
        initializer: Initializer of the other biases.
        units: Integer, number of biases per gate.
    """

    def initialize(shape, dtype=None):
        i, f, *others = ops.split(
            initializer(shape, dtype=dtype), shape[0] // units
        )
        return ops.concatenate([i, ops.ones_like(f), *others])

    return initialize
