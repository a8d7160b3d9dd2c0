"""Cells as others write them: Keras promises no more than this."""

import keras
from keras import ops

from kerasrnn.layers import RHNCell


@keras.saving.register_keras_serializable("tests")
class ProjectedCell(keras.layers.Layer):
    """Its output is a projection of its state, and of another width."""

    def __init__(self, units, projection_units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.projection_units = projection_units
        self.state_size = units
        self.output_size = projection_units

    def build(self, input_shape):
        width = input_shape[-1] + self.units
        self.kernel = self.add_weight(shape=(width, self.units), name="kernel")
        self.projection = self.add_weight(
            shape=(self.units, self.projection_units), name="projection"
        )

    def call(self, inputs, states):
        joined = ops.concatenate([inputs, states[0]], axis=-1)
        state = ops.tanh(ops.matmul(joined, self.kernel))
        return ops.matmul(state, self.projection), [state]

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "projection_units": self.projection_units,
        }


@keras.saving.register_keras_serializable("tests")
class MinimalRNNCell(keras.layers.Layer):
    """The cell in the documentation of `keras.layers.RNN`."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.state_size = units

    def build(self, input_shape):
        self.kernel = self.add_weight(
            shape=(input_shape[-1], self.units), name="kernel"
        )
        self.recurrent_kernel = self.add_weight(
            shape=(self.units, self.units), name="recurrent_kernel"
        )

    def call(self, inputs, states):
        h = ops.matmul(inputs, self.kernel)
        output = h + ops.matmul(states[0], self.recurrent_kernel)
        return output, [output]


@keras.saving.register_keras_serializable("tests")
class ResidualCells(keras.layers.StackedRNNCells):
    """A stack that adds its input to its output."""

    def call(self, inputs, states, training=False, **kwargs):
        outputs, states = super().call(inputs, states, training, **kwargs)
        return inputs + outputs, states


@keras.saving.register_keras_serializable("tests")
class DoubledRHNCell(RHNCell):
    """A subclass of a cell that runs at once, with another output."""

    def call(self, inputs, states, training=False):
        output, states = super().call(inputs, states, training)
        return 2 * output, states


def own_cells(units):
    """Such cells, with outputs of a width, for inputs of that width."""
    return {
        "minimal": lambda: MinimalRNNCell(units),
        "projected": lambda: ProjectedCell(units + 1, units),
        "residual": lambda: ResidualCells([RHNCell(units), RHNCell(units)]),
        "subclass": lambda: DoubledRHNCell(units, 2),
    }
