"""One initializer for several weights."""

import keras


def reseeded(initializer, index):
    """Returns the initializer of one of several weights that share it.

    An initializer draws the same values each time it is called, so two weights
    of one shape would start out equal: each gets a copy with its own seed.

    Args:
        initializer: A Keras initializer, or any function of a shape and a
            dtype, which is taken as it is.
        index: Integer, which of the weights.
    """
    if not isinstance(initializer, keras.initializers.Initializer):
        return initializer
    config = initializer.get_config()
    if isinstance(config.get("seed"), int):
        config["seed"] += index
    return type(initializer).from_config(config)
