"""Models that are built without the shapes of their inputs."""

from kerasrnn.typing import Config


class BuiltWithoutShapes:
    """Base of models that know all sizes before they see their inputs.

    These may be a dictionary, of which Keras notes the shape of one tensor
    alone. A loaded model would be called on it, and could not be built.
    """

    def build_from_config(self, config: Config) -> None:
        frozen = config.get("frozen")
        super().build_from_config(  # type: ignore[misc]
            {"shapes_dict": {}, "frozen": frozen}
        )
