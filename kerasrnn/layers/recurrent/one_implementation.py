"""Arguments of Keras's cells and layers that choose an implementation."""


def check_arguments(layer, arguments):
    """Raises `ValueError` if arguments choose an implementation.

    Args:
        layer: A cell or layer, which has only one.
        arguments: Dictionary of those that it was given.
    """
    for name in ("implementation", "use_cudnn"):
        if name in arguments:
            raise ValueError(
                f"{type(layer).__name__} has one implementation, on all "
                f"devices. Expected: no `{name}`. "
                f"Received: {name}={arguments[name]!r}"
            )
