"""Arrays to and from JSON, without intermediate lists of numbers."""

import contextlib
import json
from typing import Any

import numpy as np
import orjson


def parsed(body: bytes, literals: bool = False) -> Any:
    """Reads JSON.

    Args:
        body: The JSON.
        literals: Whether to accept `NaN`, `Infinity` and `-Infinity`, as Python
            and TensorFlow Serving do.

    Raises:
        ValueError: when it is not JSON.

    Example:

    >>> parsed(b'{"past": [1.5, NaN]}', literals=True)
    {'past': [1.5, nan]}
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        advice = ""
        if b"NaN" in body or b"Infinity" in body:
            if literals:
                with contextlib.suppress(ValueError, RecursionError):
                    return json.loads(body.decode())
            else:
                advice = "; use `null` for missing numbers"
        raise ValueError(f"The body is not JSON: {error}{advice}.") from error


def listed(array: np.ndarray) -> Any:
    """Converts an array for `in_json`.

    JSON has no infinities, so they become the largest and smallest number of
    the dtype. NaN becomes `null`.

    Args:
        array: Array of numbers, or of strings with the dtype `object`.
    """
    if array.dtype == object:
        return array.tolist()
    if array.dtype.name == "bfloat16":
        array = array.astype("float32")  # not supported by orjson
    if array.dtype.kind == "f":
        array = np.nan_to_num(array, nan=np.nan)
    return np.ascontiguousarray(array) if array.ndim else array[()]


def in_json(content: Any) -> bytes:
    """Returns JSON of values that may contain `listed` arrays.

    Args:
        content: Dictionary, list or array.

    Example:

    >>> in_json({"scores": listed(np.array([0.5, -np.inf], "float32"))})
    b'{"scores":[0.5,-3.4028235e+38]}'
    """
    return orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY)
