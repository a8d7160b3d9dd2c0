"""Protocol v2, the Open Inference Protocol: tensors by name and dtype.

The parameter `signature` of a request chooses the signature. Tensors are in
JSON, or in binary after the JSON, in the same order. `BYTES` have four bytes of
length before each string. Other tensors are stored as in memory.
"""

import functools
import io
import uuid
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from kerasrnn.serving.exported import ExportedModel
from kerasrnn.serving.http.json_arrays import in_json
from kerasrnn.serving.http.json_arrays import listed
from kerasrnn.serving.http.json_arrays import parsed
from kerasrnn.serving.signature import Signature
from kerasrnn.serving.signature import as_array
from kerasrnn.serving.signature import signature_named
from kerasrnn.serving.signature import sizes
from kerasrnn_commands.messages import Answer
from kerasrnn_commands.messages import Request

_LENGTH_BYTES = 4


def receive_v2(
    request: Request, model: ExportedModel
) -> tuple[Signature, dict[str, Any], Callable[..., Answer]]:
    """Reads a request, in JSON or binary.

    Args:
        request: The `Request`.
        model: The `ExportedModel`.

    Returns:
        The signature to call, its inputs by name, and a function that makes
        the `Answer` of the outputs by name.

    Raises:
        ValueError: when the request is invalid, or its inputs and outputs do
            not match the signature.
    """
    length = request.header_length
    end = len(request.body) if length is None else length
    body = parsed(request.body[:end])
    inputs = _named(body, "inputs")
    parameters = _parameters(body)
    signature = signature_named(parameters.get("signature"), model.signatures)
    wanted = _named(body, "outputs") if "outputs" in body else []
    names = [tensor["name"] for tensor in inputs]
    outputs = [output["name"] for output in wanted]
    if (
        sorted(names) != sorted(signature.inputs)
        or not set(outputs) <= signature.outputs.keys()
    ):
        raise ValueError(
            f"Inputs and outputs must be those of {signature}. Received: "
            f"inputs {names}, outputs {outputs}."
        )
    binary = io.BytesIO(request.body[end:])
    arrays = {
        tensor["name"]: _array(
            tensor, binary, signature.inputs[tensor["name"]].dtype
        )
        for tensor in inputs
    }
    if left := binary.read():
        raise ValueError(
            "The body must end after the binary tensors. Received: "
            f"{len(left)} more bytes."
        )
    number = body.get("id") or str(uuid.uuid4())
    if not isinstance(number, str):
        raise ValueError(f"'id' must be a string. Received: {number!r:.200}.")
    about = {
        "model_name": model.name,
        "model_version": model.version,
        "id": number,
    }
    all_binary = parameters.get("binary_data_output", False)
    are_binary = dict.fromkeys(outputs or signature.outputs, all_binary)
    for output in wanted:
        own = _parameters(output).get("binary_data", all_binary)
        are_binary[output["name"]] = own
    return signature, arrays, functools.partial(_write, about, are_binary)


def describe_v2(signatures: Mapping[str, Signature]) -> dict[str, Any]:
    """Describes signatures in the format of v2's metadata.

    Args:
        signatures: Dictionary from names to a `Signature` each.

    Returns:
        Dictionary from names to `inputs` and `outputs`, each a list of
        dictionaries with `name`, `datatype` and `shape` (-1 for sizes that are
        not fixed).
    """
    return {
        name: {
            "inputs": _specs(signature.inputs),
            "outputs": _specs(signature.outputs),
        }
        for name, signature in signatures.items()
    }


def _specs(specs):
    return [
        {
            "name": name,
            "datatype": _datatype(spec.dtype),
            "shape": sizes(spec),
        }
        for name, spec in specs.items()
    ]


def _datatype(dtype):
    """Returns `"BYTES"` for strings, `"INT32"`, `"FP32"` and so on."""
    if dtype == tf.string:
        return "BYTES"
    return dtype.name.upper().replace("BFLOAT", "BF").replace("FLOAT", "FP")


def _named(body, side):
    """Returns the inputs or outputs of a request, after a check."""
    found = body.get(side) if isinstance(body, dict) else None
    if not isinstance(found, list) or not all(
        isinstance(x, dict) and isinstance(x.get("name"), str) for x in found
    ):
        raise ValueError(
            "The body must be a request of the Open Inference Protocol with a "
            f"list {side!r} of objects with names. Received: {str(body)[:200]}."
        )
    return found


def _parameters(part):
    parameters = part.get("parameters") or {}
    if not isinstance(parameters, dict):
        raise ValueError(
            f"'parameters' must be an object. Received: {parameters!r:.200}."
        )
    return parameters


def _array(tensor, binary, dtype):
    """Returns the data of an input, after checks."""
    try:
        if tensor.get("datatype") != _datatype(dtype):
            raise TypeError(f"the datatype {tensor.get('datatype')}")
        shape = tensor.get("shape")
        if not isinstance(shape, list) or not all(
            type(size) is int and size >= 0 for size in shape
        ):
            raise ValueError(f"the shape {shape}")
        array = as_array(_data(tensor, binary, dtype), dtype)
        if array.ndim > 1 and list(array.shape) != shape:
            raise ValueError(f"data of the shape {list(array.shape)}")
        return array.reshape(shape)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"The input `{tensor['name']}` must be a tensor of "
            f"{_datatype(dtype)}. Received: {str(error)[:200]}."
        ) from error


def _data(tensor, binary, dtype):
    size = _parameters(tensor).get("binary_data_size")
    if size is None:
        return tensor.get("data")
    if type(size) is not int:
        raise TypeError(f"the binary_data_size {size!r}")
    if "data" in tensor:
        raise ValueError("both data and binary_data_size")
    raw = _part(binary, size)
    if dtype != tf.string:
        # To TensorFlow, other bytes are neither true nor false.
        if dtype == tf.bool and raw.strip(b"\0\1"):
            raise ValueError("other bytes than 0 and 1")
        return np.frombuffer(raw, dtype.as_numpy_dtype)
    texts, strings = io.BytesIO(raw), []
    while texts.tell() < size:
        length = int.from_bytes(_part(texts, _LENGTH_BYTES), "little")
        strings.append(_part(texts, length))
    return strings


def _part(binary, size):
    """Reads the next bytes."""
    part = binary.read(size)
    if len(part) != size:
        raise ValueError(f"{len(part)} of {size} bytes")
    return part


def _write(about, are_binary, outputs):
    tensors, parts = [], []
    for name, is_binary in are_binary.items():
        array = outputs[name]
        tensor = {
            "name": name,
            "datatype": _datatype(tf.as_dtype(array.dtype)),
            "shape": list(array.shape),
        }
        if is_binary:
            parts.append(_raw(array))
            tensor["parameters"] = {"binary_data_size": len(parts[-1])}
        else:
            tensor["data"] = listed(array.reshape(-1))
        tensors.append(tensor)
    header = in_json({**about, "outputs": tensors})
    if not parts:
        return Answer(200, header)
    return Answer(200, b"".join([header, *parts]), len(header))


def _raw(array):
    if array.dtype != object:
        return array.tobytes()
    texts = (text.encode() for text in array.ravel().tolist())
    return b"".join(
        len(text).to_bytes(_LENGTH_BYTES, "little") + text for text in texts
    )
