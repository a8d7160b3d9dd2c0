"""Converts an exported model to ONNX: a file for each signature on numbers.

    kerasrnn-onnx saved_models/nmt_hindi/1 onnx

Each file is compared with the SavedModel before it is left.
"""

import argparse
import importlib
import pathlib

import tensorflow as tf

from kerasrnn.files import atomic_folder
from kerasrnn.optional import needs
from kerasrnn.serving.exported import ExportedModel
from kerasrnn.serving.onnx.check import TOLERANCE
from kerasrnn.serving.onnx.check import largest_difference
from kerasrnn.serving.onnx.conversion import converted
from kerasrnn.typing import PathLike
from kerasrnn.typing import Strings


def export_onnx(model: PathLike, output: PathLike) -> dict[str, str]:
    """Converts each signature that takes no strings to an ONNX model.

    The models run in onnxruntime alone. Batch size and length are free, but
    not 0. Their inputs and outputs have the names of the signature's; only
    outputs that go by the name of an input, such as `state_0`, are called
    `next_state_0`. Checks of inputs are not converted: an id outside the
    vocabulary gives an error, or a wrong answer.

    A file is left only if onnxruntime gives the answers of the SavedModel, to
    1e-4, on random inputs of several sizes.

    Args:
        model: Folder of a version, `NAME/VERSION`.
        output: Folder to write, `SIGNATURE.onnx` for each. It must be new, and
            is there once it is complete.

    Returns:
        Dictionary from the names of all signatures to what became of each, in
        words: size and largest difference, or why it was left out.

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
            f"saved_models/nmt_hindi/1. Received: '{model}', which holds no "
            "saved_model.pb."
        )
    if output.exists():
        raise FileExistsError(
            f"`output` must be a new folder. Received: '{output}'."
        )
    for module in ("onnx", "onnxruntime", "tf2onnx"):
        with needs(module, "onnx"):
            importlib.import_module(module)
    with atomic_folder(output) as partial:
        loaded = ExportedModel(model)
        outcomes = {
            name: _convert(signature, partial)
            for name, signature in sorted(loaded.signatures.items())
        }
        if not any(partial.iterdir()):
            raise ValueError(
                "`model` must have a signature that can be converted. "
                f"Received: {outcomes}."
            )
    return outcomes


def _convert(signature, folder):
    """Writes a signature to a folder, and returns the result in words."""
    if any(spec.dtype == tf.string for spec in signature.inputs.values()):
        return "left out: it takes strings"
    try:
        found = converted(signature)
        difference = largest_difference(found, signature)
    # Those of tf2onnx and onnxruntime have no class in common.
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
    try:
        outcomes = export_onnx(**vars(parser.parse_args(args)))
    except (ImportError, OSError, ValueError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    for name, outcome in outcomes.items():
        print(f"{name}: {outcome}")


if __name__ == "__main__":
    main()
