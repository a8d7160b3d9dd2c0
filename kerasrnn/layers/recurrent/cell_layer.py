"""The base of layers that create their cell, such as `RHN`."""

from typing import Any
from typing import Self

import keras

from kerasrnn.layers.recurrent.fast_rnn import FastRNN
from kerasrnn.saving import constructor_parameters
from kerasrnn.typing import Config


class CellLayer(FastRNN):
    """Base class of layers that create their cell, as `keras.layers.LSTM`.

    A subclass sets `cell_class`. Its constructor names the arguments of that
    cell and those of `FastRNN`, each of which is an attribute, and calls
    `super().__init__(locals())`.

    Args:
        arguments: The local variables of the constructor of the subclass, so
            that none of its arguments is forgotten.
    """

    cell_class: type[keras.layers.Layer]

    def __init__(self, arguments: dict[str, Any]) -> None:
        arguments = {**arguments, **arguments["kwargs"]}
        for name in ("self", "kwargs", "__class__"):
            arguments.pop(name, None)
        of_cell = {
            name: arguments.pop(name)
            for name in constructor_parameters(self.cell_class)
            if name in arguments
        }
        cell = self.cell_class(**of_cell, dtype=arguments.get("dtype"))
        super().__init__(cell, **arguments)
        # Refused before a cell is built with the width of another axis.
        self.input_spec = keras.layers.InputSpec(ndim=3)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        for name in constructor_parameters(cls.cell_class):
            if not hasattr(cls, name):
                setattr(cls, name, _argument_of_the_cell(name))

    def get_config(self) -> Config:
        config = super().get_config()
        del config["cell"]
        return {**self.cell.get_config(), **config}

    @classmethod
    def from_config(
        cls, config: Config, custom_objects: dict[str, Any] | None = None
    ) -> Self:
        return cls(**config)


def _argument_of_the_cell(name):
    def get(self) -> Any:
        return getattr(self.cell, name)

    return property(get, doc=f"The argument `{name}` of the cell.")
