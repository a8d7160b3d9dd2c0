"""Models that are built without the shapes of their inputs."""

from kerasrnn.typing import Config


class BuiltWithoutShapes:
    """Base of models that know all sizes before they see their inputs.

    Their `build` needs no argument. The inputs may be a dictionary, of which
    Keras notes the shape of one tensor alone. A loaded model would be called on
    it, and could not be built.
    """

    def get_build_config(self) -> Config | None:
        config = super().get_build_config()  # type: ignore[misc]
        return config and _without_shapes(config)

    def build_from_config(self, config: Config) -> None:
        super().build_from_config(  # type: ignore[misc]
            _without_shapes(config)
        )


def _without_shapes(config):
    """A build configuration without the shapes of inputs."""
    shapes = "input_shape", "shapes_dict"
    rest = {k: v for k, v in config.items() if k not in shapes}
    return {"shapes_dict": {}, **rest}


def give_weights(model):
    """Builds a model that knows all sizes, if it is not built yet.

    Args:
        model: A Keras model. Others are left as they are.
    """
    if isinstance(model, BuiltWithoutShapes) and not model.built:
        model.build()
