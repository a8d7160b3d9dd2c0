"""Converts an exported model to ONNX: a file for each numeric signature.

    kerasrnn-onnx saved_models/nmt_hindi/1 onnx

Each file is compared with the SavedModel.
"""

import argparse
import importlib
import itertools
import pathlib
import tempfile

import numpy as np
import tensorflow as tf

from kerasrnn.files import atomic_folder
from kerasrnn.optional import needs
from kerasrnn.serving.exported import ExportedModel
from kerasrnn.serving.onnx.conversion import NEXT
from kerasrnn.serving.onnx.conversion import converted
from kerasrnn.serving.onnx.conversion import write_with_ifs
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings

TOLERANCE = 1e-4
SIZES = [(3, 5), (1, 1), (1, 9), (2, 4), (8, 16)]  # rows and steps
MOST_IDS = 2**17


def largest_difference(model, signature):
    """Compares onnxruntime and the SavedModel on random inputs.

    Ids come from the largest range that the SavedModel accepts, up to a power
    of two, padded on the right if it accepts that. Masks are those of rows of
    several lengths. Numbers are of any size, or 0 and 1 if it accepts no
    others.

    Args:
        model: Bytes of an ONNX model.
        signature: The `kerasrnn.serving.Signature`.

    Returns:
        The largest difference of two numbers, divided by the absolute value of
        the number if that is above 1; infinity if shapes, strings or integers
        differ.

    Raises:
        Exception: when onnxruntime cannot load or run the model.
        ValueError: when the SavedModel accepts no random inputs.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # Errors are also raised.
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
    """Returns the difference of two arrays; see `largest_difference`."""
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
    """Draws random inputs of a signature.

    Args:
        signature: The `kerasrnn.serving.Signature`.
        random: A `np.random.Generator`.
        rows, steps: Integers, for an unknown first size and for other unknown
            sizes.
        most: Exclusive upper bound of the integers, one of which is `most - 1`.
        padded: Boolean, whether rows of integers `(rows, steps)` are padded
            with -1.
        binary: Boolean, whether numbers are 0 or 1, as in piano rolls.

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
    """Returns arguments of `random_inputs` that the SavedModel accepts."""
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


def export_onnx(model: PathLike, output: PathLike) -> dict[str, str]:
    """Converts each signature without string inputs to an ONNX model.

    The models need only onnxruntime. Batch size and length are free, but not 0.
    Inputs and outputs are named as in the signature, except that an output with
    the name of an input, such as `state_0`, is called `next_state_0`. Checks of
    inputs are not converted: an id outside the vocabulary gives an error or a
    wrong answer.

    A file is kept only if the results of onnxruntime and the SavedModel agree
    up to 1e-4 on random inputs of several sizes.

    Args:
        model: Folder of a version, `NAME/VERSION`.
        output: Folder for the files `SIGNATURE.onnx`. It must not exist, and is
            created when all files are complete.

    Returns:
        Dictionary from the name of each signature to the outcome in words: size
        and largest difference, or why it was left out.

    Raises:
        FileExistsError: when `output` exists.
        FileNotFoundError: when `model` is not a SavedModel.
        ImportError: when the extra `onnx` is not installed.
        ValueError: when no signature can be converted.

    Example:

    >>> folder = export_small_model("saved_models/shout")
    >>> outcomes = export_onnx(folder / "1", "onnx")
    >>> outcomes["serving_default"]
    'left out: it takes strings'
    >>> [path.name for path in pathlib.Path("onnx").iterdir()]
    ['square.onnx']
    """
    model, output = pathlib.Path(model), pathlib.Path(output)
    if not (model / "saved_model.pb").exists():
        raise FileNotFoundError(
            "`model` must be a version of an exported model, such as "
            f"saved_models/nmt_hindi/1. Received: '{model}', which contains no "
            "saved_model.pb."
        )
    if output.exists():
        raise FileExistsError(
            f"`output` must be a new folder. Received: '{output}'."
        )
    for module in ("onnx", "onnxruntime", "tf2onnx"):
        with needs(module, "onnx"):
            importlib.import_module(module)
    with (
        atomic_folder(output) as partial,
        tempfile.TemporaryDirectory() as folder,
    ):
        copy = pathlib.Path(folder, "model")
        write_with_ifs(model, copy)
        loaded, to_convert = ExportedModel(model), ExportedModel(copy)
        outcomes = {
            name: _convert(signature, to_convert.signatures[name], partial)
            for name, signature in sorted(loaded.signatures.items())
        }
        if not any(partial.iterdir()):
            raise ValueError(
                "`model` must have a signature that can be converted. "
                f"Received: {outcomes}."
            )
    return outcomes


def _convert(signature, to_convert, folder):
    """Writes a signature to a folder and returns the outcome in words."""
    if any(spec.dtype == tf.string for spec in signature.inputs.values()):
        return "left out: it takes strings"
    try:
        found = converted(to_convert)
        difference = largest_difference(found, signature)
    # The errors of tf2onnx and onnxruntime have no common class.
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        return f"left out: it cannot be converted ({reason})"
    if not difference <= TOLERANCE:
        return (
            f"left out: it differs from the SavedModel by {difference:.1e}, "
            f"more than {TOLERANCE:.0e}"
        )
    (folder / f"{signature.name}.onnx").write_bytes(found)
    return (
        f"{len(found) / 1e6:.1f} MB, differs from the SavedModel by at most "
        f"{difference:.1e}"
    )


def main(args: Strings | None = None) -> None:
    """Runs the command line.

    Args:
        args: List of strings; `None` for the arguments of the process.
    """
    parser = argparse.ArgumentParser(
        prog="kerasrnn-onnx",
        description="Converts the signatures of an exported model to ONNX.",
        allow_abbrev=False,
    )
    parser.add_argument("model", help="such as saved_models/nmt_hindi/1")
    parser.add_argument("output", metavar="OUT", help="new folder to write")
    outcomes = export_onnx(**vars(parser.parse_args(args)))
    for name, outcome in outcomes.items():
        print(f"{name}: {outcome}")


if __name__ == "__main__":
    main()
