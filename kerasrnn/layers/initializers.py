"""Different initial values for weights that share an initializer."""

import keras


def reseeded(initializer, index):
    """Returns a copy of an initializer, for one of the weights that share it.

    An initializer draws the same values each time it is called, so two weights
    of one shape would start out equal: each gets a copy with its own seed.

    Args:
        initializer: A Keras initializer, or any function of a shape and a
            dtype, which is returned unchanged.
        index: Integer, number of the weight; it is added to the seed.
    """
    if not isinstance(initializer, keras.initializers.Initializer):
        return initializer
    config = initializer.get_config()
    if isinstance(config.get("seed"), int):
        config["seed"] += index
    return type(initializer).from_config(config)
