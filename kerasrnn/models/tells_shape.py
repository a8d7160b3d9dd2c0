"""Models and layers that tell the shape of their outputs."""

from typing import Any

import keras


class TellsShape:
    """Base of models and layers with one input, which may be a dictionary.

    `keras.layers.TimeDistributed` asks for the shape of the outputs before it
    calls the layer inside. It is that of what the call would return.
    """

    built: bool
    build: Any

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        # Keras would take it from the shape, which says nothing of dtypes.
        return keras.Operation.compute_output_spec(self, *args, **kwargs)

    def compute_output_shape(self, *shapes: Any, **named_shapes: Any) -> Any:
        """Returns the shape of the outputs, nested as these are.

        Args:
            *shapes: The shape of the input, or a dictionary of shapes.
            **named_shapes: The same, by a name: Keras uses that of `build`.

        Raises:
            NotImplementedError: when there are several inputs.
        """
        shapes = *shapes, *named_shapes.values()
        if len(shapes) != 1:
            return super().compute_output_shape(*shapes)  # type: ignore[misc]
        if not self.built:
            self.build(*shapes)
        inputs = keras.tree.map_shape_structure(keras.KerasTensor, shapes[0])
        outputs = self.compute_output_spec(inputs)
        return keras.tree.map_structure(lambda x: x.shape, outputs)
