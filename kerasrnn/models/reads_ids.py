"""Models and layers that read ids, also where these come as floats."""

from typing import Any

import keras
from keras import ops

from kerasrnn.layers.sequence_checks import check_not_ragged
from kerasrnn.models.tells_shape import TellsShape

_NAMES = {"ids", "inputs", "source", "vocabulary"}
_NO_IDS = "alignment"


class ReadsIds(TellsShape):
    """Models and layers whose first argument is ids, or a dictionary of them.

    Keras casts floats to the `compute_dtype` of a layer. In half precision this
    rounds ids above 256, and a `keras.Input` is of floats unless it is told
    otherwise. So they become integers before.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        first = map(_checked, args[:1])
        for name in _NAMES & kwargs.keys():
            kwargs[name] = _checked(kwargs[name])
        return super().__call__(  # type: ignore[misc]
            *first, *args[1:], **kwargs
        )


def _checked(ids):
    """Returns ids as integers; refuses ragged ones."""
    if isinstance(ids, dict):
        return {
            name: x if name == _NO_IDS else _checked(x)
            for name, x in ids.items()
        }
    check_not_ragged(ids)
    dtype = getattr(ids, "dtype", "int32")
    if keras.backend.is_float_dtype(keras.backend.standardize_dtype(dtype)):
        return ops.cast(ids, "int32")
    return ids
