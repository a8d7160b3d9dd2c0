"""The base of layers that create their cell, such as `RHN`."""

from typing import Any
from typing import Self

import keras

from kerasrnn.configured import constructor_parameters
from kerasrnn.documented import document
from kerasrnn.layers.recurrent.fast_rnn import FastRNN
from kerasrnn.layers.recurrent.one_implementation import check_arguments
from kerasrnn.typing import Config


class CellLayer(FastRNN):
    """Base class of layers that create their cell, as `keras.layers.LSTM`.

    A subclass sets `cell_class`. It takes the arguments of that cell and those
    of `FastRNN`, and shows each of them in its signature, its documentation
    and as an attribute.
    """

    cell_class: type[keras.layers.Layer]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        check_arguments(self, kwargs)
        names = constructor_parameters(self.cell_class)
        own = {name: kwargs.pop(name) for name in names if name in kwargs}
        cell = self.cell_class(*args, **own, dtype=kwargs.get("dtype"))
        super().__init__(cell, **kwargs)
        # Refused before a cell is built with the width of another axis.
        self.input_spec = keras.layers.InputSpec(ndim=3)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        of_cell = constructor_parameters(cls.cell_class)
        for name in of_cell:
            if not hasattr(cls, name):
                setattr(cls, name, _argument_of_the_cell(name))
        of_layer = {
            name: parameter.replace(kind=parameter.KEYWORD_ONLY)
            for name, parameter in constructor_parameters(FastRNN).items()
            if name != "cell"
        }
        document(
            cls,
            of_cell | of_layer,
            cls.cell_class,
            FastRNN,
            sections=("Call arguments", "Returns", "Masking"),
        )

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
