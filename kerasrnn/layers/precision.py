"""The dtype of sums and states: float32 or wider, even in half precision."""

import keras
from keras import ops


def wide_dtype(dtype):
    """Returns float32, or the dtype if it is wider."""
    return keras.backend.result_type(dtype, "float32")


def wide(x):
    """Casts to float32, unless the dtype is wider already."""
    return ops.cast(x, keras.backend.result_type(x.dtype, "float32"))


def is_float(x):
    """Whether a tensor has a floating-point dtype."""
    return keras.backend.is_float_dtype(
        keras.backend.standardize_dtype(x.dtype)
    )
