"""Whether an ONNX model answers as the signature that it was made from."""

import itertools

import numpy as np
import tensorflow as tf

from kerasrnn.serving.onnx.conversion import NEXT

TOLERANCE = 1e-4
SIZES = [(3, 5), (1, 1), (1, 9), (2, 4), (8, 16)]  # rows and steps
MOST_IDS = 2**17


def largest_difference(model, signature):
    """Compares random answers of onnxruntime and of the SavedModel.

    Ids are the largest range that the SavedModel takes, up to a power of two,
    padded at the end if it takes that; masks are of rows of several lengths;
    numbers are of any size, or 0 and 1 if it takes no others.

    Args:
        model: Bytes of an ONNX model.
        signature: The `kerasrnn.serving.Signature`.

    Returns:
        The largest difference of two numbers, divided by the size of the
        number if that is above 1. It is infinite if shapes, strings or
        integers differ.

    Raises:
        Exception: when onnxruntime cannot load or run the model.
        ValueError: when the SavedModel takes no random input.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # Errors are raised as well.
    session = onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    random = np.random.default_rng(0)
    accepted = _accepted(signature, random)
    worst = 0.0
    for sizes in SIZES:
        inputs = random_inputs(signature, random, *sizes, *accepted)
        expected = signature(**inputs)
        found = dict(zip(names, session.run(names, inputs), strict=True))
        for name, value in expected.items():
            name = NEXT + name if name in inputs else name
            worst = max(worst, difference(found[name], value))
    return worst


def difference(found, expected):
    """The largest difference of two arrays, as in `largest_difference`."""
    if expected.dtype.kind != "f":
        return 0.0 if np.array_equal(found, expected) else np.inf
    if found.shape != expected.shape:
        return np.inf
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        gap = np.abs(found - expected) / np.maximum(1.0, np.abs(expected))
    gap = np.where(same, 0.0, gap)
    return float(np.where(np.isnan(gap), np.inf, gap).max(initial=0.0))


def random_inputs(signature, random, rows, steps, most, padded, binary):
    """Draws inputs of a signature.

    Args:
        signature: The `kerasrnn.serving.Signature`.
        random: A `np.random.Generator`.
        rows, steps: Integers, for the unknown first size and for others.
        most: Exclusive upper bound of the integers; one of them is `most - 1`.
        padded: Boolean, whether integers of shape `(rows, steps)` are followed
            by -1 at the end of a row.
        binary: Boolean, whether numbers are 0 and 1, as in piano rolls.

    Returns:
        Dictionary from names to arrays.
    """
    real = np.arange(steps) < random.integers(1, steps + 1, (rows, 1))
    inputs = {}
    for name, spec in signature.inputs.items():
        shape = [
            size or (steps if axis else rows)
            for axis, size in enumerate(spec.shape)
        ]
        dtype = spec.dtype.as_numpy_dtype
        if spec.dtype == tf.bool:
            value = np.broadcast_to(real, shape) if shape else True
        elif spec.dtype.is_integer:
            value = random.integers(0, most, shape)
            value.flat[0] = most - 1
            if padded and value.shape == real.shape:
                value[~real] = -1
        elif binary:
            value = random.integers(0, 2, shape)
        else:
            value = random.standard_normal(shape)
        inputs[name] = np.asarray(value, dtype)
    return inputs


def _accepted(signature, random):
    """The last arguments of `random_inputs` that the SavedModel takes."""
    powers = [MOST_IDS >> i for i in range(MOST_IDS.bit_length())]
    for binary, padded, most in itertools.product(
        (False, True), (True, False), powers
    ):
        drawn = random_inputs(
            signature, random, *SIZES[0], most, padded, binary
        )
        try:
            signature(**drawn)
            return most, padded, binary
        except ValueError as error:
            refused = error
    raise refused
