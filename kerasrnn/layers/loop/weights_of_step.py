"""The weights that a step reads, replaced by tensors."""

import keras

from kerasrnn.layers.precision import wide


class WeightsOfStep(keras.StatelessScope):
    """A scope in which variables have given values, in float32 or wider.

    A loop with a gradient of its own must get every weight as an argument. In
    this scope a step reads its variables as ever, and gets these arguments.

    Args:
        values: List of pairs of a variable and its value in the scope. Other
            variables keep their values.
        may_draw: Whether a random generator may be used, which counts in a
            variable.

    Attributes:
        read: List of the other variables that were read.
    """

    def __init__(self, values=(), may_draw=False):
        super().__init__(initialize_variables=False)
        self.may_draw = may_draw
        self.state_mapping = {id(variable): x for variable, x in values}
        self.read = []
        self._looks_outside = False

    def get_current_value(self, variable):
        value = self.state_mapping.get(id(variable))
        if value is not None:
            return value
        is_float = keras.backend.is_float_dtype(variable.dtype)
        if self._looks_outside or not is_float:
            outer = self.original_scope
            return None if outer is None else outer.get_current_value(variable)
        self._looks_outside = True
        value = wide(variable.value)
        self._looks_outside = False
        self.read.append(variable)
        self.state_mapping[id(variable)] = value
        return value

    def add_update(self, update):
        variable, value = update
        if not self.may_draw:
            raise ValueError(
                "A step cannot change a variable, such as the state of a "
                "random generator: draw noise in `given`, for all steps. "
                f"Received: an update of {variable.path!r}"
            )
        self.__exit__()
        variable.assign(value)
        self.__enter__()
