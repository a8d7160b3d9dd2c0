"""Models and layers that read ids, also where these come as floats."""

from typing import Any

import keras
from keras import ops

from kerasrnn.typing import Nest

_NO_IDS = "alignment"


class ReadsIds:
    """Models and layers whose first argument is ids, or a dictionary of them.

    Keras casts floats to the `compute_dtype` of a layer. In half precision this
    rounds ids above 256, and a `keras.Input` is of floats unless it is told
    otherwise. So they become integers before.
    """

    def __call__(self, ids: Nest, *args: Any, **kwargs: Any) -> Any:
        if isinstance(ids, dict):
            ids = {
                name: x if name == _NO_IDS else _integers(x)
                for name, x in ids.items()
            }
        else:
            ids = _integers(ids)
        return super().__call__(ids, *args, **kwargs)  # type: ignore[misc]


def _integers(ids):
    dtype = getattr(ids, "dtype", None)
    if dtype is None or not keras.backend.is_float_dtype(
        keras.backend.standardize_dtype(dtype)
    ):
        return ids
    return ops.cast(ids, "int32")
