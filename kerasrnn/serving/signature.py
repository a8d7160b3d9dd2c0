"""Functions of a SavedModel that check their inputs."""

import functools
import re
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf


class Signature:
    """A function of a SavedModel that checks its inputs.

    TensorFlow itself silently accepts an array with an additional axis.

    Args:
        name: Its name, such as `"attend"`.
        function: The loaded concrete function.

    Attributes:
        function: The loaded concrete function.
        inputs: Dictionary of name to `tf.TensorSpec`.
        outputs: The same for the outputs, in alphabetical order.

    Example:

    >>> folder = ModelFolder(export_small_model("saved_models/shout"))
    >>> shout = folder.load().signatures["serving_default"]
    >>> str(shout)
    'serving_default(text: string[?]) -> loud: string[?]'
    >>> shout(text=["come in"])
    {'loud': array(['COME IN'], dtype=object)}
    """

    def __init__(self, name: str, function: Any):
        self.name = name
        self.function = function
        _, inputs = function.structured_input_signature
        self.inputs = dict(sorted(inputs.items()))
        self.outputs = dict(sorted(function.structured_outputs.items()))

    def __call__(self, /, **inputs: Any) -> dict[str, np.ndarray]:
        """Runs the function.

        Args:
            **inputs: Arrays or nested lists, by the names of `inputs`. The
                numbers of a list are converted to the dtype of the input if
                they fit. Arrays must have that dtype. Strings are `str`, or
                `bytes` in UTF-8.

        Returns:
            Dictionary of name to array. Arrays of strings have the dtype
            `object` and contain `str`.

        Raises:
            ValueError: when the inputs do not match `inputs`, or the model
                rejects them, such as an id outside its vocabulary.
        """
        return self.run(self.arrays(inputs))

    def arrays(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Checks and converts inputs.

        Args:
            inputs: Dictionary of name to array or nested list.

        Returns:
            Dictionary of name to array. Arrays of strings contain `bytes`.

        Raises:
            ValueError: when the inputs do not match `inputs`.
        """
        if inputs.keys() != self.inputs.keys():
            raise ValueError(
                f"The inputs must be those of {self}. "
                f"Received: {', '.join(inputs) or 'none'}."
            )
        return {
            name: _checked(inputs[name], spec)
            for name, spec in self.inputs.items()
        }

    def run(self, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Runs the function on the result of `arrays`.

        Args:
            arrays: Dictionary of name to array.

        Returns:
            The outputs, as in a call.

        Raises:
            ValueError: when the model rejects the inputs.
        """
        tensors = {
            name: tf.constant(array, self.inputs[name].dtype)
            for name, array in arrays.items()
        }
        try:
            outputs = self.function(**tensors)
        except tf.errors.InvalidArgumentError as error:
            raise ValueError(
                f"`{self.name}` cannot take these inputs: {reason(error)}"
            ) from error
        return {name: _from_tensor(outputs[name]) for name in self.outputs}

    @functools.cached_property
    def by_row(self) -> bool:
        """Whether rows are processed independently.

        This is assumed if inputs are rows of one value, and only the first size
        of the outputs is unknown.
        """
        return all(
            spec.shape.rank == 1 for spec in self.inputs.values()
        ) and all(
            spec.shape.rank
            and spec.shape[0] is None
            and spec.shape[1:].is_fully_defined()
            for spec in self.outputs.values()
        )

    def __str__(self) -> str:
        """Returns names, dtypes and shapes on one line."""
        return f"{self.name}({_line(self.inputs)}) -> {_line(self.outputs)}"


def signature_named(
    name: Any, signatures: Mapping[str, Signature]
) -> Signature:
    """Returns a signature by the name in a request.

    Args:
        name: The name; `None` or `""` for `"serving_default"`.
        signatures: Dictionary from names to a `Signature` each.

    Returns:
        The `Signature`.

    Raises:
        ValueError: when the name is unknown.
    """
    name = "serving_default" if name in (None, "") else name
    if not isinstance(name, str) or name not in signatures:
        raise ValueError(
            f"The signature must be one of {sorted(signatures)}. "
            f"Received: {name!r}."
        )
    return signatures[name]


def in_halves(
    function: Callable[[Sequence[Any]], list[Any]],
    items: Sequence[Any],
    errors: type[Exception],
) -> list[Any]:
    """Calls a function of many items, with fewer of them if it fails.

    Args:
        function: Function of a list of items that returns a result for each.
        items: The list, which is not empty.
        errors: The class of errors to expect.

    Returns:
        A list with the result for each item, or the error that it raises alone.

    Example:

    >>> in_halves(lambda texts: [int(x) for x in texts], "3a1", ValueError)
    [3, ValueError("invalid literal for int() with base 10: 'a'"), 1]
    """
    try:
        return function(items)
    except errors as error:
        if len(items) == 1:
            return [error]
    half = len(items) // 2
    return [
        *in_halves(function, items[:half], errors),
        *in_halves(function, items[half:], errors),
    ]


def _line(specs):
    return ", ".join(f"{name}: {_kind(spec)}" for name, spec in specs.items())


def _kind(spec):
    """Returns `string[?]`, `int32[?, 100]`, or `float32` for a scalar."""
    if spec.shape.rank is None:
        return f"{spec.dtype.name}[...]"
    sizes = ["?" if size is None else str(size) for size in spec.shape]
    return spec.dtype.name + (f"[{', '.join(sizes)}]" if sizes else "")


def sizes(spec: tf.TensorSpec) -> list[int]:
    """Returns the sizes of a tensor, with -1 for unknown ones.

    Args:
        spec: The `tf.TensorSpec`. If even its rank is unknown, it has one size.
    """
    shape = [None] if spec.shape.rank is None else spec.shape
    return [-1 if size is None else size for size in shape]


def as_array(value: Any, dtype: tf.DType) -> np.ndarray:
    """Converts an array or a nested list to the dtype of an input.

    Args:
        value: Array, nested list or scalar. The numbers of a list must fit the
            dtype, and arrays must have it. `None` in a list of floats is NaN.
            Strings are `str`, or `bytes` in UTF-8.
        dtype: The `tf.DType`.

    Returns:
        An array. Arrays of strings have the dtype `object` and contain `bytes`.

    Raises:
        TypeError, ValueError: when the value cannot be converted exactly.
    """
    if dtype == tf.string:
        return _strings(value)
    return _numbers(value, np.dtype(dtype.as_numpy_dtype))


def _checked(value, spec):
    """Converts a value to the expected array."""
    try:
        array = as_array(value, spec.dtype)
        if not spec.shape.is_compatible_with(array.shape):
            raise ValueError(f"the shape {array.shape}")
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"The input `{spec.name}` must be {_kind(spec)}. Received: {error}."
        ) from error
    return array


def _strings(value):
    array = np.array(value, dtype=object)
    leaves = [
        # Half of a surrogate pair cannot be encoded.
        leaf.encode() if isinstance(leaf, str) else leaf
        for leaf in array.ravel().tolist()
    ]
    for leaf in leaves:
        if isinstance(leaf, list):
            raise TypeError('rows of different lengths, not padded with ""')
        if not isinstance(leaf, bytes):
            raise TypeError(f"a value of type `{type(leaf).__name__}`")
        leaf.decode()
    encoded = np.empty(len(leaves), dtype=object)
    encoded[:] = leaves
    return encoded.reshape(array.shape)


def _numbers(value, dtype):
    # If there is one string among a million numbers, NumPy would convert all of
    # them to strings of its length.
    if isinstance(value, list):
        leaves = np.array(value, dtype=object).ravel().tolist()
        for kind in {*map(type, leaves)} & {str, bytes, bool}:
            if kind is not bool or dtype.kind != "b":
                raise TypeError(f"a value of type `{kind.__name__}`")
    array = np.asarray(value)
    if array.dtype == dtype:
        return array
    if array.dtype == object and dtype.kind not in "biu":
        # In JSON, missing numbers are `null`.
        leaves = [np.nan if x is None else x for x in array.ravel().tolist()]
        array = np.array(leaves).reshape(array.shape)
    # NumPy would convert booleans and strings to numbers. Whether integers fit
    # is checked below.
    fits = (
        not isinstance(value, (np.ndarray, np.generic))
        and array.dtype.kind != "b"
        and (
            np.can_cast(array.dtype, dtype, "same_kind")
            or (array.dtype.kind in "iu" and dtype.kind in "iu")
        )
    )
    if array.size and not fits:
        raise TypeError(f"values of the dtype {array.dtype}")
    with np.errstate(over="ignore"):
        converted = array.astype(dtype)
    changed = np.isinf(converted) & ~np.isinf(array)
    if dtype.kind in "iu":
        changed = converted != array
    if changed.any():
        raise ValueError(f"values from {array.min()} to {array.max()}")
    return converted


def _from_tensor(tensor):
    array = tensor.numpy()
    if tensor.dtype != tf.string:
        return np.asarray(array)
    texts = np.empty(tensor.shape, dtype=object)
    texts.flat = [x.decode(errors="replace") for x in np.ravel(array).tolist()]
    return texts


def reason(error: tf.errors.OpError) -> str:
    """Returns the line of TensorFlow's message that says what was wrong.

    Args:
        error: An error of a graph. Its message also has a stack trace.
    """
    noise = "Graph execution", "Detected at node", "<stack traces", "\t", " "
    lines = [
        line.partition(" [Op:")[0]
        for line in error.message.splitlines()
        if line and not line.startswith(noise)
    ]
    line = lines[0] if lines else error.message
    return re.sub(r"^assertion failed: \[(.*?)\]", r"\1", line)
